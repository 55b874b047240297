"""Generators: files that define what a model writes, and the writer that asks, reads, checks and asks again."""
