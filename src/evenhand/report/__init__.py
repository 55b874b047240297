"""What a study's ratings say: the data first, then its renderings as text, JSON and HTML."""
