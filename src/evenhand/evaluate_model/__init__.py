"""The `EvaluateModel` class: one object from a data frame to prompts, a model's ratings and the usual scores."""
