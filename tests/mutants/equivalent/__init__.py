"""Mutants that do the same as the solution, chapter by chapter, each with the reason."""
