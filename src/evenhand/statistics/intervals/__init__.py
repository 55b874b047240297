"""Intervals: the bootstrap, analytic intervals, their distributions, and what they say about a goal."""
