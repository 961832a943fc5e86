"""Whatever can be called is shown as the function that somebody wrote, and what was around it."""

import contextlib
import functools

import pytest

from helpers import show_bytecode, show_code, watch_frames, watch_names, watch_stack
from helpers.capture.cpython.unwrapping import unwrap
from helpers.capture.text.value import describe_value, short_repr

STILL = (show_bytecode, show_code)
RUNS = (watch_stack, watch_frames, watch_names)


def double(x=2):
    y = 2 * x
    return y


def noted(fn):
    @functools.wraps(fn)
    def outer(*args):
        return [fn(*args)]

    return outer


class Holder:
    """Has one of each."""

    def method(self):
        return self

    @property
    def prop(self):
        return 1

    @functools.cached_property
    def cached(self):
        return 1

    @classmethod
    def of_class(cls):
        return 1

    @staticmethod
    def static():
        return 1

    @noted
    def decorated(self):
        return 1

    def __call__(self):
        return 1


@contextlib.contextmanager
def block():
    yield 1


@functools.lru_cache
def cached(x):
    return x


def circle():
    return 1


circle.__wrapped__ = circle


@functools.wraps(len)
def counts(x):
    return len(x)


ONE = Holder()
# callable -> the function inside, what the note names, arguments of a call, what that returns
CASES = {
    "a function": (double, "double", "", (3,), "6"),
    "a method": (ONE.method, "method", "", (), "Holder object"),
    "a partial": (functools.partial(double, 4), "double", "1 argument", (), "8"),
    "a partial that bears a name": (
        functools.update_wrapper(functools.partial(double, x=4), double),
        *("double", "1 argument", (), "8"),
    ),
    "a decorated function": (noted(double), "double", "decorator noted", (3,), "[6]"),
    "a decorated method": (ONE.decorated, "decorated", "decorator noted", (), "[1]"),
    "a partial of one": (functools.partial(noted(double), 3), "double", "noted", (), "[6]"),
    "a property": (Holder.prop, "prop", "property", (ONE,), "1"),
    "a cached property": (Holder.__dict__["cached"], "cached", "cached_property", (ONE,), "1"),
    "a classmethod": (Holder.of_class, "of_class", "", (), "1"),
    "a classmethod object": (Holder.__dict__["of_class"], "of_class", "classmethod", (int,), "1"),
    "a staticmethod object": (Holder.__dict__["static"], "static", "staticmethod", (), "1"),
    "an object": (ONE, "__call__", "Holder", (), "1"),
    "a context manager": (block, "block", "decorator contextmanager", (), "None"),
    "a cached function": (cached, "cached", "lru_cache", (3,), "3"),
    "the same once more": (cached, "cached", "lru_cache", (3,), "3"),
    "a wrapper in a circle": (circle, "circle", "", (), "1"),
    "a wrapper of C": (counts, "counts", "", ("ab",), "2"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_function_inside_is_shown_and_what_was_around_it_is_named(case):
    thing, name, layer, args, result = CASES[case]
    still, sentences = unwrap(thing)
    assert still.__code__.co_name == name and bool(sentences) == bool(layer)
    for verb in STILL:
        assert all(words in verb(thing).model.note for words in sentences)
    for verb in RUNS:
        model = verb(thing, *args).model
        assert model.source.count(f"def {name}(") == 1 and model.steps
        assert layer in model.note
        assert verb is watch_names or f" {result}." in model.note


@pytest.mark.parametrize("verb", STILL + RUNS)
def test_what_has_no_python_inside_is_refused_by_what_was_reached(verb, refused):
    refused(TypeError, rf"^{verb.__name__} .*len\(\)", verb, functools.partial(len))
    refused(TypeError, rf"^{verb.__name__} .*\bHolder\b", verb, Holder)


def test_what_torch_makes_is_peeled_off():
    torch = pytest.importorskip("torch")

    class Doubles(torch.nn.Module):
        def forward(self, x):
            return 2 * x

    net, compiles = Doubles(), {"backend": "eager"}
    inside = Doubles()
    inside.compile(**compiles)
    table = {
        "a module": (net, "Doubles"),
        "a compiled module": (torch.compile(net, **compiles), "torch.compile"),
        "its forward": (torch.compile(net, **compiles).forward, "torch.compile"),
        "compiled in place": (inside, "torch.compile"),
        "a method": (net.forward, ""),
        "a compiled function": (torch.compile(double, **compiles), "torch.compile"),
        "without gradients": (torch.no_grad()(double), "decorator"),
    }
    x = torch.ones(2, 3)
    for case, (thing, layer) in table.items():
        function, sentences = unwrap(thing)
        assert function.__name__ in ("forward", "double") and layer in " ".join(sentences), case
        for verb in RUNS:
            model = verb(thing, x).model
            assert model.steps and layer in model.note, case
        assert watch_stack(thing, x).model.steps[-1].ending == "returns float32 [2, 3]"


def test_tensors_and_arrays_are_shown_by_dtype_and_sizes():
    torch, numpy = pytest.importorskip("torch"), pytest.importorskip("numpy")

    class Own(torch.Tensor):
        pass

    class Answers(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError("it was asked")

    plain = torch.ones(5, 4)
    table = {
        "float32 [5, 4]": plain,
        "[float32 [5, 4], 1]": [plain, 1],
        "int64 []": torch.tensor(3),
        "float16 [7]": torch.ones(7, device="meta", dtype=torch.float16),
        "Parameter float32 [5, 4]": torch.nn.Parameter(plain),
        "Own float32 [5, 4]": plain.as_subclass(Own),
        "Answers object": torch.Tensor._make_wrapper_subclass(Answers, (2,)),
        "int8 [2, 2]": numpy.ones((2, 2), numpy.int8),
        "Linear object": torch.nn.Linear(1, 1),
    }
    assert {words: short_repr(value) for words, value in table.items()} == {w: w for w in table}
    assert describe_value(plain).kind == "Tensor"

    def grows(x):
        x = torch.cat([x, x])
        return x

    steps = watch_stack(grows, plain).model.steps
    assert {dict(step.names)["x"] for step in steps} == {"float32 [5, 4]", "float32 [10, 4]"}
    says = watch_names(grows, plain).model.steps[0].says
    assert "float32 [5, 4]" in says and "float32 [10, 4]" in says
    called = watch_frames(grows, plain).model.steps[0].cards[-1]
    assert (called.function, called.names[0]) == ("grows", ("x", "float32 [5, 4]"))


def test_tensors_of_tensorflow_too_and_a_method_whose_object_is_gone(refused):
    tf = pytest.importorskip("tensorflow")
    from helpers import show_graph

    class Smoother:
        def __init__(self, mean):
            self.mean = mean

        @tf.function
        def update(self, x):
            return x * self.mean

    table = {"float32 [5, 4]": tf.ones((5, 4)), "string []": tf.constant("a")}
    table["Variable float32 [2]"] = tf.Variable([1.0, 2.0])
    assert {words: short_repr(value) for words, value in table.items()} == {w: w for w in table}
    kept = Smoother(0.5)
    with pytest.raises(ValueError):
        show_graph(Smoother(0.5).update, tf.ones(2))
    assert show_graph(kept.update, tf.ones(2)).model.nodes
    for verb in RUNS:
        words = rf"^{verb.__name__}: .*\bupdate\b"
        refused(TypeError, words, verb, Smoother(0.5).update, tf.ones(2))
        assert "tf.function" in verb(kept.update, tf.ones(2)).model.note


def test_places_are_those_of_the_file_and_a_cell_counts_its_own_lines(tmp_path, monkeypatch):
    source = "\n" * 1199 + "def late(a):\n    b = a\n    return b\n"
    (tmp_path / "path.py").write_text(source)
    for file, told in ((str(tmp_path / "path.py"), "path.py:1202"), ("<cell>", "line 3")):
        space = {}
        exec(compile(source, file, "exec"), space)
        exhibit = watch_names(space["late"], 1)
        assert told in exhibit.model.steps[-1].label
    exec(compile(source, str(tmp_path / "path.py"), "exec"), space)
    exhibit = watch_names(space["late"], 1)
    assert "▶ path.py:1201: " in repr(exhibit)
    assert "▶ 1201 " in exhibit._repr_mimebundle_()[0]["text/html"]
