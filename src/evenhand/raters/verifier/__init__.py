"""The verifier as a rater: are the claims of a text supported by its evidence?"""
