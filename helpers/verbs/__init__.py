"""The verbs: each joins what a capture records with a view, and returns an exhibit."""
