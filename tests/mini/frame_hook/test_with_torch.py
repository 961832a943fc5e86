"""The hook and torch.compile meet in one process, in every order, and both go on working."""

import sys

import pytest

from helpers.mini.frame_hook import check_c_stack, installed, put_back, watching
from tests.mini.frame_hook.cases import off

# shared with no one: it starts from CPython's own evaluator
pytestmark = [pytest.mark.own_process, pytest.mark.long]
torch = pytest.importorskip("torch")


def f(x):
    return torch.sin(x) + 1


@pytest.fixture
def x():
    torch._dynamo.reset()
    yield torch.linspace(-1, 1, 4)
    off()


def recorder():
    seen = []
    return seen, lambda code, arguments: seen.append(code.co_name)


def test_dynamo_compiles_under_the_hook(x):
    seen, note = recorder()
    compiled = torch.compile(f, backend="eager")
    with watching(note):
        assert torch.equal(compiled(x), f(x))
    assert len(seen) > 1000  # Dynamo itself is Python
    seen.clear()
    with watching(note, only=[f]):
        assert torch.equal(compiled(x), f(x))
    assert seen.count("f") >= 1


def test_hook_after_dynamo_has_compiled(x):
    seen, note = recorder()
    compiled = torch.compile(f, backend="eager")
    expected = compiled(x)
    with watching(note, only=[f]):
        assert torch.equal(f(x), expected)
    assert seen == ["f"] and torch.equal(compiled(x), expected)


def test_deep_recursion_under_dynamos_evaluator_is_stopped(x):
    """Without the guard this run ends in SIGSEGV; the evaluator that torch leaves goes, too."""

    def rec(n):
        return 0 if n <= 0 else 1 + rec(n - 1)

    def deep(x):
        torch._dynamo.graph_break()
        return x + rec(10**5)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        with check_c_stack(), pytest.raises(Exception, match="C stack"):
            torch.compile(deep, backend="eager")(x)
    finally:
        sys.setrecursionlimit(before)
    off()
    with check_c_stack():
        assert torch.equal(torch.compile(f, backend="eager")(x), f(x))


def test_evaluator_that_an_error_left_is_taken_out(refused):
    torch._dynamo.reset()
    for _ in range(2):
        refused(KeyError, "design", torch.compile(raising, backend="eager"), torch.ones(2))
    assert installed()[0].owner == "torch"
    put_back()
    assert "CPython" in installed()[0].owner
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    assert "CPython" in installed()[0].owner


def raising(x):
    raise KeyError("by design")
