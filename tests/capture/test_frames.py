"""Frames: how they come, wait, leave and are kept; the same on every version."""

import contextlib
import json
import traceback

import pytest

from helpers.capture.cpython.frame_timeline import record_frames
from helpers.capture.cpython.traceback_chain import list_traceback
from helpers.view.widgets.stage import timeline
from tests.pythons import VERSIONS, run


def outer(n):
    return inner(n) + 1


def inner(n):
    return n * 2


def numbers(n):
    yield n
    yield n + 1


def consume():
    total = 0
    for n in numbers(1):
        total += n
    return total


def fails():
    return catches_not()


def catches_not():
    raise ValueError("no")


def handles(values):
    try:
        values["x"]
    except KeyError:
        return 1


def suppresses(values):
    with contextlib.suppress(KeyError):
        values["x"]
    return 1


def rows(step, title="frames on the stack"):
    return step.panel(title).rows


def test_lines_are_those_of_the_source_shown():
    ran = record_frames(outer, 3)
    lines = ["", *ran.source.split("\n")]
    called = "    return inner(n) + 1"  # the caller's line goes on
    nexts = ["def outer(n):", "def inner(n):", called, ""]
    assert [lines[step.line] for step in ran.steps] == nexts
    assert [lines[step.left] for step in ran.steps] == ["", "", "    return n * 2", called]
    assert [step.deed for step in ran.steps] == ["", "", "just returned", "just returned"]


def test_line_that_has_yielded_is_not_the_one_that_runs_next():
    ran = record_frames(consume)
    lines = ["", *ran.source.split("\n")]
    found = [s for s in ran.steps if s.lane == "yield"]
    assert {lines[s.line].strip() for s in found} == {"for n in numbers(1):"}
    assert {lines[s.left].strip() for s in found} == {"yield n", "yield n + 1"}
    assert {s.deed for s in found} == {"just yielded"}
    text = timeline.text(ran)
    asks, yields = (fn.__code__.co_firstlineno for fn in (consume, numbers))
    assert f"▶ test_frames.py:{asks + 2}:     for n in" in text
    assert f"↩ test_frames.py:{yields + 1}, just yielded:     yield n\n" in text


@pytest.mark.parametrize("version", VERSIONS)
def test_generator_frames_leave_and_come_back(version):
    code = (
        "import json; from helpers.capture.cpython.frame_timeline import record_frames\n"
        "def numbers(n):\n    yield n\n    yield n + 1\n"
        "def consume():\n    total = 0\n    for n in numbers(1):\n        total += n\n"
        "    return total\n"
        "ran = record_frames(consume)\n"
        "print(json.dumps([[s.label, [p.title for p in s.panels]] for s in ran.steps]))"
    )
    off = "frames off the stack, kept by generators"
    found = [(label, off in titles) for label, titles in json.loads(run(version, code))]
    resumed = ("resume numbers()", False)
    assert found == [
        *(("call consume()", False), ("call numbers(n = 1)", False)),
        *(("yield 1 from numbers", True), resumed, ("yield 2 from numbers", True), resumed),
        *(("return None from numbers", False), ("return 3 from consume", False)),
    ]


def test_exception_passes_through_every_frame():
    ran = record_frames(fails)
    labels = [step.label for step in ran.steps]
    came = ("ValueError('no') is raised in catches_not", "ValueError('no') reaches fails")
    left = [f"leave {fn} with the exception" for fn in ("catches_not", "fails")]
    assert labels[2:] == [came[0], left[0], came[1], left[1]]
    assert ran.note == "It raised ValueError('no')."


def test_exception_that_a_frame_handles_is_not_told_to_leave_it():
    for fn in (handles, suppresses):
        labels = [step.label for step in record_frames(fn, {}).steps]
        assert f"KeyError('x') is raised in {fn.__name__}" in labels
        assert labels[-1] == f"return 1 from {fn.__name__}"
        assert not any("passes through" in one or "leave" in one for one in labels)


ENDS = """
import contextlib, json
from helpers.capture.cpython.frame_timeline import record_frames

class Block:
    def __enter__(self): return self
    def __exit__(self, *error): return None

class Numbers:
    def __init__(self): self.left = 2
    def __iter__(self): return self
    def __next__(self):
        self.left -= 1
        if self.left: return 1
        raise StopIteration

def by_finally():
    try: {}[1]
    finally: done = True

def by_raise():
    try: {}[1]
    except KeyError: raise

def by_other_handler():
    try: {}[1]
    except ValueError: pass

def by_with():
    with Block(): {}[1]

def handled():
    try: {}[1]
    except KeyError: return

def suppressed():
    with contextlib.suppress(KeyError): {}[1]

def looped():
    for _ in Numbers(): pass

def ends(fn):
    ran = record_frames(fn)
    off = [p.title for p in ran.steps[-1].panels if "off the stack" in p.title]
    own = [s.label for s in ran.steps if s.label.split()[0] in ("leave", "return", "yield")]
    return [label for label in own if "__" not in label] + off

every = (by_finally, by_raise, by_other_handler, by_with, handled, suppressed, looped)
print(json.dumps([ends(fn) for fn in every]))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_frame_that_an_exception_leaves_is_told_from_one_that_returns_none(version):
    found = json.loads(run(version, ENDS))
    left = ("by_finally", "by_raise", "by_other_handler", "by_with")
    assert found[:4] == [[f"leave {name} with the exception"] for name in left]
    assert found[4:7] == [[f"return None from {n}"] for n in ("handled", "suppressed", "looped")]


LAZY = """
import json, sys
from helpers.capture.cpython.frame_stack import list_frames

def names(listing):
    return [[row.function, row.made] for row in listing.rows]

def low():
    before = names(list_frames(sys._getframe()))
    frame = sys._getframe().f_back.f_back
    return before, names(list_frames(sys._getframe()))

def middle():
    return low()

def high():
    return max([0], key=lambda x: found.append(middle()) or 1)

found = []
high()
print(json.dumps(found[0]))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_frame_objects_are_made_when_somebody_asks(version):
    before, after = json.loads(run(version, LAZY))
    chain = ["low", "middle", "<lambda>", "high", "<module>"]
    assert [name for name, _ in before] == [name for name, _ in after] == chain
    assert [made for _, made in before] == [True, False, False, False, False]
    assert [made for _, made in after] == [True, True, True, False, False]


def test_a_traceback_goes_on_with_the_cause_and_the_context_each_once():
    with pytest.raises(OSError) as caught:
        try:
            exec("try: int('x')\nexcept ValueError as first: raise KeyError from first")
        except KeyError:
            raise OSError from None
    listing = list_traceback(caught.value)
    links = [f"exception {number}, link {link}" for number, link in ((2, 1), (2, 2), (3, 1))]
    assert [row.place for row in listing.rows] == ["1", *links]
    told = "Exception 2, KeyError(), is the __context__ of exception 1. Exception 3, ValueError("
    assert told in listing.note and listing.note.endswith("is the __cause__ of exception 2.")


def raised(error, *notes):
    """Return an error with a traceback, and with notes."""
    try:
        raise error
    except BaseException as caught:
        for note in notes:
            caught.add_note(note)
        return caught


def nested(depth: int, width: int):
    """Return a group of groups, every second member of which was raised."""
    if not depth:
        return raised(ValueError("deep"), "a note")
    members = [nested(depth - 1, width), *(KeyError(at) for at in range(width))]
    return raised(ExceptionGroup(f"level {depth}", members))


def all_in(error):
    """Return an error and all members of it, in the order of Python's own traceback."""
    inside = getattr(error, "exceptions", ())
    return [error, *(deep for member in inside for deep in all_in(member))]


@pytest.mark.parametrize(("depth", "width"), [(0, 0), (1, 0), (1, 3), (2, 1), (3, 1)])
def test_each_member_of_a_group_and_each_note_is_in_the_traceback(depth, width):
    error = nested(depth, width)
    listing = list_traceback(error)
    heads = [row.function for row in listing.rows if " of exception " in row.locals]
    members = all_in(error)[1:]
    assert [head.replace("| ", "").partition("(")[0] for head in heads] == [
        type(one).__name__ for one in members
    ]
    python = "".join(traceback.format_exception(error))
    indents = [line.count("|") and line.index("|") // 2 for line in python.splitlines()]
    assert max([head.count("| ") for head in heads], default=0) + (depth > 0) == max(indents)
    assert "a note" in listing.note


def test_what_is_left_out_of_a_traceback_is_counted():
    many = ExceptionGroup("many", [ValueError(at) for at in range(20)])
    for _ in range(9):
        many.add_note("again")
    note = list_traceback(many).note
    assert "Only the first 8 of 21 exceptions" in note and "5 more notes" in note


def test_a_member_that_is_in_two_groups_is_listed_once():
    member = ValueError(1)
    rows = list_traceback(ExceptionGroup("a", [member, ExceptionGroup("b", [member])])).rows
    assert [row.function for row in rows] == [
        "| ValueError(1)",
        "| ExceptionGroup('b', [ValueError(1)])",
    ]
