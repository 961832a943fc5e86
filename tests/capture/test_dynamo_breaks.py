"""Graph breaks of real functions, and cures: fewer breaks with the same results, or it is told."""

import pytest

from helpers import watch_breaks, watch_fixes
from helpers.capture.torch.cures import NO_BREAK
from helpers.capture.torch.repeated_runs import compare_values

torch = pytest.importorskip("torch")
from tests.capture import dynamo_programs as programs  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")

X = torch.tensor([1.0, -2.0, 3.0])


@pytest.fixture(scope="module")
def cures():
    return watch_fixes(programs.CURES, X).model


def test_at_least_six_causes_break_and_every_cure_holds(cures):
    everything = set(programs.CURES)
    assert len(everything) >= 6
    assert set(cures.subjects("1", "graphs after")) == everything
    assert set(cures.subjects("same", "result")) == everything
    assert not set(cures.subjects("1", "graphs before"))


def test_every_cause_is_named(cures):
    assert all(entry.note and entry.note != NO_BREAK for entry in cures.entries)


def test_function_given_up_says_so(cures):
    assert "given up" in cures.word("loop", "graphs before")


def test_cure_that_computes_something_else_is_told():
    model = watch_fixes({"bad": (programs.CURES["if"][0], lambda x: x - 1)}, X).model
    assert model.word("bad", "result") == "differs"


def test_cure_that_is_another_function_when_compiled_is_told():
    def cheat(x):
        return x if torch.compiler.is_compiling() else programs.CURES["if"][0](x)

    model = watch_fixes({"cheat": (programs.CURES["if"][0], cheat)}, X).model
    assert model.word("cheat", "result") == "differs"


def test_programs_that_draw_by_chance_are_compared_with_the_same_numbers():
    def drops(x):
        return torch.nn.functional.dropout(x.repeat(20) * 3)

    def prints_and_drops(x):
        print("dropped")
        return drops(x)

    x = X.clone().requires_grad_()
    model = watch_fixes({"dropout": (prints_and_drops, drops)}, x).model
    assert model.word("dropout", "result") == model.word("dropout", "gradient") == "same"


def test_cure_with_another_gradient_is_told():
    def chosen(x):
        return torch.where(x.sum() > 0, x * 2, x)

    cases = {
        "item": (lambda x: x / (x * 2).max().item(), lambda x: x / (x * 2).max()),
        "where": (lambda x: x * 2 if x.sum() > 0 else x, chosen),
        "number": (lambda x: x.sum().item(), lambda x: x.sum().item()),
    }
    model = watch_fixes(cases, X).model
    assert [model.word(name, "gradient") for name in cases] == ["differs", "same", "none"]
    assert model.word("item", "result") == "same" and not X.requires_grad
    assert "gradient" in model.entries[0].note


def test_function_without_a_break_says_so():
    model = watch_breaks(programs.whole, *programs.inputs()).model
    assert model.rows == () and model.graphs == 1 and model.breaks == 0


def test_equal_results_have_the_same_type_shape_and_values():
    nan = torch.tensor([float("nan")])
    same = [(nan, nan.clone()), ((X, 1), (X.clone(), 1)), ({"a": [X]}, {"a": [X.clone()]})]
    assert all(compare_values(*pair) for pair in same)
    other = [(X, X.double()), (X, X[:2]), ((X,), [X]), (1, True)]
    assert [compare_values(*pair) for pair in other] == [False] * 4
