"""The mutants that do what the solution does, on every input that an exercise allows, and why.

`chapter_N.py` holds a table: exercise -> change (as `Mutant.change` says it) -> the reason.
"""

from importlib import import_module

from tests.mutants.operators import in_any_order

CHAPTERS = [import_module(f"tests.mutants.equivalent.chapter_{number}") for number in range(8)]
EQUIVALENTS = {
    name: {in_any_order(change): reason for change, reason in known.items()}
    for chapter in CHAPTERS
    for name, known in chapter.SAME.items()
}
