"""Every check comes back from an answer that does not end, sleeps, prints or grows for ever.

Each exercise is given one of these, in one of its functions; COURSE_SAMPLES=whole gives two.
"""

import ast
import os
import re
from zlib import crc32

import pytest

from helpers import check
from helpers.safety import limits
from tests.study.folded import EXERCISES, verdict

pytestmark = [pytest.mark.own_process(by="chapter", sharing="judges"), pytest.mark.long]

WHOLE = os.environ.get("COURSE_SAMPLES") == "whole"
SECONDS = 0.5
TIME = f"your code did not end within {SECONDS:g} seconds"
SPOILERS = {  # what is put into an answer, and what is said of it
    "while True: pass": TIME,
    "import time; time.sleep(3600)": TIME,
    # where what is printed is judged, not shown
    "while True: print('and again')": f"{TIME}|your code printed more than",
    # where that goes slowly
    "grown = []\nwhile True: grown.append('x' * 100_000 + str(len(grown)))": (
        f"{TIME}|your code took more than .* of memory"
    ),
    "while True:\n  try: sum(range(9))\n  except BaseException: pass": TIME,
}
VALUE = """
class Endless(dict):
    def _go_on(self, *given):
        {body}
    __iter__ = __getitem__ = __len__ = __eq__ = __contains__ = get = keys = items = values = _go_on
    __hash__ = None
{names} = {endless}
"""
NOT_ASKED = {"warm_up", "ranking", "stack_at"}  # whose answers are refused by their type


def spoilt(solution: str, body: str, turn: int = 0) -> str:
    """Return the answer with `body` at the start of one of its functions: the turn-th, in a circle.

    An answer without functions becomes an object whose methods are all like that.
    """
    tree = ast.parse(solution)
    places = [(None, node) for node in functions(tree)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "def " in node.value:
            program = ast.parse(node.value)
            places += [((node, program), function) for function in functions(program)]
    if not places:
        return as_value(tree, body)
    text, function = places[turn % len(places)]
    function.body[:0] = ast.parse(body).body
    if text is not None:
        node, program = text
        node.value = ast.unparse(ast.fix_missing_locations(program))
    return ast.unparse(ast.fix_missing_locations(tree))


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def as_value(tree, body: str) -> str:
    [*_, last] = [node for node in tree.body if isinstance(node, ast.Assign)]
    target = last.targets[0]
    many = len(target.elts) if isinstance(target, ast.Tuple) else 1
    inner, endless = body.replace("\n", "\n        "), ", ".join(["Endless()"] * many)
    value = VALUE.format(body=inner, names=ast.unparse(target).strip("()"), endless=endless)
    tree.body.remove(last)
    return f"{ast.unparse(tree)}\n{value}"


def _trials():
    for name, exercise in EXERCISES.items():
        first = crc32(name.encode())
        for turn in range(first, first + (2 if WHOLE else 1)):
            yield exercise.chapter, name, turn


@pytest.mark.parametrize(("chapter", "name", "turn"), list(_trials()))
def test_it_comes_back_and_the_next_answer_is_judged_as_ever(
    chapter, name, turn, monkeypatch, capsys
):
    body = list(SPOILERS)[turn % len(SPOILERS)]
    verdict(name, EXERCISES[name].solution)  # imports what it needs
    monkeypatch.setattr(getattr(check, name), "seconds", SECONDS)
    monkeypatch.setattr(limits, "GIBIBYTE", 1 << 27)
    outcome = verdict(name, spoilt(EXERCISES[name].solution, body, turn))
    assert outcome.state == "failed", outcome
    assert re.search(" must be a " if name in NOT_ASKED else SPOILERS[body], outcome.because)
    monkeypatch.undo()
    outcome = verdict(name, EXERCISES[name].solution)
    assert outcome.state == "passed", outcome.because


IN_THE_GRAPH = """
@tf.function(reduce_retracing=True)
def train_step(weights, rows):
    turns = tf.constant(0)
    while turns >= 0:
        turns = turns * 1
    return weights, turns


def train(step, weights, batches):
    for rows in batches:
        weights, _ = step(weights, rows)
    return weights, []
"""


@pytest.mark.parametrize("chapter", ["02"])
def test_a_loop_that_runs_in_a_graph_comes_back_too(chapter, monkeypatch):
    monkeypatch.setattr(check.slow_training, "seconds", SECONDS)
    outcome = verdict("slow_training", IN_THE_GRAPH)
    assert (outcome.state, outcome.because) == ("failed", TIME)
