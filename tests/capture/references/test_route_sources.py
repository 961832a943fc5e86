"""Short pieces of source tell a route, a reader and an intervention from others."""

import contextlib
import functools
import types

import pytest

from helpers.capture.references import route_sources
from helpers.capture.references.route_sources import (
    LONGEST_CALL,
    LONGEST_LINE,
    MOST_PATCH_LINES,
    SHARED_CHARACTERS,
    find_differing_lines,
    find_holder_kind,
    format_call,
    format_intervention,
)


def operate(value=1):
    return value


module = types.ModuleType("app")
module.op = operate
item = [operate]


def test_a_route_is_shown_by_what_its_lambda_returns_or_by_its_name():
    assert format_call(lambda: operate(2)) == "operate(2)"
    assert format_call(lambda x=(1, 2): module.op(*x)) == "module.op(*x)"
    assert format_call(operate) == "operate()"
    long = format_call(lambda: operate(111111) + operate(222222) + operate(333333))
    assert len(long) <= LONGEST_CALL
    assert long.startswith("operate(")


def test_a_lambda_without_a_source_is_shown_by_dots():
    assert format_call(eval("lambda: 1")) == "…"


def test_the_whole_expression_of_a_lambda_is_shown():
    first = lambda: (operate(1), operate(2))  # noqa: E731
    assert format_call(first) == "(operate(1), operate(2))"


def make_reader():
    local = operate
    return lambda: local


READERS = {
    "a global name": (lambda: operate, "name"),
    "a name of a closure": (make_reader(), "name"),
    "a name in a module": (lambda: module.op, "name"),
    "a default of a function": (lambda: operate.__defaults__[0], "function"),
    "an item": (lambda: item[0], "object"),
    "a name that is not there": (lambda: missing.op, "object"),  # noqa: F821
    "no function": (functools.partial(operate), "object"),
}


@pytest.mark.parametrize("kind", READERS)
def test_the_first_variable_of_a_reader_decides_what_holds_the_function(kind):
    reader, holder = READERS[kind]
    assert find_holder_kind(reader) == holder


@contextlib.contextmanager
def patched():
    module.op = len
    yield
    module.op = operate


@contextlib.contextmanager
def nested():
    if module:
        module.op = len
    yield


def make_long(count):
    lines = ["def long():", *(f"    a = {number}" for number in range(count))]
    return types.SimpleNamespace(lines=lines)


def test_an_intervention_is_shown_by_the_lines_of_its_body():
    assert format_intervention(patched) == "module.op = len\nyield\nmodule.op = operate"
    assert format_intervention(nested) == "if module:\n    module.op = len\nyield"
    assert format_intervention(operate) == "return value"


def test_an_intervention_without_a_body_to_see():
    assert format_intervention(lambda: patched()) == "patched()"
    assert format_intervention(contextlib.nullcontext) == ""
    assert format_intervention(functools.partial(patched)) == ""


@pytest.mark.parametrize("count", [MOST_PATCH_LINES, MOST_PATCH_LINES + 1])
def test_only_the_first_lines_of_an_intervention_are_shown(count, monkeypatch):
    monkeypatch.setattr(route_sources, "find_source", lambda code: make_long(count))
    lines = format_intervention(operate).splitlines()
    assert lines == [f"a = {number}" for number in range(MOST_PATCH_LINES)]


DIFFERING = [
    ([], []),
    ([["def f():", "    a", "    b"]], ["b"]),
    ([["def f():", "    a", "    b"], ["def f():", "    a", "    c"]], ["b", "c"]),
    ([["def f():", "    a", "    b"], ["def f():", "    a"]], ["b", "a"]),
    ([["lambda: 1"], ["lambda: 2"]], ["lambda: 1", "lambda: 2"]),
    ([["def f(x: int): return x"], ["def f(x) -> int: pass"]], ["return x", "pass"]),
    ([["x"], ["x"]], ["x", "x"]),
]


@pytest.mark.parametrize(("sources", "lines"), DIFFERING)
def test_each_source_is_shown_by_its_first_line_of_its_own(sources, lines):
    assert find_differing_lines(sources) == lines


@pytest.mark.parametrize("shared_count", range(SHARED_CHARACTERS - 1, SHARED_CHARACTERS + 5))
@pytest.mark.parametrize("length", [LONGEST_LINE, LONGEST_LINE + 1])
def test_only_the_shared_beginning_of_long_lines_is_cut(shared_count, length):
    lines = [("s" * shared_count + letter * length)[:length] for letter in "ab"]
    shown = find_differing_lines([["def f():", line] for line in lines])
    if length > LONGEST_LINE and shared_count > SHARED_CHARACTERS + 1:
        cut_length = shared_count - SHARED_CHARACTERS
        assert shown == [f"…{line[cut_length:]}" for line in lines]
    else:
        assert shown == lines
