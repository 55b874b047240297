"""Where a study lives: one SQLite file, or a PostgreSQL database."""
