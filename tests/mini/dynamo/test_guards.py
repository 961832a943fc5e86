"""What changes between two calls is either harmless or told by the guard that fails first."""

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")

from helpers.mini import dynamo  # noqa: E402

X = torch.arange(6.0).reshape(2, 3)


def first_failing(fn, before, after):
    """Compile for `before`; return the first guard that fails `after`, and compare both calls."""
    compiled = dynamo.compile(fn)
    for args in (before, after):
        assert torch.equal(compiled(*args), fn(*args))
    return compiled.misses[-1] if len(compiled.entries) == 2 else "none"


def add(x, k=1):
    return x + k


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ((X,), (X + 1,), "none"),
        ((X,), (X.double(),), "x.dtype is torch.float32"),
        ((X,), (X[0],), "x.shape == (2, 3)"),
        ((X,), (X.t().contiguous().t(),), "x.stride() == (3, 1)"),
        ((X,), (X.clone().requires_grad_(),), "x.requires_grad is False"),
        ((X,), (torch.nn.Parameter(X),), "type(x) is torch.Tensor"),
        ((X, 1), (X, 2), "k == 1"),
        ((X, 1), (X, 1.0), "type(k) is int"),
        ((X, 1), (X, True), "type(k) is int"),
        ((X, 0.0), (X, -0.0), "k.hex() == '0x0.0p+0'"),
        ((X, X), (X, 1), "type(k) is torch.Tensor"),
        ((X.conj(),), (X,), "none"),
    ],
)
def test_argument(before, after, words):
    assert first_failing(add, before, after) == words


def test_grad_mode_and_default_dtype():
    compiled = dynamo.compile(add)
    compiled(X)
    with torch.no_grad():
        compiled(X)
    assert compiled.misses == ["torch.is_grad_enabled() is True"]
    torch.set_default_dtype(torch.float64)
    try:
        compiled(X)
    finally:
        torch.set_default_dtype(torch.float32)
    assert compiled.misses[0] == "torch.get_default_dtype() is torch.float32"


SCALE, TABLE = 2, {"k": 2}


def use_globals(x):
    return helper(x) * SCALE * TABLE["k"]


def helper(x, shift=1):
    return x + shift


@pytest.mark.parametrize(
    ("name", "value"),
    [("SCALE", 3), ("SCALE", 2.0), ("TABLE", {"k": 5}), ("helper", lambda x: x - 1), ("len", 3)],
)
def test_globals_may_change(monkeypatch, name, value):
    compiled = dynamo.compile(use_globals)
    assert torch.equal(compiled(X), use_globals(X))
    monkeypatch.setitem(globals(), name, value)
    assert torch.equal(compiled(X), use_globals(X))


def test_a_closure_may_change():
    k = 2

    def scaled(x):
        return x * k

    compiled = dynamo.compile(scaled)
    assert torch.equal(compiled(X), X * 2)
    k = 3
    assert torch.equal(compiled(X), X * 3)
    k = torch.ones(3)
    assert torch.equal(compiled(X), X)


def test_the_function_itself_may_get_other_code():
    def f(x):
        return x + 1

    def g(x, k=3):
        return x * k

    compiled = dynamo.compile(f)
    compiled(X)
    f.__code__, f.__defaults__ = g.__code__, (3,)
    assert torch.equal(compiled(X), X * 3) and "replaced" in compiled.why


@pytest.mark.parametrize("state", [torch.inference_mode, lambda: torch.device("meta")])
@pytest.mark.parametrize("compile_before", [True, False])
def test_under_an_unusual_state_plain_python_runs_and_says_so(state, compile_before):
    def total(x):
        return (x @ x.T).sum() + torch.ones(2)

    compiled = dynamo.compile(total)
    if compile_before:
        compiled(X)
    with state():
        got = compiled(X)
    assert got.is_meta == (state is not torch.inference_mode)
    assert got.is_inference() == (state is torch.inference_mode)
    assert "inference mode" in compiled.why


def test_after_the_limit_plain_python_runs_and_says_so():
    compiled = dynamo.compile(add)
    for k in range(dynamo.eval_frame.LIMIT + 2):
        assert torch.equal(compiled(X, k), X + k)
    assert len(compiled.entries) == dynamo.eval_frame.LIMIT and "the limit" in compiled.why
    assert torch.equal(compiled(X, 0), X)


def test_texts_of_guards_and_source_are_the_same_twice():
    def told(x, k):
        return helper(x) * k if x.sum() > 0 else x

    texts = []
    for _ in range(2):
        compiled = dynamo.compile(told)
        compiled(X, 2)
        texts.append((compiled.source, [g.text for g in compiled.entries[0].guards]))
    assert texts[0] == texts[1] and "0x" not in str(texts)
