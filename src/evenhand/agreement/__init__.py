"""Agreement statistics: arrays in, numbers out. NumPy only; knows nothing else of evenhand."""
