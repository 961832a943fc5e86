"""Guards written as Python answer as torch's own tree, on calls that are drawn."""

import contextlib
import enum
import functools
import inspect
import random

import pytest

from helpers import guard_function, show_guards, watch_guard_sets, watch_recompiles
from helpers.capture.torch.cache_entries import read_cache_entries
from helpers.capture.torch.compiled_function import find_compiled_function
from helpers.capture.torch.frame_arguments import bind_frame_locals
from helpers.capture.torch.written_guards import WrittenGuards

pytestmark = pytest.mark.own_process(sharing="torch")
torch = pytest.importorskip("torch")

RATE, SHELF = 1.5, {"one": [1, 2], "two": {"three": 3}}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Point:
    def __init__(self, size=2, scale=1.5):
        self.scale, self.spot = scale, torch.ones(size)


class Layer(torch.nn.Module):
    def __init__(self, width=3, hook=None, scale=2):
        super().__init__()
        self.inner, self.scale = torch.nn.Linear(3, width), scale
        if hook:
            self.inner.register_forward_hook(hook)

    def forward(self, x):
        return self.inner(x) * self.scale


def doubled(*given):
    return given[-1] * 2


def numbers(x, n, names):
    return x * n + RATE * len(names)


def nested(x, options, fn):
    return fn(x) * options["k"] + options["z"][0] + SHELF["one"][1] + SHELF["two"]["three"]


def objects(x, point, colour):
    return x * point.scale + point.spot.sum() if colour is Colour.RED else x


def sizes(x, n):
    return x * n if x.shape[0] * 2 > 4 else x


def closed(size=3):
    counts = [1, 2]

    def inner(x, scale=2.5, *, tag="q"):
        return x * size + counts[0] + scale + len(tag)

    return inner


def summed(x, y):
    return x + y


def called(x, fn):
    return fn(x)


x = torch.ones(3)
wide = torch.arange(12.0).reshape(3, 4)
parameter = torch.nn.Parameter(torch.ones(3))
layer, hooked = Layer(), Layer(hook=doubled)
# name -> function, the calls that compile it; the calls that are asked change one or two arguments.
PROGRAMS = {
    "two entries": (numbers, [(x, 2, ["a", "b"]), (x.double(), 3, ("a",))]),
    "nested": (nested, [(x, {"k": 2, "z": [1, 2]}, doubled)]),
    "objects": (objects, [(x, Point(), Colour.RED)]),
    "sizes": (sizes, [(x, 2), (torch.ones(5), 2), (torch.ones(5), 3)]),
    "closed": (closed(), [(x,)]),
    "two tensors": (summed, [(x, x + 1)]),
    "one tensor twice": (summed, [(x, x)]),
    "wanting gradients": (summed, [(torch.ones(3, requires_grad=True), parameter)]),
    "a function of torch": (called, [(x, torch.sin)]),
    "a module": (called, [(x, layer)]),
    "a module with a hook": (called, [(x, hooked)]),
    "strides": (summed, [(wide, wide.t().contiguous().t()), (torch.ones(4, 5), torch.ones(4, 5))]),
}
POOL = (
    *(lambda: torch.ones(3), lambda: torch.zeros(3), lambda: torch.ones(4), lambda: torch.ones(6)),
    *(lambda: torch.ones(3, 1), lambda: torch.ones(()), lambda: torch.ones(0), lambda: wide.t()),
    *(lambda: torch.ones(3).double(), lambda: torch.ones(3).half(), lambda: torch.ones(3).long()),
    *(lambda: torch.ones(3, device="meta"), lambda: torch.ones(6)[::2], lambda: parameter),
    *(lambda: torch.ones(3, requires_grad=True), lambda: torch.ones(3, dtype=torch.complex64)),
    *(lambda: 2, lambda: 3, lambda: True, lambda: False, lambda: 2.0, lambda: 0.0, lambda: None),
    *(lambda: float("nan"), lambda: 1, lambda: "a", lambda: "q", lambda: 2 + 0j, lambda: wide),
    *(lambda: ["a", "b"], lambda: ["c", "d"], lambda: ["a"], lambda: ("a", "b"), lambda: ()),
    *(lambda: {"k": 2, "z": [1, 2]}, lambda: {"k": 3, "z": [1, 2]}, lambda: {"k": 2}),
    *(lambda: doubled, lambda: torch.sin, lambda: torch.cos, lambda: len, lambda: layer),
    *(lambda: hooked, Layer, lambda: Layer(scale=3), lambda: Layer(hook=doubled)),
    *(Point, lambda: Point(3), lambda: Point(scale=2), lambda: Colour.RED, lambda: Colour.BLUE),
)
WORLDS = (
    contextlib.nullcontext,
    torch.no_grad,
    lambda: torch.autocast("cpu", torch.bfloat16),
    lambda: torch.autograd.graph.save_on_cpu(),
)


def compiled(fn, calls):
    torch._dynamo.reset()
    made = torch.compile(fn, backend="eager")
    for args in calls:
        made(*args)
    return find_compiled_function(made)[0]


def drawn(rng, calls):
    """A call like one of those that were compiled, with up to two arguments from the pool."""
    args = list(rng.choice(calls))
    for at in rng.sample(range(len(args)), min(len(args), rng.choice((0, 1, 1, 1, 2)))):
        args[at] = rng.choice((*args, rng.choice(POOL)()))
    return args


@pytest.fixture(params=PROGRAMS)
def program(request):
    fn, calls = PROGRAMS[request.param]
    yield compiled(fn, calls), calls
    torch._dynamo.reset()


def test_python_answers_as_the_real_tree(program):
    fn, calls = program
    for entry, kept in enumerate(read_cache_entries(fn.__code__), 1):
        written, rng, answers = WrittenGuards(fn, entry), random.Random(entry), []
        for world in WORLDS:
            for _ in range(80 if world is WORLDS[0] else 12):
                args = drawn(rng, calls)
                with world():
                    real = kept.guard_manager.root.check(bind_frame_locals(fn, args, {}))
                    answers.append((written.function(*args), real))
                assert answers[-1][0] is real, (world, args, written.source)
        assert {real for _, real in answers} == {True, False}


def shown(fn, call, entry=1):
    return show_guards(fn, call=call, entry=entry).model


REFUSED = {
    "n == 2": (x, 3, ["a", "b"]),
    "type(n) is int": (x, 2.0, ["a", "b"]),
    "x.dtype == torch.float32": (x.half(), 2, ["a", "b"]),
    "x.shape == (3,)": (torch.ones(4), 2, ["a", "b"]),
    "x.requires_grad is False": (torch.ones(3, requires_grad=True), 2, ["a", "b"]),
    "type(names) is list": (x, 2, ("a", "b")),
    "len(names) == 2": (x, 2, ["a"]),
}


@pytest.mark.parametrize("line", REFUSED)
def test_line_that_refuses_is_named(line):
    fn = compiled(numbers, [(x, 2, ["a", "b"])])
    program = shown(fn, REFUSED[line])
    [at] = [n for n, row in enumerate(program.rows) if row.asked == "refuses"]
    assert program.rows[at].python == line
    assert program.accepts is program.torch_accepts is False
    assert {row.asked for row in program.rows[at + 1 :]} == {"not checked"}


def test_what_exists_in_cpp_alone_is_said_and_asked():
    program = shown(compiled(numbers, [(x, 2, ["a", "b"])]), {"x": x, "n": 2, "names": ["a", "b"]})
    asking = {row.kind for row in program.rows if row.written != "Python"}
    assert asking == {"LAMBDA_GUARD", "GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK"}
    assert all("in_cpp" in row.python for row in program.rows if row.written != "Python")
    with torch.no_grad():
        rows = shown(numbers, (x, 2, ["a", "b"])).rows
    assert [row.kind for row in rows if row.asked == "refuses"] == ["GLOBAL_STATE"]


def test_text_is_the_same_twice():
    texts = set()
    for _ in range(2):
        program = shown(compiled(nested, PROGRAMS["nested"][1]), PROGRAMS["nested"][1][0])
        texts.add((program.source, str(program.rows)))
    assert len(texts) == 1


def test_defaults_are_those_of_the_function():
    holds = guard_function(compiled(closed(), [(x,)]))
    assert holds(x) and holds(x, 2.5, tag="q") and not holds(x, 3.5)


@pytest.mark.parametrize(
    ("call", "entry", "error", "words"),
    [
        (5, 1, TypeError, "call is a tuple"),
        ((x,), 1, TypeError, "cannot be called with these: missing a required argument"),
        ((x, 2, ["a"]), 2, ValueError, "entry"),
        ((x, 2, ["a"]), "1", TypeError, "entry"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, entry, error, words, refused):
    fn = compiled(numbers, [(x, 2, ["a", "b"])])
    refused(error, words, show_guards, fn, call=call, entry=entry)


def test_argument_with_a_name_that_the_guards_use_is_told(refused):
    def shadowing(x, type):
        return x * type

    fn = compiled(shadowing, [(x, 1)])
    refused(ValueError, "type is a name that they use; rename the argument", guard_function, fn)


class _Layer(torch.nn.Module):
    def forward(self, x, *, scale=1.0):
        return x.relu() * scale


class _Engine:
    @torch.compile(backend="eager")
    def run(self, x):
        return x * 2


def _compiled_in_place():
    layer = _Layer()
    layer.compile(backend="eager")
    return layer


OWNERS = {
    "module": lambda: torch.compile(_Layer(), backend="eager"),
    "module compiled in place": _compiled_in_place,
    "ledger of a module": lambda: watch_recompiles(_Layer()),
    "method": lambda: _Engine().run,
    "partial": lambda: functools.partial(torch.compile(lambda n, x: x * n, backend="eager"), 3),
    "keywords of a partial": lambda: functools.partial(
        torch.compile(lambda x, *, n: x * n, backend="eager"), n=3
    ),
}


@pytest.mark.parametrize("owner", OWNERS)
def test_the_function_has_the_arguments_of_what_is_called(owner):
    torch._dynamo.reset()
    program = OWNERS[owner]()
    program(x)
    holds = guard_function(program)
    assert holds(x) and holds(x=x) and not holds(x.double())
    assert holds.__name__ in ("forward", "run", "<lambda>")
    with pytest.raises(TypeError, match=rf"^{holds.__name__}\(\) missing .*'x'"):
        holds()
    assert "self" not in inspect.signature(holds).parameters
    assert not watch_guard_sets(program, x, guard_sets={"mine": holds}).model.entries
