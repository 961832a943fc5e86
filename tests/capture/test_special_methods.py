"""No verb runs a special method of a user's object: what it runs are those of the program."""

import contextlib
import gc
import io
import subprocess

import pytest

import helpers
from helpers.capture.text.error import describe_error
from helpers.capture.text.error_text import NOT_RUN, read_message
from helpers.exhibit import Exhibit
from helpers.safety.arguments import real_isinstance
from tests.observer.special_methods import RAN, programs

PROGRAMS = programs()


def in_block(fn, args):
    with helpers.watching_ops() as seen:
        fn(*args)
    return seen


def of_error(fn, args):
    try:
        fn(*args)
    except BaseException as error:
        return helpers.show_traceback(error)


def calls_once(name):
    return lambda fn, args: getattr(helpers, name)(fn, *args)


# verb -> how it is used, and how often it calls the program
ONE_CALL = "watch_names watch_frames watch_stack watch_ops watch_call watch_hooked"
VERBS = {name: (calls_once(name), 1) for name in ONE_CALL.split()}
VERBS |= {
    "watching_ops": (in_block, 1),
    "show_traceback": (of_error, 1),
    "show_journey": (calls_once("show_journey"), 2),
    "watch_calls": (lambda fn, args: helpers.watch_calls({"call": (fn, *args)}), 2),
    "show_table": (lambda fn, args: helpers.show_table("T", {"fn": fn, "args": args}), 0),
    "show_bindings": (lambda fn, args: helpers.show_bindings(args[0]), 0),
}


@pytest.fixture(autouse=True, scope="module")
def small_heap():
    """Searches look only through what is made from now on."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("verb", VERBS)
def test_verb_runs_no_special_method_of_its_own(verb):
    act, calls = VERBS[verb]
    different = {}
    for name, build in PROGRAMS.items():
        plain = special_methods_of(build, lambda fn, args: fn(*args)) * calls
        watched = special_methods_of(build, act)
        if watched != plain:
            different[name] = plain, watched
    assert not different


def special_methods_of(build, act) -> list[str]:
    """Return which special methods ran while a program was used, and its exhibit drawn."""
    fn, args = build()
    RAN.clear()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(BaseException):
        made = act(fn, args)
        if real_isinstance(made, Exhibit):
            made.text()
            made._page()
    return [*RAN]


def test_words_of_an_error_are_those_of_cpython_where_no_user_wrote_them():
    errors = [
        ValueError(),
        ValueError("why"),
        ValueError(1, "two"),
        KeyError("key"),
        OSError(2, "none", "file"),
        ExceptionGroup("several", [ValueError(1), KeyError(2)]),
        UnicodeDecodeError("utf-8", b"a", 0, 1, "why"),
        SyntaxError("why", ("file", 1, 2, "line")),
        subprocess.CalledProcessError(1, ["ls"]),
        type("Own", (ValueError,), {})("why"),
        ImportError("why", name="module"),
    ]
    assert [read_message(error) for error in errors] == [*map(str, errors)]


def test_an_error_with_words_of_its_own_is_said_by_what_it_was_made_with():
    class Own(Exception):
        def __str__(self):
            return "never"

    words = describe_error(Own("stored", 3))
    assert "never" not in words and "stored" in words and NOT_RUN in words
