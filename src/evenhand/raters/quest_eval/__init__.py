"""RAGQuestEval as a rater, and the questions it needs."""
