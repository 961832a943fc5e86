"""A run has a step before its first line and one after each line, with its names and its output."""

import enum
import functools
import types

import pytest

from helpers.capture.references.name_changes import NAMES_PANEL, PRINTED_PANEL
from helpers.capture.references.name_timeline import (
    CALL_IS_OVER,
    GENERATOR_WAS_RUN,
    PRIVATE_NAMES_HIDDEN,
    is_followed,
    record_names,
)


def list_names(step):
    graph = step.panel(NAMES_PANEL)
    if graph == "none yet":
        return []
    return [node.label for node in graph.nodes if node.kind == "name"]


def returns_a_number():
    return 42


def returns_nothing():
    a = 1
    del a


def raises():
    raise KeyError("gone")


def handles():
    try:
        raise KeyError("gone")
    except KeyError:
        return 7


def loops():
    total = 0
    for number in (8, 9):
        total += number
    return total


def reads_itself(count):
    if count:
        return reads_itself(count - 1)
    return 5


def test_the_last_label_names_what_the_call_returns():
    first, last = record_names(returns_a_number).steps
    assert first.label == "the call begins"
    assert last.label.startswith("after ")
    assert last.label.endswith(", and the call returns 42")
    assert not record_names(returns_nothing).steps[-1].label.endswith("None")
    assert "returns" not in record_names(returns_nothing).steps[-1].label


def test_the_last_step_is_the_end_and_returns():
    *steps, last = record_names(returns_nothing).steps
    assert (last.says, last.lane, last.line, last.short) == (CALL_IS_OVER, "return", 0, "the end")
    assert [step.line for step in steps] == [2, 3]
    assert all(step.short != "the end" for step in steps)


def test_an_exception_is_in_the_label_of_its_line():
    steps = record_names(raises).steps
    assert steps[-1].label.endswith(" raised KeyError")
    assert record_names(raises).note == ""

    labels = [step.label for step in record_names(handles).steps]
    assert sum(label.endswith(" raised KeyError") for label in labels) == 1
    assert labels[-1].endswith(", and the call returns 7")


def test_the_end_of_an_iterator_is_no_exception():
    labels = [step.label for step in record_names(loops).steps]
    assert not any("StopIteration" in label for label in labels)


def test_an_inner_call_of_itself_is_part_of_its_line():
    timeline = record_names(reads_itself, 3)
    assert len(timeline.steps) == 3
    assert timeline.steps[-1].label.endswith("returns 5")
    assert timeline.steps[1].lane == "call"


def test_names_come_in_the_order_in_which_they_are_bound():
    def rebinds():
        b = 1
        a = 2
        del b
        b = 3
        return a + b

    assert [list_names(step) for step in record_names(rebinds).steps] == [
        [],
        ["b"],
        ["b", "a"],
        ["a"],
        ["a", "b"],
        ["a", "b"],
    ]


def test_private_names_are_left_out_and_a_note_says_so():
    def private():
        _hidden = 1
        shown = 2
        return _hidden + shown

    timeline = record_names(private)
    assert list_names(timeline.steps[-1]) == ["shown"]
    assert timeline.note == PRIVATE_NAMES_HIDDEN
    assert record_names(loops).note == ""


def test_an_object_keeps_its_box():
    def appends():
        a = []
        a.append(1)
        return a

    steps = record_names(appends).steps
    boxes = [step.panel(NAMES_PANEL).targets("name a") for step in steps[1:]]
    assert len(set(boxes)) == 1


def test_only_the_end_of_a_long_output_is_shown():
    def prints(count):
        print("a" * count, end="")

    def read_output(count):
        return record_names(prints, count).steps[-1].panel(PRINTED_PANEL)

    assert read_output(0) == ""
    assert read_output(50) == "a" * 50
    long = 10**6
    remark, tail = read_output(long).split("\n")
    hidden_count = int(remark.partition(" ")[0].strip("[").replace(",", ""))
    assert hidden_count > 0
    assert tail == "a" * len(tail)
    assert hidden_count + len(tail) == long


@pytest.mark.parametrize("most", [1, 2, 3, 10])
def test_there_are_as_many_steps_as_were_asked_for(most):
    def three_lines():
        a = 1
        b = 2
        return a + b

    timeline = record_names(three_lines, most=most)
    assert len(timeline.steps) == min(most, 3) + 1
    assert (f"most={2 * most}" in timeline.note) is (most < 3)


def test_a_generator_is_run_to_its_end():
    def yields(count):
        for number in range(count):
            yield number + 1

    timeline = record_names(yields, 2)
    assert timeline.note == GENERATOR_WAS_RUN
    assert [list_names(step)[-1] for step in timeline.steps[-2:]] == ["number", "number"]
    assert timeline.steps[-1].lane == "return"
    assert not any("returns" in step.label for step in timeline.steps)

    cut = record_names(yields, 1000, most=4)
    assert GENERATOR_WAS_RUN not in cut.note
    assert len(cut.steps) == 5


def test_a_call_that_does_not_begin_raises_in_the_note():
    timeline = record_names(returns_a_number, 1)
    assert timeline.steps == ()
    assert "returns_a_number" in timeline.note
    assert "TypeError" in timeline.note


def test_the_title_names_function_and_place():
    timeline = record_names(loops)
    line = loops.__code__.co_firstlineno
    assert timeline.title.startswith(f"loops (test_name_timeline.py:{line})")
    assert timeline.source.startswith("def loops():")


class Own:
    """An instance whose attributes are drawn."""


FOLLOWED = [
    ([], True),
    ((), True),
    ({}, True),
    (set(), True),
    (frozenset(), True),
    (functools.partial(len), True),
    (Own().__init__, False),
    (types.MethodType(len, 1), True),
    (loops, True),
    (functools.wraps, False),
    (Own(), True),
    (Own, False),
    (types, False),
    (enum.Enum("Colour", "RED").RED, False),
]


@pytest.mark.parametrize(("value", "is_drawn"), FOLLOWED, ids=[str(n) for n in range(14)])
def test_contents_are_drawn_of_containers_and_of_what_the_learner_wrote(value, is_drawn):
    assert is_followed(value) is is_drawn
