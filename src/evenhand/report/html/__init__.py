"""The report as one HTML file that opens offline, prints, and needs no script."""
