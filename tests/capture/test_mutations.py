"""The mutation ledger sees what a body changed, and runs every way on fresh copies."""

import random
from collections import deque, namedtuple
from functools import partial, wraps
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.capture.tensorflow.mutations import copy_containers, mutations_ledger


class Plain:
    def __init__(self, items):
        self.items = items


class Derived(Plain):
    def add(self, item):
        self.items.append(item)

    __call__ = add


def as_it_is(fn):
    return fn


def only(case, ways=1):
    """Return the one entry of a case that is run as it is."""
    (entry,) = mutations_ledger({"case": case}, dict.fromkeys("ab"[:ways], as_it_is)).entries
    return entry


def test_fresh_copies_hold_the_same_leaves_and_share_no_container():
    leaf, box = object(), Plain([1])
    value = [{"a": [leaf, (leaf, {leaf})], "b": box}, box]
    twin = copy_containers(value)
    assert twin[0]["a"][0] is leaf and twin[0]["b"] is twin[1] is not box
    twin[1].items.append(1)
    assert box.items == [1] and copy_containers([Plain]) == [Plain]


@pytest.mark.parametrize(
    ("cases", "ways", "words"),
    [({"five": 5}, None, "case 'five' must be"), ({}, {"six": 6}, "way 'six' must be")],
)
def test_what_cannot_be_called_is_named(cases, ways, words, refused):
    pytest.importorskip("tensorflow")
    refused(TypeError, words, mutations_ledger, cases, ways)


def append(x, kept):
    kept.append(x)


def counting(x):
    counting.calls = getattr(counting, "calls", 0) + 1


number, settings = 0, {}


def count(x):
    global number
    number += 1


def keep(x):
    settings["a"] = 1


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


CHANGED = {
    "a method's self": ((Derived.add, Derived([]), 1), "self.items"),
    "a bound method's self": ((Derived([]).add, 1), "self.items"),
    "an object that is called": ((Derived([]), 1), "Derived.items"),
    "a builtin's self": (([].append, 1), "append.__self__"),
    "what a partial adds": ((partial(append, kept=[]), 1), "partial.keywords['kept']"),
    "an item": ((lambda x, kept: kept.update(b=[x]), 1, {"a": 0, "b": [1]}), "kept['b']"),
    "an item of an item": ((lambda kept: kept[1].append(1), [0, []]), "kept[1]"),
    "a default": ((lambda x, kept=[]: kept.append(x), 1), "kept"),  # noqa: B006
    "the function's own attribute": ((counting, 1), "counting.calls"),
    "a global": ((count, 1), "number"),
    "a global of what is wrapped": ((wrapping(count), 1), "number"),
    "a variable of a closure": ((closing(), 1), "held"),
    "what a global holds": ((keep, 1), "settings['a']"),
    "what a helper changes": ((lambda x: keep(x), 1), "settings['a']"),
    "random numbers": ((lambda: (random.random(), np.random.rand()),), "np.random, random"),
    "print": ((lambda x: print(x), 1), "what it prints"),
}


@pytest.mark.parametrize(("case", "path"), CHANGED.values(), ids=CHANGED)
def test_what_is_changed_is_named_in_each_way_and_restored(case, path, capsys):
    settings.clear()
    drawn = (random.getstate(), np.random.get_state()[2])
    entry = only(case, 2)
    words = f"no error; changed at every call: {path}"
    assert [verdict.word for verdict in entry.verdicts] == [words] * 2 and not entry.note
    assert number == 0 and drawn == (random.getstate(), np.random.get_state()[2])
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "held"),
    [
        (next, (n for n in range(3))),
        (lambda o: setattr(o, "v", 9), SimpleNamespace(v=1)),
        (lambda o: o.__setitem__(0, 1), np.zeros(2)),
        (lambda o: o.append(1), deque([0])),
    ],
)
def test_what_was_changed_unseen_is_not_called_unchanged(change, held):
    entry = only((change, held))
    assert entry.verdicts[0].word == "no error; not known what changed"
    assert entry.note.startswith("neither copied nor compared: ")


Pair = namedtuple("Pair", "items")


@pytest.mark.parametrize("fixed", [range(3), np.float32(1), Pair(1), len, (1, ("a", None))])
def test_what_cannot_be_changed_is_unchanged(fixed):
    entry = only((lambda x: np.add(1, 1), fixed))
    assert (entry.verdicts[0].word, entry.note) == ("no error; caller's unchanged", "")


def test_each_run_finds_what_the_first_found_and_what_it_changed_is_restored():
    settings.clear()
    box, seen = Plain([]), deque()  # what a deque holds is not put back

    def body():
        seen.append([number, dict(settings), len(box.items)])
        count(1), keep(1), box.items.append(1)

    mutations_ledger({"one": (body,), "two": (body,)}, dict.fromkeys("abc", as_it_is))
    assert list(seen) == [[0, {}, 0]] * 12
    assert (number, settings, box.items) == (0, {}, [])


def test_under_tensorflow_a_leak_is_told_and_a_variable_is_not_looked_into():
    tf = pytest.importorskip("tensorflow")
    leaked = []
    cases = {"leak": (leaked.append, 1.0), "global": (count, 1)}
    cases["variable"] = (lambda v: v.assign_add(1.0), tf.Variable(0.0))
    cases["traced"] = (tf.function(lambda x: leaked.append(x * 2)), tf.ones(1))
    ledger = mutations_ledger({**cases, "keep": (lambda x: leaked.append(x * 2), tf.ones(1))})
    assert [ledger.word(name, "tf.function") for name in ("global", "variable", "keep")] == [
        "no error; changed at the trace, not at the hit: number",
        "no error; not known what changed",
        "no error; changed at the trace, not at the hit: leaked; a graph tensor stays in leaked",
    ]
    words = "no error; changed at every call: leaked"
    assert ledger.word("traced", "plain Python") == words and not leaked
    assert ledger.entries[-1].verdicts[-1].tone == "failed"
    assert ledger.entries[2].note == "neither copied nor compared: ResourceVariable"
