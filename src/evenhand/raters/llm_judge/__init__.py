"""A language model as a rater: the prompt, the schema of the reply, and how the reply is read."""
