"""Files in and out: items and ratings in tables, such as CSV, XLSX and Parquet files; questions and claims in JSON."""
