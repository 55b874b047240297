"""Rating files: read, checked and written."""
