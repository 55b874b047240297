"""Is a claim supported by a text? Knows nothing of studies, protocols or raters: `raters.verifier` uses it for them."""
