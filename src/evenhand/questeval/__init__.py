"""Questions from a reference text, and their answers from another text, without a language model."""
