"""Frames: how they come, wait, leave and are kept; the same on every version."""

import contextlib
import json
import re
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
        "def names(cards): return [card.function for card in cards]\n"
        "print(json.dumps([[s.lane, names(s.cards), names(s.shelf), s.handed] for s in ran.steps]))"
    )
    both = ["consume", "numbers"]
    resumed = ["resume", both, [], ""]
    assert json.loads(run(version, code)) == [
        ["call", ["consume"], [], ""],
        ["call", both, [], ""],
        ["yield", ["consume"], ["numbers"], "1"],
        resumed,
        ["yield", ["consume"], ["numbers"], "2"],
        resumed,
        ["return", both, [], ""],
        ["return", ["consume"], [], "3"],
    ]


def test_exception_passes_through_every_frame():
    ran = record_frames(fails)
    seen = [(step.lane, step.cards[-1].function, step.cards[-1].state) for step in ran.steps[2:]]
    assert seen == [
        ("exception", "catches_not", "running"),
        ("exception", "catches_not", "leaving"),
        ("exception", "fails", "running"),
        ("exception", "fails", "leaving"),
    ]
    assert [step.label.startswith("ValueError('no')") for step in ran.steps[2::2]] == [True, True]
    assert "ValueError('no')" in ran.note


def test_exception_that_a_frame_handles_is_not_told_to_leave_it():
    for fn in (handles, suppresses):
        steps = record_frames(fn, {}).steps
        assert [step.lane for step in steps] == ["call", "exception", "return"]
        assert steps[1].cards[-1].state == "running" and steps[2].handed == "1"


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
    last = ran.steps[-1]
    assert not last.shelf
    return last.lane, last.cards[-1].function, last.cards[-1].state, last.handed

every = (by_finally, by_raise, by_other_handler, by_with, handled, suppressed, looped)
print(json.dumps([ends(fn) for fn in every]))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_frame_that_an_exception_leaves_is_told_from_one_that_returns_none(version):
    found = json.loads(run(version, ENDS))
    left = ("by_finally", "by_raise", "by_other_handler", "by_with")
    assert found[:4] == [["exception", name, "leaving", ""] for name in left]
    returned = ("handled", "suppressed", "looped")
    assert found[4:] == [["return", name, "leaving", "None"] for name in returned]


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
            exec("try: [][0:0:0]\nexcept ValueError as first: raise KeyError from first")
        except KeyError:
            raise OSError from None
    listing = list_traceback(caught.value)
    links = [f"exception {number}, link {link}" for number, link in ((2, 1), (2, 2), (3, 1))]
    assert [row.place for row in listing.rows] == ["1", *links]
    links = re.findall(r"\d|KeyError|ValueError|__\w+__", listing.note)
    assert links == ["2", "KeyError", "__context__", "1", "3", "ValueError", "__cause__", "2"]


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
    listing = list_traceback(many)
    numbers = set(re.findall(r"\d+", listing.note))
    assert len(listing.rows) == 8 - 1 and {"8", "21", "5"} <= numbers  # no row without a frame


def test_a_member_that_is_in_two_groups_is_listed_once():
    member = ValueError(1)
    rows = list_traceback(ExceptionGroup("a", [member, ExceptionGroup("b", [member])])).rows
    assert [row.function for row in rows] == [
        "| ValueError(1)",
        "| ExceptionGroup('b', [ValueError(1)])",
    ]
