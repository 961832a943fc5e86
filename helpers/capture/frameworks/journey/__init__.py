"""One call of a learner's function -> all six seams that it passed, from every capture at once."""
