"""The guards that a row names fail on the values of the call, each by itself, and no other does.

The judge evaluates torch's text of each guard as Python, and compares tensors in its own words.
"""

import contextlib
import math
import re
from collections import OrderedDict

import pytest

from helpers import watch_recompiles, watching_recompiles
from helpers.capture.torch import backend_failures, guard_failures, leaf_failures
from helpers.capture.torch.cache_entries import read_cache_entries
from helpers.capture.torch.frame_arguments import bind_frame_locals
from helpers.capture.torch.guard_leaves import list_leaf_guards
from helpers.capture.torch.guard_words import find_users_place, format_source

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
ones = torch.ones


def smooth(x, y, s):
    return torch.nn.functional.cross_entropy(x, y, label_smoothing=s)


def alias(x, y, s):
    return x + y * s


def parity(x, y):
    if x.shape[0] % 2 == 0:
        return x * 2
    return x + 1 if x.shape[0] > y.shape[0] * 2 else x * 3


def reshaped(x, y):
    return x.reshape(-1, 2) + y


def numbers(x, n, f):
    return x * n * f if n > 3 else x[:n] * f


def ranks(x):
    return x * 2 if x.shape[0] == x.shape[-1] else x + 1


def sliced(x, n):
    return x[n:] if x.shape[0] > n else x


LABELS, SAME = torch.tensor([0, 1, 1, 2]), ones(3)
PROGRAMS = {
    smooth: [
        (ones(4, 3), LABELS, 0.1),
        (ones(2, 3, requires_grad=True), LABELS[:2], 0.2),
        (torch.zeros(2, 2), LABELS[:2], 0.0),
        (torch.zeros(3, 2), LABELS[:3], 0.2),
    ],
    alias: [
        (ones(3), ones(3), 0.1),
        (SAME, SAME, 0.1),
        (ones(3), ones(3), 0.2),
        (SAME, SAME, 0.3),
        (ones(4), ones(4), 0.3),
    ],
    parity: [(ones(n), ones(m)) for n, m in ((4, 3), (6, 5), (7, 5), (40, 6), (41, 6), (41, 30))],
    reshaped: [(ones(n), ones(m, 2)) for n, m in ((4, 2), (6, 3), (6, 1), (8, 4), (2, 1))],
    ranks: [(ones(4, 4),), (ones(5, 5),), (ones(6, 7),), (ones(3),), (ones(2, 2, 2),)],
    numbers: [
        (ones(4), n, f)
        for n, f in ((2, 0.1), (3, 0.2), (5, 0.2), (7, 0.3), (1, math.nan), (True, 0.1))
    ],
    sliced: [(ones(4), 2), (ones(5), 3), (ones(3), 3), (ones(3), 7), (ones(6, 1), 1)],
}
OF_SEVERAL = "NO_TENSOR_ALIASING", "OBJECT_ALIASING"  # values: which one it hangs on is no matter
IN_CPP = pytest.param(True, marks=[pytest.mark.long, pytest.mark.needs("c-compiler")])
TENSOR = re.compile(r"torch\.(\w+), device=\w+, requires_grad=(\w+), size=\[(.*?)\]")


def holds(leaf, part, seen, space):
    """Return whether a part of a guard holds by its text; None if that is not Python of here."""
    text = part.split("  # ")[0].strip()
    if found := TENSOR.search(text):
        value = eval(leaf.source, {}, {"L": seen})
        asked = [size for size in found[3].split(", ") if size]
        return (
            torch.is_tensor(value)
            and (str(value.dtype), str(value.requires_grad)) == (f"torch.{found[1]}", found[2])
            and value.dim() == len(asked)
            and all(n in ("None", str(m)) for n, m in zip(asked, value.shape, strict=True))
        )
    if found := re.fullmatch(r"check_no_aliasing\((.*)\)", text):
        values = [eval(one, {}, {"L": seen}) for one in found[1].split(", ")]
        return len({*map(id, values)}) == len(values)
    try:
        return bool(eval(text, {"math": math, "__math_isnan": math.isnan}, {"L": seen, "G": space}))
    except (NameError, SyntaxError, IndexError):  # or of a dimension that is not there
        return None


def expected(entry, seen, space):
    """Return (kind, text) of each guard that fails; of checks of sizes, of each by itself."""
    found, scope = set(), {"L": seen}
    for leaf in list_leaf_guards(entry):
        failed = [part for part in leaf.parts if holds(leaf, part, seen, space) is False]
        if leaf.kind in leaf_failures.SIZE_KINDS:
            texts = [format_source(part.split("  # ")[0].strip()) for part in failed]
            found |= {("SHAPE_ENV", text) for text in texts}
        elif failed or (leaf.kind == "TYPE_MATCH" and not leaf.check(eval(leaf.source, scope))):
            source = "" if leaf.kind in OF_SEVERAL else format_source(leaf.source)
            found.add((leaf.kind, source))
    return found


def named(failures):
    """Return the same of what a verb says."""
    return {
        ("SHAPE_ENV", one.checks)
        if one.kind in leaf_failures.SIZE_KINDS
        else (one.kind, "" if one.kind in OF_SEVERAL else one.source)
        for one in failures
    }


@pytest.mark.parametrize("in_cpp", [False, IN_CPP])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_named_guards_are_those_that_fail(fn, in_cpp):
    torch._dynamo.reset()
    with torch._dynamo.config.patch(enable_cpp_symbolic_shape_guards=in_cpp):
        live, recompiles = watch_recompiles(fn), 0
        for args in PROGRAMS[fn]:
            start = live.compiled_function
            seen = bind_frame_locals(start, args, {})
            kept = read_cache_entries(start.__code__)
            refuse = not any(e.guard_manager.root.check_verbose(seen).result for e in kept)
            if kept and refuse:
                told = guard_failures.list_failures(kept, fn.__globals__, seen)
                for entry, failures in zip(kept, told, strict=True):
                    assert named(failures) == expected(entry, seen, fn.__globals__)
                recompiles += 1
            live(*args)
            assert "unknown" not in live.model.entries[-1].note
    assert recompiles >= 3


def total(x, d):
    for name in d:
        x = x + d[name]
    return x


def nested(x, d):
    for name in d:
        for value in d[name].values():
            x = x * value
    return x


def keyed_by_objects(x, d):
    return x * len([*d])


def of_kwargs(x, **d):
    return x * sum(d.values())


AB, ABC = {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0, "c": 3.0}
OBJECTS = [object(), object(), object()]
OF_DICTS = {  # function -> the dicts of its calls
    total: [AB, ABC, OrderedDict(AB), {}, OrderedDict(ABC)],
    nested: [{"in": AB}, {"in": ABC}, {"in": AB, "out": ABC}, {"in": OrderedDict(AB)}, {"in": {}}],
    keyed_by_objects: [dict.fromkeys(OBJECTS[:n]) for n in (3, 1, 2, 0)],
    of_kwargs: [AB, ABC, {"a": 1.0}, {}],
}
SHAPES = (3,), (4, 4), (2, 2, 2), (2,), (2, 2, 2, 2)


def differing_dicts(name, then, now, below=True):
    """Return (source, kind) of each dict of another type or length; those in such a one `below`."""
    found, same_type = set(), type(then) is type(now)
    if not same_type or len(then) != len(now):
        found = {(name, "LENGTH_CHECK" if same_type else "TYPE_MATCH")}
    for key in then.keys() & now.keys() if below or not found else ():
        if isinstance(then[key], dict):
            found |= differing_dicts(f"{name}['{key}']", then[key], now[key], below)
    return found


@pytest.mark.parametrize("in_no_grad", [False, True], ids=["alike", "no-grad"])
@pytest.mark.parametrize("fn", OF_DICTS, ids=lambda fn: fn.__name__)
def test_a_dict_of_another_size_is_named_among_other_causes(fn, in_no_grad):
    torch._dynamo.reset()
    live, made = watch_recompiles(fn), []
    for number, (shape, d) in enumerate(zip(SHAPES, OF_DICTS[fn], strict=False)):
        x, kwargs = ones(shape), d if fn is of_kwargs else {}
        args = (x,) if kwargs or fn is of_kwargs else (x, d)
        with torch.set_grad_enabled(not (in_no_grad and number % 2)):
            seen = bind_frame_locals(live.compiled_function, args, kwargs)
            kept = read_cache_entries(live.compiled_function.__code__)
            told = guard_failures.list_failures(kept, fn.__globals__, seen)
            live(*args, **kwargs)
        for then, failures in zip(made, told, strict=True):
            kinds = "LENGTH_CHECK", "TYPE_MATCH"
            unsure = {one.source for one in failures if "unknown" in one.checks}
            found = {(one.source, one.kind) for one in failures if one.kind in kinds}
            must = differing_dicts("d", then, d, below=False)
            assert {pair for pair in must if pair[0] not in unsure} <= found
            assert found <= differing_dicts("d", then, d)
            assert not unsure or in_no_grad
            assert any("mismatch" in one.checks for one in failures)
        if len(read_cache_entries(live.compiled_function.__code__)) > len(made):
            made.append(d)  # else there was no tensor op
    assert "unknown" not in str(live) or in_no_grad


class EqualBackend:
    def __init__(self):
        self.asked = 0

    def __eq__(self, other):
        self.asked += 1
        return False

    __hash__ = None

    def __call__(self, graph, inputs):
        return graph.forward


def test_another_backend_is_named_among_other_causes():
    torch._dynamo.reset()
    ways = [torch.compile(total, backend=name) for name in ("eager", "aot_eager", "eager")]
    with watching_recompiles() as seen:
        for way, shape, d in zip(ways, ((3,), (3,), (4, 4)), (AB, AB, ABC), strict=True):
            way(ones(shape), d)
    first, second, third = (row.note for row in seen.model.entries)
    assert "backend" not in first
    assert second.startswith(backend_failures.ONLY_BACKEND)
    assert re.findall(rf"entry (\d): {backend_failures.OTHER_BACKEND}", third) == ["2"]
    assert re.search(r"\bd is [^(]*\b3 \([^)]*\b2\)", third.replace("\n", " "))


def test_a_backend_that_says_itself_what_equals_it_is_not_asked():
    asked = []
    for watch in (contextlib.nullcontext, watching_recompiles):
        torch._dynamo.reset()
        backends = EqualBackend(), EqualBackend()
        with watch() as seen:
            for backend, shape in zip(backends, ((3,), (4, 4)), strict=True):
                torch.compile(total, backend=backend)(ones(shape), AB)
        asked.append([backend.asked for backend in backends])
    assert asked[0] == asked[1]
    assert backend_failures.UNKNOWN_BACKEND in seen.model.entries[1].note


def test_float_that_a_size_guard_holds_is_named_and_a_size_that_holds_is_not():
    torch._dynamo.reset()
    compiled = torch.compile(smooth, backend="eager")
    with watching_recompiles() as seen:
        for args in PROGRAMS[smooth][:3]:
            compiled(*args)
    (last,) = re.findall(r"entry 2: (.*)", seen.model.entries[2].note)
    assert "requires_grad mismatch" in last and "s is 0.0" in last and "s == 0.2" in last
    assert "y.size()[0]" not in last


def test_check_that_cannot_be_evaluated_is_unknown(monkeypatch):
    torch._dynamo.reset()
    live = watch_recompiles(numbers)
    for args in PROGRAMS[numbers][:2]:
        live(*args)
    monkeypatch.setattr(leaf_failures, "evaluate_check", lambda part, scope: None)
    live(ones(4), 9, 0.2)
    _, unknown = live.model.entries[-1].note.split(leaf_failures.NOT_EVALUATED)
    assert "n is 9" not in unknown


def test_a_dynamic_entry_says_each_check_of_its_sizes():
    watched = watch_recompiles(torch.compile(parity, backend="eager"))
    for sizes in (4, 3), (6, 5), (7, 5):
        watched(*map(ones, sizes))
    first, second = (row.note.split("dynamic")[1] for row in watched.model.entries[1:])
    assert "(x.size()[0] % 2) == 0" in first.replace("\n", " ")
    assert "(x.size()[0] % 2) == 1" in second or "% 2) != 0" in second


@pytest.mark.parametrize(
    ("file", "place"), [("/x/ipykernel_1/23.py", ""), ("/a/b/my.py", "my.py:2")]
)
def test_the_place_of_a_guard_is_the_users_and_not_torchs(file, place):
    behind = f"  # def f(x): ...  # {file}:2 in f (_dynamo/variables/tensor.py:26 in evaluate_expr)"
    assert find_users_place([f"(L['x'].size()[0] % 2) == 0{behind}"]) == place
