"""Sentences, words and quotations of a text."""
