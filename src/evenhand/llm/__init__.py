"""Chat with language models, over HTTP or in this process. Knows nothing of protocols, items or ratings."""
