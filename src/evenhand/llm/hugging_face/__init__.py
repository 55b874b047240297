"""Language models of Hugging Face that run in this process."""
