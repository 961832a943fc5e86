"""A right answer -> wrong ones that differ in one place; and which of them a check lets pass.

`python -m tests.mutants` puts every mutant of every folded solution to its check, and prints the
table. `test_mutants` puts a sample to them.
"""
