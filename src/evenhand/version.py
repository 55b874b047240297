"""The version, by itself: reading it loads nothing else."""

__version__ = "0.1.0"
