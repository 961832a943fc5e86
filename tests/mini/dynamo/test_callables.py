"""Both doors take what torch.compile takes, and follow it when it changes."""

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")

from helpers.mini import dynamo, frame_hook  # noqa: E402

X = torch.arange(6.0).reshape(2, 3)


def scaled(x, k=2, *, shift=0):
    return x * k + shift


class Scaler:
    """An object with a method and a `__call__`."""

    def __init__(self, k):
        self.k = k

    def scale(self, x):
        return x * self.k

    def __call__(self, x, by=1):
        return x + self.k * by


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = torch.nn.Linear(3, 3), 2

    def forward(self, x):
        return self.layer(x) * self.scale


def taken():
    scaler, model = Scaler(3), Model()
    return {
        "a bound method": scaler.scale,
        "an object": scaler,
        "a module": model,
        "the forward of a module": model.forward,
    }


@pytest.mark.parametrize("name", taken())
def test_what_torch_compile_takes_is_traced(name):
    target = taken()[name]
    compiled = dynamo.compile(target)
    for _ in range(2):
        assert torch.equal(compiled(X), target(X))
    assert compiled.graphs and not compiled.why, compiled.why
    assert [entry.hits for entry in compiled.entries or compiled._tracing()[0].entries] == [2]


@pytest.mark.skipif(not frame_hook.available(), reason="no frame hook here")
@pytest.mark.parametrize("name", taken())
def test_the_hook_takes_it_too(name):
    target = taken()[name]
    want = target(X)
    with dynamo.hooked(only=[target]) as compiled:
        assert torch.equal(target(X), want)
    (one,) = compiled.values()
    assert one.graphs


def test_a_method_of_another_object_is_not_taken_for_it():
    one, two = Scaler(3), Scaler(4)
    compiled = dynamo.compile(one.scale)
    compiled(X)
    assert torch.equal(dynamo.compile(two.scale)(X), X * 4)
    one.k = 5
    assert torch.equal(compiled(X), X * 5)


def test_a_module_may_be_changed():
    model = Model()
    compiled = dynamo.compile(model)
    compiled(X)
    model.layer.register_forward_hook(lambda module, args, out: out * 10)
    assert torch.equal(compiled(X), model(X))
    model.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    assert torch.equal(compiled(X), model(X)) and "with hooks" in compiled.why
    other = Model()
    fresh = dynamo.compile(other)
    fresh(X)
    other.__class__ = type("Other", (Model,), {"forward": lambda self, x: x - 1})
    assert torch.equal(fresh(X), X - 1)
    other.forward = lambda x: x + 100
    assert torch.equal(fresh(X), X + 100)


@pytest.mark.skipif(not frame_hook.available(), reason="no frame hook here")
def test_the_hook_traces_one_function_of_many_from_the_same_lines():
    def make(k):
        def times(x):
            return x * k

        return times

    two, three = make(2), make(3)
    before = two.__code__
    with dynamo.hooked(only=[two]) as compiled:
        assert torch.equal(two(X), X * 2)
        assert torch.equal(three(X), X * 3) and torch.equal(make(4)(X), X * 4)
    assert two.__code__ is before and len(compiled[two].entries) == 1
    assert torch.equal(compiled[two](X), X * 2) and not compiled[two].why


@pytest.mark.parametrize(
    ("only", "kind", "words"),
    [
        ([None], TypeError, "each of only must be a Python function, .* not NoneType"),
        (None, TypeError, "not NoneType"),
        ((), ValueError, "only is empty"),
        (3, TypeError, "not int"),
        ("scaled", TypeError, "not str"),
        ([scaled, print], TypeError, "not builtin_function_or_method"),
    ],
)
def test_a_wrong_argument_of_the_hook_is_one_sentence(only, kind, words):
    with pytest.raises(kind, match=words) as raised, dynamo.hooked(only=only):
        pass
    assert "\n" not in str(raised.value)


def test_wrong_arguments_of_compile_are_one_sentence():
    with pytest.raises(TypeError, match="backend must be something to call, not int"):
        dynamo.compile(scaled, 3)
    with pytest.raises(TypeError, match="parts must be the five parts"):
        dynamo.compile(scaled, parts=3)
    with pytest.raises(TypeError, match="scaled has 3 parameters, and 1 were given"):
        dynamo.entry_for(scaled, X)
