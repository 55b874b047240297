"""Protocols: what is rated, in which units, on which scales."""
