"""Raters that are programs. People rate through the page or a spreadsheet and leave the same record."""
