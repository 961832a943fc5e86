"""What each route runs: every wrong use is one sentence, and nothing stays of what was done."""

import contextlib

import pytest

from helpers.capture.references.route_sources import find_differing_lines
from helpers.capture.references.routes import record_callers

FINE = {"i": contextlib.nullcontext}


def word(route):
    return route()


@pytest.mark.parametrize(
    ("routes", "judge", "interventions", "sentence"),
    [
        ([word], word, FINE, "routes needs a dict: name"),
        ({"r": 3}, word, FINE, "which cannot be called"),
        ({3: word}, word, FINE, "a name must be text"),
        ({"r": word}, "x", FINE, "judge is a function"),
        ({"r": word}, word, None, "interventions needs a dict"),
        ({"r": word}, word, {"i": 3}, "which cannot be called"),
    ],
)
def test_wrong_arguments_are_refused(routes, judge, interventions, sentence, refused):
    refused(TypeError, sentence, record_callers, routes, judge, interventions)


@pytest.mark.parametrize(
    "ending", [SystemExit, GeneratorExit, ZeroDivisionError, type("Own", (BaseException,), {})]
)
def test_a_route_that_ends_the_run_is_a_failed_verdict(ending):
    def leaves():
        raise ending

    board = record_callers({"r": leaves, "s": lambda: "fine"}, word, FINE)
    assert board.word("r", "i") == ending.__name__ and board.word("s", "i") == "fine"


def test_an_intervention_that_raises_is_named(refused):
    @contextlib.contextmanager
    def fails():
        raise KeyError("no")
        yield

    words = "intervention 'i' could not be entered: KeyError"
    refused(RuntimeError, words, record_callers, {"r": lambda: "x"}, word, {"i": fails})


def test_the_line_of_code_that_is_shown_is_one_that_differs():
    lines = [f"total = math.fsum(item.{word} for item in a)" for word in ("old", "new")]
    sources = [["def f(a):", f"    {line}", "    return total"] for line in lines]
    assert find_differing_lines(sources) == [
        "…um(item.old for item in a)",
        "…um(item.new for item in a)",
    ]
    assert find_differing_lines([["lambda: 1"], ["lambda: 2"]]) == ["lambda: 1", "lambda: 2"]
    assert find_differing_lines([["def new(*args) -> int: return 2"]]) == ["return 2"]
    assert find_differing_lines([["def f():", "    return 1"]] * 2) == ["return 1", "return 1"]
