"""How the work of the people in a study is going: what they did, how far they are, who needs help. No HTTP."""
