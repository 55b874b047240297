"""How the verifier's network is made: data, training, export, evaluation. See README.md here."""
