"""The mutation ledger sees what a body changed, and runs every way on fresh copies."""

import io
import logging
import os
import random
import subprocess
import sys
import threading
import warnings
from collections import deque, namedtuple
from dataclasses import dataclass
from email import charset as imported_charset
from enum import Enum, IntEnum
from functools import lru_cache, partial, wraps
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from helpers.capture.tensorflow import reachable_state
from helpers.capture.tensorflow.mutation_sentences import (
    AT_BOTH,
    AT_TRACE,
    NOT_KNOWN,
    SEEDED,
    UNCHANGED,
)
from helpers.capture.tensorflow.mutations import build_mutations_ledger, copy_containers
from helpers.safety import restoring


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
    (entry,) = build_mutations_ledger({"case": case}, dict.fromkeys("ab"[:ways], as_it_is)).entries
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
    refused(TypeError, words, build_mutations_ledger, cases, ways)


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
    words = f"no error; {AT_BOTH}: {path}"
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
    assert entry.verdicts[0].word.endswith(NOT_KNOWN)
    assert type(held).__name__ in entry.note


Pair = namedtuple("Pair", "items")


@pytest.mark.parametrize("fixed", [range(3), np.float32(1), Pair(1), len, (1, ("a", None))])
def test_what_cannot_be_changed_is_unchanged(fixed):
    entry = only((lambda x: np.add(1, 1), fixed))
    assert (entry.verdicts[0].word, entry.note) == (f"no error; {UNCHANGED}", "")


def test_each_run_finds_what_the_first_found_and_what_it_changed_is_restored():
    settings.clear()
    box, seen = Plain([]), deque()  # what a deque holds is not put back

    def body():
        seen.append([number, dict(settings), len(box.items)])
        count(1), keep(1), box.items.append(1)

    build_mutations_ledger({"one": (body,), "two": (body,)}, dict.fromkeys("abc", as_it_is))
    assert list(seen) == [[0, {}, 0]] * 12
    assert (number, settings, box.items) == (0, {}, [])


def test_under_tensorflow_a_leak_is_told_and_a_variable_is_not_looked_into():
    tf = pytest.importorskip("tensorflow")
    leaked = []
    cases = {"leak": (leaked.append, 1.0), "global": (count, 1)}
    cases["variable"] = (lambda v: v.assign_add(1.0), tf.Variable(0.0))
    cases["traced"] = (tf.function(lambda x: leaked.append(x * 2)), tf.ones(1))
    ledger = build_mutations_ledger({**cases, "keep": (lambda x: leaked.append(x * 2), tf.ones(1))})
    assert [ledger.word(name, "tf.function") for name in ("global", "variable", "keep")] == [
        f"no error; {AT_TRACE}: number",
        f"no error; {NOT_KNOWN}",
        f"no error; {AT_TRACE}: leaked; a graph tensor stays in leaked",
    ]
    words = f"no error; {AT_BOTH}: leaked"
    assert ledger.word("traced", "plain Python") == words and not leaked
    assert ledger.entries[-1].verdicts[-1].tone == "failed"
    assert ledger.entries[2].note.endswith(": ResourceVariable")


TORCH_PROGRAM = """
import os, sys, warnings
import torch
from helpers import watch_mutations

torch.compile(abs, backend="eager")(torch.ones(3))  # torch itself changes something
filters, environment = [*warnings.filters], {**os.environ}
x, rows = torch.ones(3), []


def plain(x):
    return x * 2


def breaking(x):
    y = x * 2
    print("broken")
    return y + 1


def inner(x):
    return x + 1


inner_compiled = torch.compile(inner, backend="eager")


def outer(x):
    rows.append(1)
    return inner_compiled(x) * 2


def drawing(x):
    return x + torch.rand(3)


class Net(torch.nn.Module):
    def forward(self, x):
        return plain(x)


compiled = {"compiled": lambda fn: torch.compile(fn, backend="eager")}
eager = {"eager": lambda fn: fn}
programs = [plain, breaking, inner, outer, drawing, Net(), torch.nn.Linear(3, 3)]
programs.append(torch.no_grad()(plain))
for ways in (None, compiled, eager):
    for fn in programs:
        state = bytes(torch.get_rng_state().numpy())
        ledger = watch_mutations({"case": (fn, x)}, ways=ways)
        assert "TensorFlow" not in repr(ledger) and "NameError" not in repr(ledger), ledger
        for entry in ledger.model.entries:
            for verdict in entry.verdicts:
                assert "no error" in verdict.word and "_fn_" not in verdict.word, ledger
        assert bytes(torch.get_rng_state().numpy()) == state
        for _ in range(2):
            torch.compile(fn, backend="eager")(x)
            fn(x)
assert inner_compiled(x).tolist() == [2, 2, 2] and len(rows) == 12
assert "torch.random" in repr(watch_mutations({"case": (drawing, x)}, ways=eager))
assert "random" not in repr(watch_mutations({"case": (plain, x)}))
ledger = watch_mutations({"case": (outer, x)})
assert ledger.model.headings == ("plain Python", "torch.compile")
assert ledger.model.title.count("PyTorch") == 1
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list as entries


def fresh(x):
    return x * 3


for _ in range(10):
    watch_mutations({"case": (fresh, x)})
assert not entries(fresh.__code__)
assert not {"tensorflow", "keras"} & {*sys.modules}
assert ([*warnings.filters], {**os.environ}) == (filters, environment)
"""


def run_alone(program):
    """Run a program in a fresh Python; it says by an assertion what is not so."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert not ended.returncode, ended.stderr[-3000:]


def test_a_program_of_torch_runs_afterwards_as_before_and_needs_no_tensorflow():
    pytest.importorskip("torch")
    run_alone(TORCH_PROGRAM)


def test_plain_python_imports_no_framework_and_the_note_says_so():
    program = "import sys; from helpers import watch_mutations\n"
    program += "print(watch_mutations({'f': (lambda x: x.append(1), [])}).model.note)\n"
    program += "assert not {'tensorflow', 'torch', 'keras'} & {*sys.modules}"
    run_alone(program)
    entry = only((lambda x: x.append(1), []))
    assert entry.verdicts[0].word == f"no error; {AT_BOTH}: x"


def test_what_a_library_or_python_itself_keeps_is_left_alone():
    log = logging.getLogger("tests.mutations")
    space = {"log": log, "warnings": warnings}
    exec("def logs(x):\n    log.getChild(str(x)).isEnabledFor(10)", space)
    entry = only((space["logs"], 7))
    assert "tests.mutations.7" in logging.Logger.manager.loggerDict
    assert "Logger" in entry.note and "changed" in entry.verdicts[0].word
    exec("def warns(x):\n    warnings.warn('once')", space)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert only((space["warns"], 7)).verdicts[0].word == f"no error; {UNCHANGED}"
    assert "__warningregistry__" in space


def test_only_what_was_changed_is_written():
    class Recording(dict):
        pass

    order = {"a": 1, "b": 2, "c": 3}
    kept = [order]

    def turning(x):
        kept[0]["a"] = kept[0].pop("a")
        kept[0]["d"] = 4

    assert AT_BOTH in only((turning, 1)).verdicts[0].word
    assert [*order.items()] == [("a", 1), ("b", 2), ("c", 3)] and kept[0] is order


class Counting:
    total = 0
    log = []

    @classmethod
    def count(cls, x):
        cls.total += 1

    def write(self, x):
        Counting.log.append(x)
        type(self).extra = x


def test_what_a_class_of_yours_holds_is_compared_and_restored():
    assert only((Counting.count, 1), 2).verdicts[1].word.endswith(f"{AT_BOTH}: Counting.total")
    entry = only((Counting().write, 1))
    assert entry.verdicts[0].word == f"no error; {AT_BOTH}: Counting.extra, Counting.log"
    assert (Counting.total, Counting.log, hasattr(Counting, "extra")) == (0, [], False)


class Marked:
    marks = 0

    def mark(self):
        Marked.marks += 1


class Heir(Marked):
    def mark_own(self):
        type(self).marks += 1

    def __enter__(self):
        super().mark()

    def __exit__(self, *error):
        pass


class User:
    def go(self):
        Marked.marks += 1


class Slotted:
    __slots__ = ()
    marks = 0

    def mark(self):
        type(self).marks += 1


class Listing(list):
    marks = 0

    @classmethod
    def mark(cls):
        cls.marks += 1


class Runs(threading.Thread):
    def run(self):
        Marked.marks += 1


class Logged:
    log = deque()

    def mark(self):
        self.log.append(1)


def enters(x):
    with x:
        pass


def runs_a_thread():
    thread = Runs()
    thread.start()
    thread.join()


def sets_an_attribute_of_this_module():
    import sys

    sys.modules[__name__].number = 7


def sets_an_attribute_of_a_module():
    logging.raiseExceptions = None
    sys.of_mutations = 1


def imports_and_sets():
    from email import charset

    charset.DEFAULT_CHARSET = None


METHODS = {
    "of a class": (lambda: Marked().mark(), "Marked.marks"),
    "of a base": (lambda: Heir().mark(), "Marked.marks"),
    "of its own class": (lambda: Heir().mark_own(), "Heir.marks"),
    "by with and super": ((enters, Heir()), "Marked.marks"),
    "of another class": (lambda: User().go(), "Marked.marks"),
    "by getattr": ((lambda x: getattr(x, "go")(), User()), "Marked.marks"),  # noqa: B009
    "of a class with slots": ((lambda x: x.mark(), Slotted()), "Slotted.marks"),
    "of a subclass of list": ((lambda x: x.mark(), Listing()), "Listing.marks"),
    "that a library calls": (runs_a_thread, "Marked.marks"),
    "of a module of yours": (sets_an_attribute_of_this_module, "number"),
    "of modules": (sets_an_attribute_of_a_module, "logging.raiseExceptions, sys.of_mutations"),
    "of an imported module": (imports_and_sets, "email.charset.DEFAULT_CHARSET"),
}


@pytest.mark.parametrize("name", METHODS)
def test_an_attribute_of_a_class_or_a_module_is_named_whoever_changes_it(name):
    case, path = METHODS[name]
    with (
        restoring.patched(logging, raiseExceptions=True),
        restoring.patched(imported_charset, DEFAULT_CHARSET="us-ascii"),
        restoring.patched(sys, of_mutations=0),
    ):
        words = [verdict.word for verdict in only(case, 2).verdicts]
        standing = logging.raiseExceptions, imported_charset.DEFAULT_CHARSET, sys.of_mutations
    assert words == [f"no error; {AT_BOTH}: {path}"] * 2
    of_libraries = {"of modules": (None, "us-ascii", 1), "of an imported module": (True, None, 0)}
    assert standing == of_libraries.get(name, (True, "us-ascii", 0))  # there, it stays as set
    assert number == 0 and "marks" not in vars(Heir)
    assert Marked.marks == Slotted.marks == Listing.marks == 0


class Computed(ModuleType):
    """A module such as torch.backends.cudnn, whose setting is a property."""

    setting = property(lambda module: 1, lambda module, value: None)


Computed.__module__ = "torch"  # of a library
COMPUTED = Computed("computed")


def sets_what_a_module_computes():
    COMPUTED.setting = 1


def test_what_a_module_computes_is_not_called_unchanged_if_a_body_sets_it():
    assert only(sets_what_a_module_computes).note.endswith(": Computed")
    assert only(lambda: COMPUTED.setting).verdicts[0].word.endswith(UNCHANGED)


def test_what_a_class_holds_and_is_not_compared_is_listed():
    assert only(lambda: Logged().mark()).note.endswith(": deque")
    assert only(lambda: Heir()).verdicts[0].word == f"no error; {UNCHANGED}"


STREAM = sys.stdout
LOG = logging.getLogger("tests.mutations.kept")


def prints_through_a_kept_stream():
    STREAM.write("1")


def prints_errors():
    print("1", file=sys.stderr)


def prints_through_the_first_stream():
    sys.__stdout__.write("1")


def logs():
    LOG.error("1")


UNHEARD = prints_through_a_kept_stream, prints_errors, prints_through_the_first_stream, logs


@pytest.mark.parametrize("body", UNHEARD, ids=lambda body: body.__name__)
def test_what_is_printed_and_not_heard_goes_its_way_and_is_not_called_unchanged(body, monkeypatch):
    kept = io.StringIO()
    handler = logging.StreamHandler(kept)
    handler.terminator = ""
    LOG.addHandler(handler)
    LOG.propagate = False
    monkeypatch.setitem(globals(), "STREAM", kept)
    for name in ("__stdout__", "stderr"):
        monkeypatch.setattr(sys, name, kept)
    try:
        entry = only(body)
    finally:
        LOG.removeHandler(handler)
    assert entry.verdicts[0].word.endswith(NOT_KNOWN) and entry.note
    assert kept.getvalue().split() in (["11"], ["1", "1"]) and handler.stream is kept


TABLE = list(range(300))


class Reader:
    def read(self, at):
        return TABLE[at]


def test_a_table_that_a_method_reads_is_not_too_much_and_the_row_says_so(refused, monkeypatch):
    monkeypatch.setattr(reachable_state, "MOST_OBJECTS", 200)
    entry = only((Reader().read, 3))
    assert entry.verdicts[0].word.endswith(NOT_KNOWN)
    assert entry.note.endswith("200 objects")
    refused(ValueError, "200 objects", only, (len, TABLE))


def test_a_cache_is_not_called_unchanged():
    @lru_cache
    def cached(x):
        return [x]

    entry = only((cached, 1))
    assert "_lru_cache_wrapper" in entry.note and NOT_KNOWN in entry.verdicts[0].word


class Colour(Enum):
    RED = 1


class Level(IntEnum):
    LOW = 1


@dataclass
class Settings:
    a: int = 1


SETTINGS = Settings()


def mark_a_member():
    Colour.RED.extra = 1


def mark_a_number():
    Level.LOW.extra = 1


def mark_an_argument(member):
    member.extra = 1


def mark_the_class():
    Colour.extra = 1


def by_exec():
    exec("SETTINGS.a += 1")


def by_getattr():
    getattr(sys.modules[__name__], "SETTINGS").a += 1  # noqa: B009


def by_globals():
    globals()["SETTINGS"].a += 1


def by_a_name_made_up():
    vars(sys.modules[__name__])["SETT" + str(SETTINGS is None)[:0] + "INGS"].a += 1


REACHED = {
    "Colour.RED.extra": mark_a_member,
    "Level.LOW.extra": mark_a_number,
    "member.extra": (mark_an_argument, Colour.RED),
    "Colour.extra": mark_the_class,
    "SETTINGS.a": by_exec,
    " SETTINGS.a": by_getattr,
    "SETTINGS.a ": by_globals,
    " SETTINGS.a ": by_a_name_made_up,
}


@pytest.mark.parametrize("path", REACHED)
def test_what_members_and_exec_reach_is_seen_and_put_back(path):
    words = only(REACHED[path]).verdicts[0].word
    assert "changed" in words and path.strip() in words and "unchanged" not in words
    assert SETTINGS.a == 1 and not hasattr(Colour, "extra")
    assert not hasattr(Colour.RED, "extra") and not hasattr(Level.LOW, "extra")


OUTSIDE = SimpleNamespace(box=[])


def reaches_what_it_does_not_name():
    name = "".join(["OUT", "SIDE"])
    globals()[name].box.append(1)


def test_what_it_cannot_see_it_names():
    entry = only(reaches_what_it_does_not_name)
    assert NOT_KNOWN in entry.verdicts[0].word
    assert "globals" in entry.note
    assert only(lambda: SETTINGS.a).verdicts[0].word.endswith(UNCHANGED)


def draws_of_tensorflow() -> dict:
    """Return name -> (a body that draws a number, what it changes, whether that is put back)."""
    import tensorflow as tf

    own = tf.random.Generator.from_seed(5)
    traced = tf.function(lambda: tf.random.uniform([2]))

    def shared():
        return tf.random.get_global_generator().normal([2])

    def seeds_anew():
        tf.random.set_seed(1)
        return tf.random.uniform([2])

    return {
        "op without a seed": (lambda: tf.random.uniform([2]), "tf.random", True),
        "op with a seed": (lambda: tf.random.uniform([2], seed=4), "", False),
        "generator": (lambda: own.normal([2]), "own", True),
        "global generator": (shared, "tf.random", True),
        "another seed": (seeds_anew, "tf.random", True),
        "traced before": (lambda: traced(), "", False),
        "without a state": (lambda: tf.random.stateless_uniform([2], (1, 2)), "", True),
    }


def numbers_of_tensorflow(name: str, is_watched: bool):
    """Return the numbers that a program draws after the ledger, and the ledger's row."""
    import tensorflow as tf

    tf.random.set_seed(3)
    tf.random.set_global_generator(tf.random.Generator.from_seed(7))
    body, *_ = draws_of_tensorflow()[name]
    body()
    tf.random.set_seed(3)
    row = build_mutations_ledger({"case": body}).entries[0] if is_watched else None
    numbers = tf.random.get_global_generator().normal([2]), tf.random.uniform([2]), body()
    return [number.numpy().tolist() for number in numbers], row


def test_the_random_numbers_of_tensorflow_are_put_back_or_the_row_says_that_they_are_not():
    pytest.importorskip("tensorflow")
    for name, (_, changed, is_kept) in draws_of_tensorflow().items():
        plain, _ = numbers_of_tensorflow(name, is_watched=False)
        numbers, row = numbers_of_tensorflow(name, is_watched=True)
        assert (numbers == plain) == is_kept == (SEEDED not in row.note), name
        assert row.verdicts[0].word.endswith(f"{AT_BOTH}: {changed}" if changed else "")


def starts_a_thread_that_fails():
    worker = threading.Thread(target=lambda: {}["missing"])
    worker.start()
    worker.join()


def test_what_ends_a_thread_behind_a_way_is_in_the_row_and_not_printed(capsys, monkeypatch):
    row = only((starts_a_thread_that_fails,))
    assert not row.note  # as it is, the program's own hook hears of it
    capsys.readouterr()
    monkeypatch.setattr(threading, "excepthook", before := threading.excepthook)
    ways = {"wrapped": lambda fn: lambda: fn()}
    (row,) = build_mutations_ledger({"case": starts_a_thread_that_fails}, ways).entries
    assert row.note.count("KeyError: 'missing'") == 1 and not capsys.readouterr().err
    assert threading.excepthook is before


def keras_programs():
    """Return name -> (a function that draws from Keras's random numbers, what the row names)."""
    import keras
    import tensorflow as tf

    dropout = keras.layers.Dropout(0.5)
    own = keras.random.SeedGenerator(5, name="own_seed")
    x = tf.ones([2])
    return {
        "layer": (lambda: dropout(x, training=True), dropout.seed_generator.name),
        "layer at rest": (lambda: dropout(x), ""),
        "own": (lambda: keras.random.uniform([2], seed=own), "own_seed"),
        "next": (lambda: own.next(), "own_seed"),
        "shared": (lambda: keras.random.uniform([2]), "keras.random"),
        "fixed": (lambda: keras.random.uniform([2], seed=3), ""),
    }


@pytest.mark.parametrize("is_shared_there", [False, True])
def test_the_seed_generators_of_keras_are_put_back_and_named(is_shared_there):
    keras = pytest.importorskip("keras")

    def start(name):
        keras.backend.clear_session()
        keras.utils.set_random_seed(3)
        if is_shared_there:
            keras.random.uniform([2])
        return keras_programs()[name]

    def numbers(draw):
        return [np.asarray(draw()).tolist() for _ in range(2)]

    for name in ("layer", "layer at rest", "own", "next", "shared", "fixed"):
        plain = numbers(start(name)[0])
        draw, path = start(name)
        (row,) = build_mutations_ledger({"case": draw}).entries
        assert numbers(draw) == plain, name
        words = " ".join(str(verdict) for verdict in row.verdicts)
        assert path in words if path else "seed" not in words and "keras" not in words, name
