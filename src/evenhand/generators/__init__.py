"""The built-in generators."""
