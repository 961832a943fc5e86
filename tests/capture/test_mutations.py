"""The mutation ledger sees what a body changed, and runs every way on fresh copies."""

from collections import deque, namedtuple
from functools import partial, wraps
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.capture.tensorflow.mutations import fresh, mutations_ledger


class Plain:
    def __init__(self, items):
        self.items = items


class Slotted:
    __slots__ = ("items",)


class Derived(Plain):
    def add(self, item):
        self.items.append(item)

    __call__ = add


class Several(list):
    pass


def as_it_is(fn):
    return fn


def test_fresh_copies_hold_the_same_leaves_and_share_no_container():
    leaf, box = object(), Plain([1])
    value = [{"a": [leaf, (leaf, {leaf})], "b": box}, box]
    twin = fresh(value)
    assert twin[0]["a"][0] is leaf and twin[0]["b"] is twin[1] is not box
    twin[1].items.append(1)
    assert box.items == [1] and fresh([Slotted]) == [Slotted]


def test_the_callers_own_arguments_are_never_touched():
    mine = [1]
    ledger = mutations_ledger({"append": (lambda x: x.append(2), mine)}, {"plain": as_it_is})
    assert mine == [1] and ledger.word("append") == "no error; caller's changed"


def test_an_error_is_said_in_the_row():
    ledger = mutations_ledger({"bad": (lambda x: 1 / 0, [])}, {"plain": as_it_is})
    assert ledger.word("bad") == "ZeroDivisionError; caller's unchanged"
    assert ledger.entries[0].note == "ZeroDivisionError: division by zero"


def test_an_empty_cell_and_a_builtin_have_nothing_to_change():
    def outer():
        def inner(x):
            return later

        if False:
            later = 1
        return inner

    ledger = mutations_ledger({"cell": (outer(), 1), "builtin": (len, [])}, {"plain": as_it_is})
    assert ledger.word("cell") == "NameError; caller's unchanged"
    assert ledger.word("builtin") == "no error; caller's unchanged"


@pytest.mark.parametrize(
    ("cases", "ways", "words"),
    [({"five": 5}, None, "case 'five' must be"), ({}, {"six": 6}, "way 'six' must be")],
)
def test_what_cannot_be_called_is_named(cases, ways, words):
    pytest.importorskip("tensorflow")
    with pytest.raises(TypeError, match=words):
        mutations_ledger(cases, ways)


def put(holder, key, value):
    setattr(holder, key, value) if isinstance(holder, Slotted) else holder.__setitem__(key, value)


def counting(x):
    counting.calls = getattr(counting, "calls", 0) + 1


def append(x, kept):
    kept.append(x)


@pytest.mark.parametrize(
    "case",
    [
        (Derived.add, Derived([]), 1),
        (Derived([]).add, 1),
        (Derived([]), 1),
        ([].append, 1),
        (partial(append, kept=[]), 1),
        (counting, 1),
    ],
)
def test_what_a_body_reaches_by_its_function_is_compared(case):
    ledger = mutations_ledger({"case": case}, {"plain": as_it_is})
    assert ledger.word("case") == "no error; caller's changed"


Pair = namedtuple("Pair", "items")


@pytest.mark.parametrize(
    ("change", "held"),
    [
        (next, iter([1, 2])),
        (next, (n for n in range(3))),
        (lambda o: setattr(o, "v", 9), SimpleNamespace(v=1)),
        (lambda o: o.random(), Random(1)),
        (lambda o: o.__setitem__(0, 1), np.zeros(2)),
        (lambda o: o.append(1), deque([0])),
        (lambda o: o.append(1), Several([0])),
        (lambda o: setattr(o, "items", 1), Slotted()),
    ],
)
def test_what_was_changed_unseen_is_not_called_unchanged(change, held):
    ledger = mutations_ledger({"case": (change, held)}, {"plain": as_it_is})
    assert ledger.word("case") == "no error; not known what changed"
    assert ledger.entries[0].note.startswith("neither copied nor compared: ")


@pytest.mark.parametrize(
    "fixed", [range(3), slice(1), np.float32(1), Pair(1), len, (1, ("a", None))]
)
def test_what_cannot_be_changed_is_unchanged(fixed):
    ledger = mutations_ledger({"case": (lambda x: np.add(1, 1), fixed)}, {"plain": as_it_is})
    assert (ledger.word("case"), ledger.entries[0].note) == ("no error; caller's unchanged", "")


class Model:
    scale = 1
    sizes = []

    def grow(self):
        type(self).scale = 3


number, settings, gone = 0, {}, 0


@pytest.fixture
def as_at_first():
    settings.clear()
    Model.sizes.clear()


def count(x):
    global number
    number += 1


def forget(x):
    global gone
    del gone


def wrapping(fn):
    @wraps(fn)
    def wrapper(*args):
        return fn(*args)

    return wrapper


def closing():
    held = 0

    def body(x):
        nonlocal held
        held = 1

    return body


def kept(x):
    settings["a"] = 1


OUTSIDE = {
    "a class by its name": ((lambda x: setattr(Model, "scale", 2), 1), "rebound: Model.scale"),
    "a class that is an argument": ((lambda c: setattr(c, "x", 2), Model), "rebound: Model.x"),
    "the class of an argument": ((Model.grow, Model()), "rebound: Model.scale"),
    "the class of an item": ((lambda a: a[0].grow(), [Model()]), "rebound: Model.scale"),
    "what a class holds": ((lambda x: Model.sizes.append(1), 1), ""),
    "a global": ((count, 1), "rebound: number"),
    "a global that a helper rebinds": ((lambda x: count(x), 1), "rebound: number"),
    "a global that goes": ((forget, 1), "rebound: gone"),
    "a variable of a closure": ((closing(), 1), "rebound: held"),
    "a global of what is wrapped": ((wrapping(count), 1), "rebound: number"),
    "what a helper changes": ((lambda x: kept(x), 1), ""),
    "what a wrapped function changes": ((wrapping(kept), 1), ""),
    "what a global holds": ((kept, 1), ""),
}


@pytest.mark.usefixtures("as_at_first")
@pytest.mark.parametrize(("case", "note"), OUTSIDE.values(), ids=OUTSIDE)
def test_what_is_changed_or_rebound_beside_the_arguments_is_told_each_time(case, note):
    ledger = mutations_ledger({"case": case, "again": case}, {"one": as_it_is, "two": as_it_is})
    for entry in ledger.entries:
        assert [verdict.word for verdict in entry.verdicts] == ["no error; caller's changed"] * 2
        assert entry.note == note
    assert (number, gone, Model.scale) == (0, 0, 1) and "x" not in vars(Model)


def test_what_is_rebound_is_told_under_tensorflow_too():
    pytest.importorskip("tensorflow")

    def leak(x):
        global number
        number = x * 2

    cases = {name: OUTSIDE[name][0] for name in ("a global", "the class of an argument")}
    ledger = mutations_ledger({**cases, "leak": (leak, 1.0), "kept": (lambda x: number, 1)})
    words = [entry.verdicts[1].word for entry in ledger.entries]
    assert words == ["no error; caller's changed"] * 3 + ["no error; caller's unchanged"]


def test_a_global_that_somebody_else_writes_meanwhile_is_not_put_back():
    space = {"mine": 0, "theirs": 0}
    exec("def body(write):\n global mine\n mine = 1\n write()", space)
    write = partial(space.__setitem__, "theirs", 2)  # as a thread may do
    ledger = mutations_ledger({"case": (space["body"], write)}, {"plain": as_it_is})
    assert ledger.entries[0].note.startswith("rebound: mine, theirs")
    assert (space["mine"], space["theirs"]) == (0, 2)


@pytest.mark.usefixtures("as_at_first")
def test_each_run_finds_what_the_first_found_and_what_the_last_changed_in_place_stays():
    box, seen = Plain([]), deque()  # what a deque holds is not put back

    def body():
        seen.append([number, Model.scale, dict(settings), len(Model.sizes), len(box.items)])
        count(1), kept(1), setattr(Model, "scale", 5), Model.sizes.append(1), box.items.append(1)

    mutations_ledger({"one": (body,), "two": (body,)}, dict.fromkeys("abc", as_it_is))
    assert list(seen) == [[0, 1, {}, 0, 0]] * 6
    assert (number, Model.scale, settings, Model.sizes, box.items) == (0, 1, {"a": 1}, [1], [1])


def test_a_variable_is_not_looked_into():
    tf = pytest.importorskip("tensorflow")
    ledger = mutations_ledger({"case": (lambda v: v.assign_add(1.0), tf.Variable(0.0))})
    assert ledger.entries[0].verdicts[1].word == "no error; not known what changed"
    assert ledger.entries[0].note == "neither copied nor compared: ResourceVariable"
