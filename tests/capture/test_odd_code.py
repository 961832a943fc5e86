"""Code objects, frames and errors that nobody would write: looked at, refused, never run into."""

import json
import linecache
import types

import pytest

import helpers
from helpers.capture.text.error import describe_error
from helpers.capture.text.source import find_source


def test_class_body_has_its_own_source():
    source = "def before():\n    pass\n\n\nclass Inner:\n    x = 1\n"
    linecache.cache["<odd>"] = len(source), None, source.splitlines(True), "<odd>"
    codes = [c for c in compile(source, "<odd>", "exec").co_consts if type(c) is types.CodeType]
    assert find_source(codes[1]).text.startswith("class Inner")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: helpers.show_frames(most=0), ValueError),
        (lambda: helpers.show_rosetta(3), ValueError),
        (lambda: helpers.watch_tracers(list.append.__class__), TypeError),
        (lambda: helpers.watch_tracers(interrupted, iter([1])), TypeError),
        (lambda: helpers.watch_costs(interrupted, {"a": 3}), TypeError),
        (lambda: helpers.watch_specialising(interrupted, {}), TypeError),
        (lambda: helpers.watch_specialising(interrupted, {"a": ()}, times=0), ValueError),
        (lambda: helpers.show_table("t", [1]), TypeError),
        (lambda: helpers.show_table("t", {f"k{n}": 1 for n in range(5_000)}), ValueError),
        (lambda: helpers.show_opcode_coverage(3), TypeError),
    ],
)
def test_misuse_is_refused_in_one_sentence(call, error, refused):
    refused(error, ".", call)


def interrupted():
    raise KeyboardInterrupt


def test_table_asks_no_value_for_its_words():
    class Raising:
        def __repr__(self):
            raise RuntimeError

    row = {"a b": Raising(), "class": [1, "x"], "a_b": None, "n": 10**5_000}
    shown = helpers.show_table("t", row)
    assert "Raising object" in repr(shown) and "[1, 'x']" in repr(shown)


NEEDING = {
    "": """show_bytecode show_code show_evaluator show_journey watch_call watch_frames watch_names
        watch_ops watch_stack""",
    "tensorflow": "show_autograph show_graph watch_optimisation watch_traces",
    "torch": "show_compiled watch_breaks watch_compile watch_recompiles",
}
VERBS = [(name, needs) for needs, names in NEEDING.items() for name in names.split()]


@pytest.mark.parametrize(("name", "needs"), VERBS)
def test_a_verb_names_what_to_give_in_place_of_a_module(name, needs, refused):
    if needs:
        pytest.importorskip(needs)
    refused(TypeError, r"json\.dump", getattr(helpers, name), json)


class Broken(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyError(), "KeyError"),
        (Broken(), "Broken (its own __str__ was not called)"),
        (ValueError("<f at 0x7f00> is odd"), "ValueError: <f> is odd"),
        (
            ValueError(
                'in user code:\n\n    File "/x/y.py", line 1, in f  *\n        f()\n\n'
                "    ValueError: not so"
            ),
            "ValueError: not so (line 1 of y.py: f())",
        ),
        (
            ValueError(
                "Graph execution error:\n\nDetected at node a defined at (most recent call last):\n"
                "<stack traces unavailable>\nassertion failed: 1\n\t [[{{node a}}]] [Op:__f_12]"
            ),
            "ValueError: assertion failed: 1",
        ),
    ],
)
def test_the_sentence_is_kept(error, words):
    assert describe_error(error) == words


def raised(run):
    try:
        run()
    except BaseException as error:
        return describe_error(error)
    return ""


def in_a_chain():
    try:
        {}["a"]
    except KeyError as error:
        problem = ValueError("a bad setting")
        problem.add_note("Look at the batch.")
        raise problem from error


CONSTRAINT = ValueError(
    "Constraints violated (x)! For more information, run with TORCH_LOGS.\n  - Your code "
    'specialized it to be a constant (4).\n\nUser stack:\n  File "/own/steps.py", line 3, in f\n'
    "    if x == 4:\n       ^^^^^^\n"
)
KERNELS = ValueError(
    "No OpKernel was registered\n\t [[{{node a}}]] [Op:A]\n  All kernels registered for op A:\n  "
    "device='CPU'; T in [DT_INT32]\n  device='GPU'"
)
HINTS = ValueError(
    "Failed to trace\n  Explanation: It prints.\n  Hint: Remove it.\n\n See https://a.b/c for more "
    'information.\n\nfrom user code:\n   File "/own/steps.py", line 9, in g\n    print(x)\n'
)
LONG = ValueError("\n".join(["Many", *["line " + "x" * 60] * 90, "Hint: Do less.", "the last"]))


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (CONSTRAINT, ["specialized it to be a constant (4)", "(line 3 of steps.py: if x == 4:)"]),
        (KERNELS, ["All kernels registered for op A: device='CPU'; T in [DT_INT32]", "'GPU'"]),
        (HINTS, ["Explanation: It prints. Hint: Remove it.", "(line 9 of steps.py: print(x))"]),
        (LONG, ["ValueError: Many", "Hint: Do less.", "the last"]),
        (ExceptionGroup("both", [ValueError("a"), KeyError("b")]), ["ValueError: a", "KeyError"]),
    ],
)
def test_cause_hint_and_the_users_line_are_kept(error, parts):
    words = describe_error(error)
    assert all(part in words for part in parts), words
    assert len(words) < 1600 and "http" not in words and "\n" not in words


def test_notes_and_the_errors_behind_one_are_kept():
    assert raised(in_a_chain) == (
        "ValueError: a bad setting; Look at the batch. Behind it: KeyError: 'a'"
    )
