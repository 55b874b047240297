"""Tables: named columns and numbered rows, from any file format or data frame."""
