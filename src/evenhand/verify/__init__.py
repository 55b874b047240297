"""Is a claim supported by a text? Sentences in, a label with its probability and its evidence out.

Knows nothing of studies, protocols or raters: `raters.verifier` puts it to their use.
"""
