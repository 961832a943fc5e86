"""Somebody's `execute` in a child -> where it first parts from TensorFlow's, if anywhere.

The child says which call comes before it makes it: what kills it is known by the last one said.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

from helpers.capture.processes.child import run_child
from helpers.capture.processes.function_source import portable
from helpers.capture.tensorflow.op_callbacks import DOORS
from helpers.capture.text.error import said
from helpers.model.phrase import counted
from helpers.model.transcript import Transcript
from helpers.safety.arguments import kind_of
from helpers.safety.child_main import channel
from helpers.study.chapter_6.eager_cases import right_calls, wrong_calls
from helpers.study.chapter_6.op_cases import Case, py_execute, same, words_of
from helpers.study.chapter_6.op_ledger import OpLedger

SECONDS = 30
UNTRIED = "untried"
READY = ("helpers.mini.eager.execute.", "helpers.mini.eager.attributes.set_attributes")
MOST_OUTPUTS = 16
MOST_SHOWN = 80  # characters


def why_not(fn) -> str:
    """Return why `fn` is not an eager call, in words; "" if it is one, "untried" for a stub.

    TypeError or ValueError if its source cannot be had.
    """
    reply = run_child(
        f"{portable(fn)}\nfrom {__name__} import trial\ntrial({fn.__code__.co_name})\n", SECONDS
    )
    told = {"at": "the first call"}
    for line in reply["told"]:
        told |= line
    if "verdict" in told:
        return told["verdict"]
    ending = Transcript("", "", "", "", reply["code"], reply["cut"]).ending
    return f"{told['at']}: {reply['error'].strip() or ending}"


def trial(fn) -> None:
    """Run in the child: compare `fn` with TensorFlow call by call, and tell."""
    tell = channel().tell
    tell(verdict=next((because for because in _parted(fn, tell) if because), ""))


def _parted(fn, tell) -> Iterator[str]:
    ledger = OpLedger()
    yield _first(fn, tell)
    yield _balanced("Neg, without attributes", ledger)
    outputs = {}  # of each op, how many
    for case in chain(right_calls(), wrong_calls()):
        if not case.wrong and case.op not in outputs:
            outputs[case.op] = len(py_execute(case, MOST_OUTPUTS))
        number = outputs.get(case.op, 1) if "outputs" not in case.wrong else 0
        tell(at=case.words)
        yield _compared(fn, case, number)
        yield _balanced(case.words, ledger)


def _balanced(words: str, ledger: OpLedger) -> str:
    fault = ledger.fault()
    return f"{words}: {fault}" if fault else ""


def _first(fn, tell) -> str:
    """Return what is wrong with the simplest call, and whether it went through the C API."""
    import tensorflow as tf

    a = tf.constant([1.0, 2.0])
    tell(at="Neg, without attributes")
    with tf.GradientTape() as tape:
        tape.watch(a)
        try:
            with _passed() as doors:
                found = fn("Neg", [a])
        except Exception as error:
            return f"Neg, without attributes: yours raised {said(error)}"
    if found is ...:
        return UNTRIED
    if because := _no_list(found):
        return because
    if found and tape.gradient(found[0], a) is not None:
        return "the tape saw the call: it went through one of TensorFlow's wrappers"
    with _passed() as with_attributes:
        _run(fn, "Cast", [a], ("DstT", tf.int32), 1)
    for door in (*doors, *with_attributes):
        return f"{door} did it for you: make the calls of the C API yourself"
    return ""


@contextmanager
def _passed():
    """Give a list of the ready-made ways to run an op that are taken inside the block."""
    taken, before = [], sys.getprofile()

    def watch(frame, event, argument):
        if event == "c_call":
            name = argument.__qualname__.removeprefix("PyCapsule.")
            taken.extend([name] if name in DOORS else [])
        elif event == "call":
            name = f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
            taken.extend([name] if name.startswith(READY) else [])

    sys.setprofile(watch)
    try:
        yield taken
    finally:
        sys.setprofile(before)


def _compared(fn, case: Case, outputs: int) -> str:
    expected, theirs = _run(py_execute, case, outputs)
    found, mine = _run(fn, case.op, list(case.inputs), case.attrs, outputs)
    if theirs[0] and not mine[0]:
        return f"{case.words}: yours raises nothing, TensorFlow raises {_said(theirs)}"
    if mine[0] and not theirs[0]:
        return f"{case.words}: yours raised {_said(mine)}"
    if mine != theirs:
        return f"{case.words}: yours raises {_said(mine)}, TensorFlow raises {_said(theirs)}"
    if theirs[0]:
        return ""
    if because := _no_list(found):
        return f"{case.words}: {because}"
    if len(found) != len(expected):
        theirs = counted(len(expected), "output")
        return f"{case.words}: yours gives {len(found)}, TensorFlow gives {theirs}"
    if same(found, expected):
        return ""
    odd = next(k for k in range(len(found)) if not same(found[k : k + 1], expected[k : k + 1]))
    return (
        f"{case.words}: yours gives {_value(found[odd])}, TensorFlow gives {_value(expected[odd])}"
    )


def _run(call, *args) -> tuple:
    """Return what a call gives, and the type and the words of what it raises, or of nothing."""
    try:
        return call(*args), ("", "")
    except Exception as error:
        return None, words_of(error)


def _no_list(found) -> str:
    import tensorflow as tf

    if isinstance(found, list) and all(isinstance(one, tf.Tensor) for one in found):
        return ""
    return f"it must return a list of EagerTensors, not {kind_of(found)}"


def _value(tensor) -> str:
    value = " ".join(str(tensor.numpy()).split())
    return f"{value[:MOST_SHOWN]} ({tensor.dtype.name})"


def _said(error: tuple[str, str]) -> str:
    words = " ".join(error[1].split())
    return f"{error[0]}: {'…' * (len(words) > MOST_SHOWN)}{words[-MOST_SHOWN:]}"
