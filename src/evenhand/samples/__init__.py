"""Bundled sample studies, one folder for each built-in protocol. All of it is invented; see README.md."""
