"""The mini-Dynamo against eager torch: every program, every input, some rounds, both doors."""

import contextlib
import functools
import re

import pytest

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch")

from helpers.mini import dynamo, frame_hook  # noqa: E402
from tests.mini.dynamo import comparing  # noqa: E402
from tests.mini.dynamo.comparing import PROGRAMS  # noqa: E402
from tests.mini.dynamo.programs import broken, fooling, modules, python, tensors  # noqa: E402, F401

DOORS = ["decorator"] + ["hook"] * bool(frame_hook.available())


def off_by_one(module, example_inputs):
    """A backend that gets every number wrong."""

    def run(*args):
        return tuple(
            result + 1 if isinstance(result, torch.Tensor) and result.dtype != torch.bool else 5
            for result in module.forward(*args)
        )

    return run


@functools.cache
def compared(door):
    """Every program through a door -> all that differs, and what became of each program."""
    compiled, differences = {}, []

    @contextlib.contextmanager
    def noted(fn, backend):
        with comparing.DOORS[door](fn, backend) as called:
            yield called
            compiled[fn] = called

    for fn, cases in PROGRAMS:
        differences += comparing.differences(fn, cases, noted)
    return differences, compiled


@pytest.mark.parametrize("door", DOORS)
def test_no_program_differs_from_eager(door):
    differences, _ = compared(door)
    assert not differences, "\n".join(differences[:10])


def test_the_programs_are_many_and_most_of_them_have_a_graph():
    _, compiled = compared("decorator")
    assert len(PROGRAMS) == len(compiled) >= 78
    assert sum(bool(one.graphs) for one in compiled.values()) > 45
    assert all(one.entries for one in compiled.values())


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ["toy_example", "a_module"])
def test_a_backend_that_is_wrong_is_seen(door, name):
    (program,) = [(fn, cases) for fn, cases in PROGRAMS if fn.__name__ == name]
    assert comparing.differences(*program, comparing.DOORS[door], off_by_one, rounds=1)


@pytest.mark.parametrize("door", DOORS)
def test_calls_that_do_not_fit_raise_as_in_python(door, refused):
    def takes_two(a, b=2, *, c=3):
        return a * b + c

    x = torch.ones(2)
    with comparing.DOORS[door](takes_two) as called:
        assert torch.equal(called(x, c=1), x * 2 + 1)
        assert torch.equal(called(b=4, a=x), x * 4 + 3)
        for args, kwargs in (((), {}), ((x, 1, 2), {}), ((x,), {"a": x}), ((x,), {"d": 1})):
            with pytest.raises(TypeError) as real:
                takes_two(*args, **kwargs)
            refused(TypeError, f"^{re.escape(str(real.value))}$", called, *args, **kwargs)


def test_a_lambda_can_be_compiled():
    compiled = dynamo.compile(lambda x, k: x * k if x.sum() > 0 else x)
    assert torch.equal(compiled(torch.ones(2), 3), torch.full((2,), 3.0))
    assert len(compiled.graphs) == 2 and compiled.why == ""


def test_what_a_backend_raises_is_heard(refused):
    def failing(module, example_inputs):
        raise KeyError("mine")

    refused(KeyError, "mine", dynamo.compile(lambda x: x + 1, backend=failing), torch.ones(2))


def test_a_failure_of_its_own_makes_it_run_plain_python(monkeypatch):
    monkeypatch.setattr(dynamo.convert_frame.Interpreter, "BINARY_OP", lambda self, step: 1 / 0)
    compiled = dynamo.compile(lambda x: x + 1)
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))
    assert "ZeroDivisionError" in compiled.why


def test_a_method_can_be_compiled():
    class Scaler:
        k = 3

        @dynamo.compile
        def __call__(self, x):
            return x * self.k

    scaler = Scaler()
    assert torch.equal(scaler(torch.ones(2)), torch.ones(2) * 3)
    scaler.k = 4
    assert torch.equal(scaler(torch.ones(2)), torch.ones(2) * 4)


@pytest.mark.parametrize("wrong", [3, print, None.__class__, functools.partial(print)])
def test_only_what_comes_down_to_a_function_of_python_is_taken(wrong, refused):
    refused(TypeError, f"^compile.*{type(wrong).__name__}", dynamo.compile, wrong)


def test_a_backend_is_something_to_call_and_returns_such(refused):
    refused(TypeError, "^backend.*str$", dynamo.compile, lambda x: x, backend="inductor")
    compiled = dynamo.compile(lambda x: x + 1, backend=lambda module, inputs: None)
    refused(TypeError, "backend.*NoneType$", compiled, torch.ones(1))


def test_torch_compile_may_trace_what_is_compiled_here():
    def adds(x):
        return x + 1

    mine = dynamo.compile(adds)
    both = torch.compile(lambda x: mine(x) * 2, backend="eager")
    assert torch.equal(both(torch.ones(2)), torch.ones(2) * 4)


@pytest.mark.skipif(len(DOORS) == 1, reason="no frame hook here")
def test_the_hook_traces_one_function_of_many_from_the_same_lines():
    def make(k):
        def times(x):
            return x * k

        return times

    two, three = make(2), make(3)
    before, x = two.__code__, torch.ones(2)
    with dynamo.hooked(only=[two]) as compiled:
        assert torch.equal(two(x), x * 2)
        assert torch.equal(three(x), x * 3) and torch.equal(make(4)(x), x * 4)
    assert two.__code__ is before and len(compiled[two].entries) == 1
    assert torch.equal(compiled[two](x), x * 2) and not compiled[two].why


@pytest.mark.parametrize("only", [[None], None, 3, "scaled", [off_by_one, print]])
def test_a_wrong_argument_of_the_hook_is_one_sentence(only, refused):
    refused(TypeError, r"\bonly\b", lambda: dynamo.hooked(only=only).__enter__())
    refused(ValueError, r"\bonly\b", lambda: dynamo.hooked().__enter__())
