"""The report as one HTML file that opens offline, prints, and needs no script."""

from evenhand.report.html.page import GENERATOR, render

__all__ = ["GENERATOR", "render"]
