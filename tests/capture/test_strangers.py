"""What people who never saw the course met with the verbs on their own code."""

import functools

import pytest

import helpers

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")  # before TensorFlow
pytestmark = pytest.mark.own_process(sharing="torch")


class Ten:
    """A decorator that is an object, and changes the result."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn = fn

    def __call__(self, x):
        return self.fn(x) * 10


def test_a_wrapper_that_is_an_object_is_called_as_before():
    assert float(helpers.watch_recompiles(Ten(lambda x: x + 1))(torch.ones(1))) == 20


def test_of_singledispatch_dynamo_gets_the_implementation_for_the_argument():
    @functools.singledispatch
    def kind(x):
        return "base"

    kind.register(int, lambda x: "int")
    assert "'int'" in helpers.watch_compile(kind, 1).model.outcome
    assert helpers.watch_recompiles(kind)(1) == "int"


def test_resume_functions_of_one_line_are_counted_each():
    def one(x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        torch._dynamo.graph_break()
        return x  # noqa

    assert "2 resume functions" in helpers.watch_breaks(one, torch.ones(2)).model.note


def test_a_stance_that_turns_compiling_off_is_no_hit():
    kept = helpers.watch_recompiles(lambda x: x + 1)
    kept(torch.ones(2))
    with torch.compiler.set_stance("force_eager"):
        kept(torch.ones(2))
    first, second = ([v.word for v in row.verdicts] for row in kept.model.entries)
    assert "compile" in first and "eager" in second


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p, "it is a leaf"),
        (lambda p: (p * 2).detach(), "no op recorded itself"),
        (lambda p: torch.no_grad()(lambda: p * 2)(), "no op recorded itself"),
    ],
)
def test_why_a_tensor_has_no_grad_fn(make, words, refused):
    refused(ValueError, words, helpers.show_grad_fn, make(torch.ones(2, requires_grad=True)))


def test_an_instruction_with_a_prefix_is_told_by_its_own_name():
    def unpack(values):
        *most, last = values
        return most, last

    steps = [step.opname for step in helpers.watch_stack(unpack, [1, 2, 3]).model.steps]
    assert "UNPACK_EX" in steps
