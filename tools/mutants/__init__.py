"""A right answer -> wrong ones that differ in one place; and which of them a check lets pass.

`python -m tools.mutants` puts every mutant of every folded solution to its check, and prints the
table. `test_mutants` puts a sample to them. `same.json` lists the mutants that do what the solution
does on every input that the exercise allows.
"""

import json
import os
from pathlib import Path

from tests.study.folded import EXERCISES, verdict
from tools.mutants.operators import Mutant, mutants

SAME = json.loads(Path(__file__).with_name("same.json").read_text("utf-8"))


def wrong_answers(name: str) -> list[Mutant]:
    """Return the mutants of an exercise's solution, without those that do the same."""
    same = SAME.get(name, ())
    return [one for one in mutants(EXERCISES[name].solution) if one.change not in same]


def is_refused(name: str, mutant: Mutant) -> bool:
    """Tell whether the check refuses a mutant, or its cell raises: the learner sees that first."""
    try:
        return verdict(name, mutant.source).state in ("failed", "untried")
    except Exception:
        return True


def tell_verdicts(name: str, first: int, tell) -> None:
    """Send whether each mutant is refused, from this number on; run in a child."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for mutant in wrong_answers(name)[first:]:
        tell.send(is_refused(name, mutant))
