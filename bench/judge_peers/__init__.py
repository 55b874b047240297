"""The same judging through other tools; each file is run with the Python of an environment that holds them."""
