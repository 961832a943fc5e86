"""One bad argument of a verb -> one sentence about it, and no frame of a verb in the traceback."""

import contextlib
import inspect
import io
import math
import sys
import traceback
from pathlib import Path

import pytest

import helpers
from helpers.safety.restoring import preserves_interpreter_state
from tests.a_kernel import Client
from tests.front_door import INSTRUMENTS
from tests.pythons import ROOT, finished

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")  # before TensorFlow
tf = pytest.importorskip("tensorflow")
np = pytest.importorskip("numpy")
pytestmark = pytest.mark.own_process(sharing="tensorflow")

HOUSE = str(ROOT / "helpers")
KINDS = (TypeError, ValueError, LookupError, NameError, RuntimeError)
# Of these only words are wrong: they look at the whole process, or start many children.
SLOW = {"show_bindings", "show_binding_map", "show_interceptions", "startup_switches"}
SLOW |= {"show_environment", "watch_inductor", "show_imports_then_and_now", "call_in_child"}
SLOW |= {"watch_in_child"}  # test_children.py has what it refuses


def fn(x):
    return x


class Thing:
    def method(self):
        return 1


AWKWARD = {
    "an int": 3,
    "a huge int": 10**400,
    "a float": 1.5,
    "None": None,
    "True": True,
    "text": "no such thing",
    "no text": "",
    "two lines": "two\nlines",
    "bytes": b"x",
    "a list": [1],
    "a dict": {"a": 1},
    "a dict without names": {1: 2},
    "an empty dict": {},
    "a tuple": (1, 2),
    "a set": {1},
    "an array": np.ones(2),
    "a tensor of torch": torch.ones(2),
    "a tensor of TensorFlow": tf.ones(2),
    "a lambda": lambda: 1,
    "a function": fn,
    "a function in C": len,
    "a class": Thing,
    "an object": Thing(),
    "a module": math,
    "an exhibit": helpers.show_code(fn),
    "an exception": ValueError("two\nlines"),
}


def misspelt(word: str) -> str:
    """Return a word with its last two letters swapped, or one letter more if it is short."""
    return f"{word[:-2]}{word[-1]}{word[-2]}" if word[-1:] != word[-2:-1] else f"{word}{word[-1]}"


def options(verb) -> list[str]:
    """Return the names of what a verb takes beside its first argument."""
    _, *parameters = inspect.signature(verb).parameters.values() or [None]
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters if p.kind in named]


def calls(name: str):
    """Yield (what is wrong, arguments, words) of calls of a verb."""
    verb = getattr(helpers, name)
    yield "an unknown word", (fn,), {"zzz": 1}
    if name in SLOW:
        return
    yield "nothing", (), {}
    yield "too many", (fn, *range(20)), {}
    yield "only an unknown word", (), {"zzz": 1}
    for words, value in AWKWARD.items():
        yield words, (value,), {}
    for words in ("an int", "a list", "text", "an object"):
        yield f"a function and {words}", (fn, AWKWARD[words]), {}
        for option in options(verb):
            yield f"{option}={words}", (fn,), {option: AWKWARD[words]}


def error_of(verb, args, given):
    """Return what a call raises, None if it raises nothing."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            made = verb(*args, **given)
            if hasattr(made, "__enter__"):
                with made:
                    pass
    except Exception as error:
        return error
    return None


def faults(verb, args, given) -> list[str]:
    """Return what is wrong with the error of a call, if it raises one."""
    error = error_of(verb, args, given)
    if error is None:
        return []
    found, words = [], str(error.args[0] if error.args else error)
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if not isinstance(error, KINDS):
        found.append(f"{type(error).__name__} is not documented")
    if "\n" in words:
        found.append(f"several lines: {words!r}")
    if "helpers." in words or "_sig" in words:
        found.append(f"names what is inside: {words}")
    if any(file.startswith(HOUSE) for file in frames):
        found.append(f"frames of ours: {frames} {words}")
    if error.__cause__ is not None or not (error.__suppress_context__ or not error.__context__):
        found.append(f"shows another error before it: {error.__cause__ or error.__context__!r}")
    return found


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_a_wrong_argument_is_one_sentence_without_frames_of_ours(name):
    verb, wrong = getattr(helpers, name), []
    for words, args, given in calls(name):
        wrong += [f"{words}: {fault}" for fault in faults(verb, args, given)]
    assert wrong == []


NOT_OWN = {"show_op_graph"}  # every other word is a name of the learner's


@pytest.mark.parametrize("name", sorted({*INSTRUMENTS} - NOT_OWN))
def test_a_misspelt_word_is_answered_by_the_right_one(name):
    verb = getattr(helpers, name)
    for option in options(verb):
        if len(option) < 4:
            continue
        error = error_of(verb, (fn,), {misspelt(option): 1})
        assert isinstance(error, TypeError) and f"did you mean {option}=?" in str(error), error


def test_words_of_a_framework_are_answered_too():
    for verb, word in ((helpers.watch_traces, "autograph"), (helpers.watch_recompiles, "backend")):
        assert f"did you mean {word}=?" in str(error_of(verb, (fn,), {misspelt(word): 1}))


def takes_most(mots=1):
    return mots


def test_a_word_that_the_function_takes_is_the_function_s():
    assert error_of(helpers.watch_frames, (takes_most,), {"mots": 2}) is None
    assert "did you mean most=?" in str(error_of(helpers.watch_frames, (fn, 1), {"mots": 2}))


NAMED = {
    "watch_names(3)": "watch_names needs a Python function, not 3",
    "show_fx(print, title=1)": "show_fx: title must be text, not int",
    "show_fx(print, 1)": "show_fx(thing, *, title='', find='') takes 1 argument by position, and "
    "you passed 2",
    "watch_traces(len, [1])": "watch_traces(f, /, **options) takes 1 argument by position, and you "
    "passed 2; it returns what to call: watch_traces(f)(…)",
    'show_bytecode(f, tilte="x")': "show_bytecode has no argument tilte=",
    "show_guards(f, fnid=1)": "show_guards has no argument fnid=; did you mean find=?",
    "code_swapped(f)": "code_swapped needs donor: the call is code_swapped(function, donor)",
}


@pytest.mark.parametrize("call", NAMED)
def test_what_was_tried_says_what_is_right(call):
    with pytest.raises(TypeError) as caught:
        eval(call, {**{name: getattr(helpers, name) for name in INSTRUMENTS}, "f": fn})
    assert str(caught.value).startswith(NAMED[call])


def divides(by):
    return inner(by)


def inner(by):
    return 1 / by


@pytest.mark.parametrize("name", ["watch_names", "watch_stack", "watch_ops", "watch_tracers"])
def test_an_error_of_the_learner_keeps_all_frames_of_the_learner(name):
    error = error_of(getattr(helpers, name), (divides, 0), {})
    frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert frames == ["error_of", "divides", "inner"]


def test_a_mistake_of_ours_keeps_its_frames():
    def breaks():
        return {}["a mistake"]

    code = breaks.__code__.replace(co_filename=str(Path(HOUSE, "capture", "mistaken.py")))
    mistaken = type(breaks)(code, globals())
    verb = preserves_interpreter_state(mistaken)
    error = error_of(verb, (), {})
    assert type(error) is KeyError and "mistaken.py" in str(
        [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    )


PROGRAM = """
def f(x): return x
from helpers import {name}
{call}
"""


@pytest.mark.parametrize("call", ["watch_names(3)", "show_bytecode(f, nohting=1)"])
def test_plain_python_shows_only_the_learner_s_line(call):
    code = PROGRAM.format(name=call.partition("(")[0], call=call)
    told = finished([sys.executable, "-c", code], cwd=ROOT).stderr
    assert told.count('File "') == 1 and 'File "<string>", line 4, in <module>' in told
    assert told.splitlines()[-1].startswith("TypeError: ")


def test_ipython_shows_only_the_cell(tmp_path):
    client = Client(tmp_path)
    try:
        client.run("import helpers\ndef f(x): return 1 / x")
        client.run("helpers.watch_names(3)")
        assert "helpers.watch_names(" in client.trace and "/helpers/" not in client.trace
        assert "restoring" not in client.trace and "needs a Python function" in client.trace
        client.run("helpers.watch_stack(f, 0)")
        assert "f(x)" in client.trace and "ZeroDivisionError" in client.trace
        assert "settrace" not in client.trace and "restoring" not in client.trace
    finally:
        client.end()
