"""A sample of the mutants of each solution is refused.

The whole, in interpreters of their own and with a table: `python -m tools.mutants`.
"""

import ast
import random

import pytest

from tests.samples import sample
from tests.study.folded import EXERCISES
from tools.mutants import SAME, is_refused, wrong_answers
from tools.mutants.__main__ import read_page
from tools.mutants.operators import OPERATORS, mutants

pytestmark = pytest.mark.long

NAMED = [(exercise.chapter, name) for name, exercise in EXERCISES.items()]


@pytest.mark.own_process(by="chapter", sharing="judges")
@pytest.mark.parametrize(("chapter", "name"), NAMED)
def test_98_of_100_mutants_are_refused(chapter, name, capsys):
    made = wrong_answers(name)
    some = random.Random(name).sample(made, min(sample(3, 4), len(made)))
    left = [f"{one.operator}: {one.change}" for one in some if not is_refused(name, one)]
    assert len(left) <= 0.02 * len(made), left


def test_what_is_listed_as_the_same_is_a_mutant():
    for name, changes in SAME.items():
        assert {*changes} <= {mutant.change for mutant in mutants(EXERCISES[name].solution)}, name


def test_at_most_2_of_100_are_left_on_the_page_in_the_docs():
    counts = read_page()
    assert counts.keys() == EXERCISES.keys(), "run `python -m tools.mutants --write NAME`"
    for made, same, killed, left in counts.values():
        assert made == same + killed + left and left <= 0.02 * (made - same)


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


def test_every_operator_that_fits_is_applied_and_each_mutant_is_another_program():
    made = mutants(SOURCE)
    missing = {"exception changed", "decorator dropped"}  # for which nothing is there
    names = {operator.__name__[1:].replace("_", " ") for operator in OPERATORS}
    assert {mutant.operator for mutant in made} == names - missing
    assert len({mutant.source for mutant in made}) == len(made)
    assert ast.unparse(ast.parse(SOURCE)) not in {mutant.source for mutant in made}


def test_a_program_inside_a_text_is_mutated_too_and_a_docstring_is_not():
    inner = "files = {}\nfiles['a.py'] = '''\nimport os\n\ndef f(x):\n    return x + 1\n'''"
    assert any("return x - 1" in mutant.source for mutant in mutants(inner))
    assert not mutants('def f():\n    """Do nothing."""')
