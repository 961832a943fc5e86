"""A sample of the mutants of each solution is refused; `course.py test --all` tries them all.

The whole, in interpreters of their own and with a table: `python -m tests.mutants`.
"""

import ast
import os
import random

import pytest

from tests.mutants import page
from tests.mutants.equivalents import EQUIVALENTS
from tests.mutants.operators import mutants
from tests.mutants.page import Count
from tests.study.folded import EXERCISES, verdict

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"
SOME = 3
NAMED = [(exercise.chapter, name) for name, exercise in EXERCISES.items()]


@pytest.mark.own_process(by="chapter", sharing="judges")
@pytest.mark.parametrize(("chapter", "name"), NAMED)
def test_mutants_are_refused_or_do_the_same(chapter, name, capsys):
    made = [
        m for m in mutants(EXERCISES[name].solution) if m.change not in EQUIVALENTS.get(name, {})
    ]
    for mutant in made if WHOLE else random.Random(name).sample(made, min(SOME, len(made))):
        try:
            state = verdict(name, mutant.source).state
        except Exception:  # of the cell itself: the learner sees it before the check
            continue
        assert state in ("failed", "untried"), f"{mutant.operator}: {mutant.change}"


@pytest.mark.parametrize("name", EQUIVALENTS)
def test_what_is_listed_as_the_same_is_a_mutant_and_has_a_reason(name):
    changes = {mutant.change for mutant in mutants(EXERCISES[name].solution)}
    assert EQUIVALENTS[name].keys() <= changes
    assert all(reason.strip() for reason in EQUIVALENTS[name].values())


def test_a_page_keeps_the_rows_that_are_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    first, *_, last = EXERCISES
    page.write({last: Count(5, 1, 4, 0)})
    page.write({first: Count(3, 0, 2, 1)})
    page.write({last: Count(6, 1, 5, 0), "an exercise that is gone": Count(1, 0, 1, 0)})
    assert page.read() == {first: Count(3, 0, 2, 1), last: Count(6, 1, 5, 0)}
    assert f"| all | 2 of {len(EXERCISES)} | 9 | 1 | 7 | 1 |" in page.PAGE.read_text("utf-8")


def test_nothing_is_left_on_the_page_in_the_docs():
    counts = page.read()
    assert counts and counts.keys() == EXERCISES.keys()
    for count in counts.values():
        assert count.left == 0 and count.mutants == count.same + count.killed


SOURCE = """
def f(a, b=1):
    kept = []
    for x in sorted(a):
        if x is b and x > 0:
            kept.append(x + 1)
    try:
        return kept[:-1]
    finally:
        print("done", a)
"""
WAYS = {
    *("operator exchanged", "operand dropped", "constant changed", "statement dropped"),
    *("branch forced", "return changed", "early return", "finally weakened"),
    *("argument changed", "slice changed", "order exchanged", "name exchanged"),
    *("default changed", "state shared", "call unwrapped"),
}


def test_every_operator_that_fits_is_applied_and_each_mutant_is_another_program():
    made = mutants(SOURCE)
    assert {mutant.operator for mutant in made} >= WAYS
    assert len({mutant.source for mutant in made}) == len(made)
    assert ast.unparse(ast.parse(SOURCE)) not in {mutant.source for mutant in made}


def test_a_program_inside_a_text_is_mutated_too_and_a_docstring_is_not():
    inner = "files = {}\nfiles['a.py'] = '''\nimport os\n\ndef f(x):\n    return x + 1\n'''"
    assert any("return x - 1" in mutant.source for mutant in mutants(inner))
    assert not mutants('def f():\n    """Do nothing."""')
