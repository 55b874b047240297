"""Files in and out: items and ratings as CSV, TSV, JSON, JSON Lines, XLSX and Parquet."""
