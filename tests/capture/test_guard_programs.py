"""Guards written as Python answer as torch's own tree, on calls that are drawn."""

import collections
import contextlib
import enum
import functools
import random

import pytest

from helpers import guard_function, show_guards
from helpers.capture.torch.cache_entries import accepts, behind, entries, frame_locals
from helpers.capture.torch.guard_program import WrittenGuards

pytestmark = pytest.mark.own_process(sharing="torch")
torch = pytest.importorskip("torch")

RATE, SHELF = 1.5, {"one": [1, 2], "two": {"three": 3}}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Point:
    def __init__(self, size=2, scale=1.5):
        self.scale, self.spot = scale, torch.ones(size)


class Slotted:
    __slots__ = ("size",)

    def __init__(self, size=2):
        self.size = size


class Level(enum.IntEnum):
    LOW = 2


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


def kinds(x, dtype, device, number, nothing, flag, pair):
    y = x.to(dtype).to(device) * (1 if number != number else 2)
    return y if nothing is None and flag else y + pair[0]


def arrays(x, array):
    return x + torch.as_tensor(array)


def closed(size=3):
    counts = [1, 2]

    def inner(x, scale=2.5, *, tag="q"):
        return x * size + counts[0] + scale + len(tag)

    return inner


def asked(x, thing):
    return x + 1 if hasattr(thing, "scale") else x + 2


def keyed(x, space):
    return x + 1 if "q" in space else x + 2


def keys_in_order(x, space):
    for name, value in space.items():
        x = x + len(name) + value
    return x


def summed(x, y):
    return x + y


def stepped(x, given):
    return x + next(given)


def called(x, fn):
    return fn(x)


def shadowing(x, type, len, ids, torch):
    return x * type + len + ids + torch


def several(*tensors, **options):
    return sum(tensors) * options.get("scale", 1)


def even(x):
    return x + 1 if x.shape[0] % 2 == 0 else x


x = torch.ones(3)
wide = torch.arange(12.0).reshape(3, 4)
parameter = torch.nn.Parameter(torch.ones(3))
layer, hooked = Layer(), Layer(hook=doubled)
# name -> function, the calls that compile it; the calls that are asked change one or two arguments.
PROGRAMS = {
    "numbers": (numbers, [(x, 2, ["a", "b"])]),
    "two entries": (numbers, [(x, 2, ["a", "b"]), (x.double(), 3, ("a",))]),
    "nested": (nested, [(x, {"k": 2, "z": [1, 2]}, doubled)]),
    "objects": (objects, [(x, Point(), Colour.RED)]),
    "sizes": (sizes, [(x, 2), (torch.ones(5), 2), (torch.ones(5), 3)]),
    "kinds": (
        kinds,
        [(x, torch.float64, torch.device("cpu"), float("nan"), None, True, (3, "q"))],
    ),
    "arrays": (arrays, [(x, x.numpy())]),
    "closed": (closed(), [(x,)]),
    "asked": (asked, [(x, Slotted())]),
    "keyed": (keyed, [(x, {"a": 1, 3: 2})]),
    "an ordered dict": (keyed, [(x, collections.OrderedDict(a=1))]),
    "keys in order": (keys_in_order, [(x, {"a": 1, "bb": 2})]),
    "two tensors": (summed, [(x, x + 1)]),
    "one tensor twice": (summed, [(x, x)]),
    "wanting gradients": (summed, [(torch.ones(3, requires_grad=True), parameter)]),
    "an iterator": (stepped, [(x, iter((1, 2)))]),
    "a partial": (called, [(x, functools.partial(torch.add, other=2))]),
    "a function of torch": (called, [(x, torch.sin)]),
    "a module": (called, [(x, layer)]),
    "a module with a hook": (called, [(x, hooked)]),
    "names of builtins": (shadowing, [(x, 1, 2.0, 3, 4)]),
    "any arguments": (several, [(x, x + 1)]),
    "strides": (summed, [(wide, wide.t().contiguous().t()), (torch.ones(4, 5), torch.ones(4, 5))]),
    "a divided size": (even, [(torch.ones(4),), (torch.ones(6),)]),
    "meta": (summed, [(torch.ones(3, device="meta"), 2)]),
    "an enum of ints": (numbers, [(x, Level.LOW, ["a"])]),
}
POOL = (
    *(lambda: torch.ones(3), lambda: torch.zeros(3), lambda: torch.ones(4), lambda: torch.ones(6)),
    *(lambda: torch.ones(3, 1), lambda: torch.ones(()), lambda: torch.ones(0), lambda: wide.t()),
    *(lambda: torch.ones(3).double(), lambda: torch.ones(3).half(), lambda: torch.ones(3).long()),
    *(lambda: torch.ones(3, device="meta"), lambda: torch.ones(6)[::2], lambda: parameter),
    *(lambda: torch.ones(3, requires_grad=True), lambda: torch.ones(3, dtype=torch.complex64)),
    *(lambda: torch.ones(3).to_sparse(), lambda: torch.ones(3).conj(), lambda: wide),
    *(lambda: 2, lambda: 3, lambda: True, lambda: False, lambda: 2.0, lambda: 0.0, lambda: None),
    *(lambda: float("nan"), lambda: 1, lambda: "a", lambda: "q", lambda: 2 + 0j, lambda: Level.LOW),
    *(lambda: ["a", "b"], lambda: ["c", "d"], lambda: ["a"], lambda: ("a", "b"), lambda: ()),
    *(lambda: {"k": 2, "z": [1, 2]}, lambda: {"k": 3, "z": [1, 2]}, lambda: {"k": 2}),
    *(lambda: {"a": 1, "bb": 2}, lambda: {"bb": 2, "a": 1}, lambda: {"a": 1}, lambda: {"q": 1}),
    *(lambda: collections.OrderedDict(a=1), lambda: collections.OrderedDict(q=1), dict),
    *(lambda: doubled, lambda: torch.sin, lambda: torch.cos, lambda: len, lambda: layer),
    *(lambda: hooked, Layer, lambda: Layer(scale=3), lambda: Layer(hook=doubled)),
    *(lambda: functools.partial(torch.add, other=2), lambda: functools.partial(torch.add, other=3)),
    *(Point, lambda: Point(3), lambda: Point(scale=2), Slotted, lambda: Colour.RED),
    *(lambda: Colour.BLUE, lambda: torch.float64, lambda: torch.float32, lambda: (3, "q")),
    *(lambda: torch.device("cpu"), lambda: torch.device("meta"), lambda: (3, "z"), lambda: (4, 1)),
    *(lambda: iter((1, 2)), lambda: iter((1, 3)), lambda: iter([1, 2]), lambda: range(3)),
    *(lambda: torch.ones(3).numpy(), lambda: torch.ones(4).numpy(), lambda: [1.0]),
)
WORLDS = (
    contextlib.nullcontext,
    torch.no_grad,
    torch.inference_mode,
    lambda: torch.autocast("cpu", torch.bfloat16),
    lambda: torch.device("meta"),
    lambda: torch.autograd.graph.save_on_cpu(),
)


def compiled(fn, calls):
    torch._dynamo.reset()
    made = torch.compile(fn, backend="eager")
    for args in calls:
        made(*args)
    return behind(made)[0]


def drawn(rng, calls):
    """A call like one of those that were compiled, with up to two arguments from the pool."""
    args = [iter((1, 2)) if type(each) is type(iter(())) else each for each in rng.choice(calls)]
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
    for entry, kept in enumerate(entries(fn.__code__), 1):
        written, rng, answers = WrittenGuards(fn, entry), random.Random(entry), []
        for world in WORLDS:
            for _ in range(80 if world is WORLDS[0] else 12):
                args = drawn(rng, calls)
                with world():
                    real = accepts(kept, frame_locals(fn, args, {}))
                    answers.append((written.function(*args), real))
                assert answers[-1][0] is real, (world, args, written.source)
        assert {real for _, real in answers} == {True, False}


def shown(fn, call, entry=1):
    return show_guards(fn, call=call, entry=entry).model


def test_source_runs_again_with_the_names_of_the_function():
    fn = compiled(numbers, [(x, 2, ["a", "b"])])
    holds, space = guard_function(fn), {}
    program = shown(fn, (x, 2, ["c", "d"]))
    space.update(holds.__globals__)
    del space["holds"]
    exec(program.source, space)
    assert program.accepts is program.torch_accepts is True and program.refused_by is None
    assert space["holds"](x, 2, ["c", "d"]) is True
    assert space["holds"](x, 3, ["c", "d"]) is False


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
    assert program.refused_by.python == line
    assert program.accepts is program.torch_accepts is False
    after = program.rows[program.rows.index(program.refused_by) + 1 :]
    assert {row.asked for row in after} == {"not asked"}


def test_changed_global_is_seen(monkeypatch):
    fn = compiled(numbers, [(x, 2, ["a", "b"])])
    holds = guard_function(fn)
    monkeypatch.setitem(globals(), "RATE", 2.5)
    assert not holds(x, 2, ["a", "b"])
    assert shown(fn, (x, 2, ["a", "b"])).refused_by.python == "G['RATE'] == 1.5"


def test_what_exists_in_cpp_alone_is_said_and_asked():
    program = shown(compiled(numbers, [(x, 2, ["a", "b"])]), {"x": x, "n": 2, "names": ["a", "b"]})
    asking = {row.kind for row in program.rows if not row.own}
    assert asking == {"LAMBDA_GUARD", "GLOBAL_STATE", "TORCH_FUNCTION_MODE_STACK"}
    assert all("in_cpp" in row.python for row in program.rows if not row.own)
    with torch.no_grad():
        refused = shown(compiled_again := behind(numbers)[0], (x, 2, ["a", "b"])).refused_by
    assert compiled_again is numbers and refused.kind == "GLOBAL_STATE"


def test_text_is_the_same_twice_and_has_no_numbers_that_change():
    texts = set()
    for _ in range(2):
        fn = compiled(nested, PROGRAMS["nested"][1])
        program = shown(fn, PROGRAMS["nested"][1][0])
        texts.add((program.source, str(program.rows)))
        assert not any(str(number) in program.source for number in WrittenGuards(fn).names.ids)
    assert len(texts) == 1


def test_each_entry_has_its_own_function():
    fn = compiled(numbers, PROGRAMS["two entries"][1])
    first, second = (guard_function(fn, entry) for entry in (1, 2))
    calls = PROGRAMS["two entries"][1]
    assert [(first(*call), second(*call)) for call in calls] == [(True, False), (False, True)]


def test_defaults_are_those_of_the_function():
    holds = guard_function(compiled(closed(), [(x,)]))
    assert holds(x) and holds(x, 2.5, tag="q") and not holds(x, 3.5)


@pytest.mark.parametrize(
    ("call", "entry", "error", "words"),
    [
        (5, 1, TypeError, "call is a tuple"),
        ((x,), 1, TypeError, "cannot be called with these: missing a required argument"),
        ({3: x}, 1, TypeError, "call is a tuple"),
        ((x, 2, ["a"]), 2, ValueError, "entry"),
        ((x, 2, ["a"]), "1", TypeError, "entry"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, entry, error, words):
    fn = compiled(numbers, [(x, 2, ["a", "b"])])
    with pytest.raises(error, match=words):
        show_guards(fn, call=call, entry=entry)


def test_function_that_was_not_compiled_has_none():
    torch._dynamo.reset()
    with pytest.raises(LookupError, match="no compiled code"):
        guard_function(even)


def test_constant_of_the_learners_is_escaped():
    fn = behind(torch.compile(closed(), backend="eager"))[0]
    torch.compile(fn, backend="eager")(x, tag="<b>")
    exhibit = show_guards(fn, call={"x": x, "tag": "<b>"})
    assert "tag == '<b>'" in str(exhibit) and exhibit.model.accepts
    bundle, _ = exhibit._repr_mimebundle_()
    assert "&lt;b&gt;" in bundle["text/html"] and "<b>" not in bundle["text/html"]


def test_error_in_torchs_own_tree_is_told():
    fn = compiled(even, [(torch.ones(4),)])
    nested_tensor = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    program = shown(fn, (nested_tensor,))
    assert program.accepts is False and program.torch_accepts is None
    assert "raises an error" in program.note
