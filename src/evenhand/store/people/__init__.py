"""People: who may rate at the page, what each of them was given, and their trials."""
