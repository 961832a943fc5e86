"""A refused answer, a right one, and both once more, in one process: each is judged as at first.

What the learner has compiled before is still compiled afterwards.
"""

import random
import sys
from pathlib import Path

import pytest

import helpers
from tests.samples import WHOLE
from tests.study.folded import EXERCISES, verdicts
from tests.study.mistakes import MISTAKES, made

pytestmark = pytest.mark.own_process(by="chapter", sharing="judges")

COMPILING = {"break_surgery", "one_compile", "smooth_max", "blind_tool", "dead_switch"}
OTHERS = {"batches", "stuck_mean", "who_kept", "vm_calls"}
DRAW = random.Random(39)
EVERY_DAY = {*DRAW.sample(sorted(COMPILING), 2), *DRAW.sample(sorted(OTHERS), 2)}
if WHOLE:
    EVERY_DAY = COMPILING | OTHERS


class OfTorch:
    """A function that the learner has compiled with torch, for two shapes and a module."""

    def __init__(self):
        import torch

        def scaled(x, factor):
            print(end="")  # a graph break, so that there is a resume function, too
            return x * factor

        self.graphs = 0
        self.inputs = [torch.ones(2), torch.ones(3, 4)]
        self.compiled = torch.compile(scaled, backend=self._backend)
        self.module = torch.compile(torch.nn.Linear(2, 2), backend=self._backend)
        self.call()
        self.before = self.graphs

    def _backend(self, graph, inputs):
        self.graphs += 1
        return graph

    def call(self):
        for x in self.inputs:
            self.compiled(x, 3)
        self.module(self.inputs[0])

    def compiles_again(self) -> bool:
        self.call()
        return self.graphs > self.before


class OfTensorFlow:
    """A function that the learner has traced."""

    def __init__(self):
        import tensorflow as tf

        self.traces = 0
        self.compiled = tf.function(self._body)
        self.inputs = [tf.ones([2]), tf.ones([3])]
        self.call()
        self.before = self.traces

    def _body(self, x):
        self.traces += 1
        return x * 3.0

    def call(self):
        for x in self.inputs:
            self.compiled(x)

    def compiles_again(self) -> bool:
        self.call()
        return self.traces > self.before


def learners_own(name):
    """Return what a learner may have compiled in the frameworks of an exercise's chapter."""
    source = EXERCISES[name].context + EXERCISES[name].solution
    chapter = EXERCISES[name].chapter
    kinds = {OfTorch: "torch", OfTensorFlow: "tensorflow"}
    home = {"02": "tensorflow", "04": "torch", "06": "tensorflow"}.get(chapter, "")
    return [
        kind()
        for kind, module in kinds.items()
        if module in (home, *sys.modules)
        and (module in source or home == module or name in COMPILING)
    ]


def _named():
    for name, exercise in EXERCISES.items():
        marks = () if name in EVERY_DAY else pytest.mark.long
        yield pytest.param(exercise.chapter, name, marks=marks, id=f"{exercise.chapter}-{name}")


@pytest.mark.parametrize(("chapter", "name"), list(_named()))
def test_each_attempt_is_judged_as_the_first_one(chapter, name):
    solution = EXERCISES[name].solution
    says, *pieces = MISTAKES[name][-1]
    wrong = made(solution, *pieces)
    if name in COMPILING:
        import torch  # noqa: F401 - as the notebook has it
    own = learners_own(name)
    outcomes = list(verdicts(name, wrong, solution, wrong, solution))
    assert [each.state for each in outcomes] == ["failed", "passed"] * 2, [
        each.because for each in outcomes
    ]
    assert outcomes[0].because == outcomes[2].because and says in outcomes[0].because
    assert [type(each).__name__ for each in own if each.compiles_again()] == []


def test_no_check_empties_a_cache_of_a_framework():
    sources = Path(helpers.__file__).parent.joinpath("study").rglob("*.py")
    emptying = "_dynamo.reset(", "clear_session(", "reset_default_graph(", "clear_op_callbacks("
    found = [
        (path.name, word)
        for path in sources
        for word in emptying
        if word in path.read_text("utf-8")
    ]
    assert found == []
