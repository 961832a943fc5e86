"""Graph breaks: what is written, what the rest of a function receives, what is refused."""

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")

from helpers.mini import dynamo  # noqa: E402
from helpers.mini.dynamo.parts import receives  # noqa: E402
from helpers.mini.dynamo.resume_execution import Code  # noqa: E402
from tests.mini.dynamo.programs import broken, fooling  # noqa: E402

UP, DOWN = torch.ones(4), -torch.ones(4)


def test_the_source_of_the_toy_example():
    compiled = dynamo.compile(broken.toy_example)
    compiled(UP, UP)
    assert len(compiled.graphs) == 2  # both ways of a branch are compiled when they are taken
    compiled(UP, DOWN)
    names = [line for line in compiled.source.splitlines() if line.startswith("def ")]
    assert names == [
        "def toy_example(a, b):",
        "def toy_example_from_line_6(b, x):",
        "def toy_example_from_line_5(b, x):",
    ]
    assert len(compiled.graphs) == 3 and len(compiled.entries) == 1
    assert len(compiled.breaks) == 1 and compiled.why == ""


def test_the_same_place_has_one_rest():
    compiled = dynamo.compile(broken.item)
    compiled(UP)
    compiled(UP.double())
    first, second = (entry.resume_functions for entry in compiled.entries)
    assert first == second and len(first) == 1


@pytest.mark.parametrize(
    ("fn", "words"),
    [
        (broken.break_in_a_while, "loop"),
        (fooling.many, "*args"),
        (fooling.tried, "try"),
        (fooling.under_no_grad, "with"),
        (fooling.inner_function, "variables"),
        (fooling.looks_at_its_frame, "locals"),
        (fooling.iterates_a_tensor, "loop"),
    ],
)
def test_a_refusal_says_why(fn, words):
    compiled = dynamo.compile(fn)
    compiled(torch.ones(3))
    assert words in compiled.why


def liveness(fn, line, bound):
    code = Code(fn.__code__)
    start = next(at for at, step in enumerate(code.steps) if step.line == line)
    return receives(code, start, bound)


def loops(a, b, c):
    d = a + b
    while c > 0:
        c -= d
        e = c
    return a


def test_names_that_can_still_be_read_are_received():
    assert liveness(loops, 2, ["a", "b", "c"]) == ["a", "b", "c"]
    assert liveness(loops, 4, ["a", "b", "c", "d"]) == ["a", "c", "d"]
    assert liveness(loops, 6, ["a", "b", "c", "d"]) == ["a"]
