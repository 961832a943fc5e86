"""Names and objects: one box per object, by identity, and no code of the objects' own is run."""

import collections
import enum
import fractions
import functools
import itertools
import logging
import re
import sys
import threading

import networkx
import numpy
import pytest

from helpers import show_names
from helpers.capture.references.name_graph import RUN_THE_CELL, build_names_graph
from helpers.capture.references.name_timeline import MOST_STEPS, is_followed, record_names


def graph(**names):
    return build_names_graph(names, list(names))


def target(drawn, name):
    return drawn.targets(f"name {name}")[0]


def test_two_names_of_one_object_lead_to_one_box():
    def a(): ...

    drawn = graph(a=a, b=a, c=5)
    assert target(drawn, "a") == target(drawn, "b") != target(drawn, "c")
    assert drawn.node(target(drawn, "a")).label == "a()"


def test_a_name_that_a_function_does_not_see_is_told_as_such(refused):
    outside = 1
    refused(NameError, "sees only the outer names that it uses", lambda: show_names("outside"))
    assert (lambda: outside and show_names("outside"))().model.targets("name outside")
    with pytest.raises(NameError, match=f"'nowhere' .*{RUN_THE_CELL}"):
        exec("show_names('nowhere')", {"show_names": show_names})


class Layer:
    def op(self): ...


def holders():
    def op(): ...

    def by_default(call=op): ...

    def by_closure():
        return op

    @functools.wraps(op)
    def wrapped(): ...

    layer = Layer()
    layer.fn = op
    held = {"list item": [op], "dict item": {"k": op}, "partial": functools.partial(op)}
    held |= {"default": by_default, "closure": by_closure, "__wrapped__": wrapped}
    return op, held | {"instance": layer, "static": staticmethod(op)}


@pytest.mark.parametrize("kind", holders()[1])
def test_holder_is_followed_to_the_function(kind):
    op, held = holders()
    drawn = graph(op=op, holder=held[kind])
    assert target(drawn, "op") in drawn.targets(target(drawn, "holder"))


def place(fn, line):
    """Return what the exhibit calls this line of a function of this file."""
    return f"test_names.py:{fn.__code__.co_firstlineno + line - 1}"


def test_last_step_says_what_the_call_returns():
    def run(n):
        return n + 1

    last = f"after {place(run, 2)}, and the call returns 3"
    assert record_names(run, 2).steps[-1].label == last


def test_steps_show_names_after_each_line_and_what_was_printed():
    def run():
        a = len
        b = a
        a = 5
        print("b is", b([1, 2]))

    steps = record_names(run).steps
    assert [step.label for step in steps][1:] == [f"after {place(run, n)}" for n in (2, 3, 4, 5)]
    assert [step.line for step in steps] == [2, 3, 4, 5, 0]  # the line that is about to run
    last = steps[-1].panel("names and objects")
    assert last.node(target(last, "a")).label == "5"
    assert last.node(target(last, "b")).label == "len()"
    assert [step.panel("printed") for step in steps] == ["", "", "", "", "b is 2\n"]


def test_a_long_run_is_capped_and_says_so():
    def run():
        for _ in range(10**4):
            pass

    timeline = record_names(run)
    assert len(timeline.steps) == 1 + MOST_STEPS and str(MOST_STEPS) in timeline.note


def generator():
    yield 1


def without_tracer():
    a = 1
    sys.settrace(None)
    b = 2
    return a + b


def wants_one(x):
    return x


@pytest.mark.parametrize(
    ("fn", "sentence"),
    [
        (generator, "The generator was run to its end."),
        (without_tracer, "The tracer was lost (sys.settrace, or Ctrl-C inside it): what"),
        (wants_one, "raised TypeError before its first line"),
    ],
)
def test_what_is_not_shown_has_its_reason(fn, sentence):
    assert sentence in record_names(fn).note


def test_a_wide_and_deep_thing_is_cut_at_a_number_of_boxes():
    def nest(depth):
        return [nest(depth - 1) for _ in range(10)] if depth else object()

    drawn = graph(nested=nest(4))
    assert len(drawn.nodes) <= 150 and "first 150 boxes" in drawn.note


def test_an_object_keeps_its_key_from_step_to_step():
    def moves():
        a = [1]
        b = a
        a = [2]

    _, first, second, third = (s.panel("names and objects") for s in record_names(moves).steps)
    assert target(first, "a") == target(second, "a") == target(second, "b") == target(third, "b")
    assert target(third, "a") != target(third, "b")


def changed_in_place():
    items = [1]
    same = items
    same.append(2)
    items = items + [3]
    table = {"k": same}
    table["k"] = items
    return table


def test_a_line_that_changes_an_object_says_so_though_no_name_moves(snapshot):
    said = [(step.says, step.lane) for step in record_names(changed_in_place).steps]
    assert [lane for _, lane in said[2:7]] == ["store"] * 4 + ["operate"]
    assert [says for says, _ in said] == snapshot


def test_an_error_that_a_handler_lets_through_is_told_at_the_end():
    def tidies():
        try:
            {}["a"]
        finally:
            tidied = True  # noqa: F841

    def raises():
        {}["a"]

    assert re.search(r"tidies .*KeyError", record_names(tidies).note)
    assert record_names(raises).note == "" and "raised" in record_names(raises).steps[-1].label


class Own:
    def __init__(self):
        self.inside = [1]


class Colour(enum.Enum):
    RED = 1


FOLLOWED = {
    "a list": ([object()], True),
    "a set": ({object()}, True),
    "an instance of one's own class": (Own(), True),
    "a function of one's own": (lambda x=(): x, True),
    "a class": (Own, False),
    "a module": (sys, False),
    "an enum": (Colour.RED, False),
    "a compiled regex": (re.compile("a"), False),
    "a cache": (functools.lru_cache(lambda: 0), False),
    "an object of the standard library": (logging.getLogger("mine"), False),
    "an object of an installed package": (networkx.path_graph(3), False),
    "a function of an installed package": (networkx.path_graph.__wrapped__, False),
}


@pytest.mark.parametrize("kind", FOLLOWED)
def test_containers_and_ones_own_are_followed_and_the_insides_of_libraries_are_not(kind):
    value, is_followed = FOLLOWED[kind]

    def run(thing):
        return thing

    last = record_names(run, value).steps[-1].panel("names and objects")
    assert bool(last.targets(target(last, "thing"))) is is_followed


@pytest.mark.parametrize("place", ["site-packages", "dist-packages"])
def test_a_package_of_another_environment_is_an_installed_one(place, tmp_path, monkeypatch):
    folder = tmp_path / place
    folder.mkdir()
    (folder / "foreign.py").write_text("class Thing:\n    def __init__(self): self.inside = [1]\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "foreign", raising=False)
    assert not is_followed(__import__("foreign").Thing()) and is_followed(Own())


def of_library(name, **space):
    return type(name, (), {"__module__": "networkx", **space})()


SAID = itertools.count()
SHOWN = {
    "Fraction(1, 3)": fractions.Fraction(1, 3),
    "deque of 1,000": collections.deque(range(1000)),
    "Graph with 3 nodes and 2 edges": networkx.path_graph(3),
    "float64 [2]": of_library("Series", shape=(2,), dtype=numpy.dtype(float)),
    "deque": collections.deque([object()]),  # its repr has an address
    "Thread": threading.Thread(),
    "Loud": of_library("Loud", __repr__=lambda self: str(next(SAID))),
}


@pytest.mark.parametrize("words", SHOWN)
def test_an_object_of_a_library_shows_a_short_value_without_an_address(words):
    steps = record_names(wants_one, SHOWN[words]).steps
    assert steps[-1].panel("names and objects").nodes[-1].label == words


def test_a_library_object_that_changes_says_from_what_to_what():
    says = record_names(lambda waiting: waiting.append(2), collections.deque([1])).steps[0].says
    assert "waiting" in says and "(deque([1]) → deque([1, 2]))" in says


def test_members_of_a_set_come_in_the_order_of_their_names():
    drawn = graph(letters={"c", "a", "b"})
    found = [drawn.node(key).label for key in drawn.targets(target(drawn, "letters"))]
    assert found == ["'a'", "'b'", "'c'"]
