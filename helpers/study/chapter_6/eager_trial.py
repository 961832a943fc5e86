"""Somebody's `execute` in a child -> where it first parts from TensorFlow's, if anywhere.

The child says which call comes before it makes it: what kills it is known by the last one said.
"""

import sys
from contextlib import contextmanager

from helpers.capture.processes.child import run_child
from helpers.capture.processes.function_source import portable
from helpers.capture.tensorflow.op_callbacks import DOORS
from helpers.capture.text.error import said
from helpers.mini.eager.checks import definition_of
from helpers.mini.eager.defaults import completed
from helpers.model.phrase import counted
from helpers.model.transcript import Transcript
from helpers.safety.arguments import kind_of
from helpers.safety.child_main import channel
from helpers.study.chapter_6.op_cases import Case, cases, py_execute, raised, same, wrong_cases

SECONDS = 30
UNTRIED = "untried"
READY = "helpers.mini.eager.execute"
KINDS = ("bool", "int", "float", "string", "type", "list(int)")


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


def _parted(fn, tell):
    outputs = {case.op: _outputs(case) for case in _calls(cases())}
    yield _first(fn, tell)
    for case in [*_calls(cases()), *_calls(wrong_cases()), *_odd()]:
        number = outputs.get(case.op, 1) if "outputs" not in case.wrong else 0
        tell(at=case.words)
        yield _compared(fn, case, number)


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
    if not isinstance(found, list) or not all(isinstance(one, tf.Tensor) for one in found):
        return f"it must return a list of EagerTensors, not {kind_of(found)}"
    if found and tape.gradient(found[0], a) is not None:
        return "the tape saw the call: it went through one of TensorFlow's wrappers"
    if doors:
        return f"{doors[0]} did it for you: make the calls of the C API yourself"
    return ""


@contextmanager
def _passed():
    """Give a list of the ready-made ways to run an op that are taken inside the block."""
    taken, before = [], sys.getprofile()

    def watch(frame, event, argument):
        if event == "c_call":
            name = argument.__qualname__.removeprefix("PyCapsule.")
            taken.extend([name] if name in DOORS else [])
        elif event == "call" and frame.f_globals.get("__name__") == READY:
            taken.append(f"{READY}.{frame.f_code.co_name}")

    sys.setprofile(watch)
    try:
        yield taken
    finally:
        sys.setprofile(before)


def _compared(fn, case: Case, outputs: int) -> str:
    theirs = raised(py_execute, case, outputs)
    mine = raised(fn, case.op, list(case.inputs), case.attrs, outputs)
    if theirs[0] and not mine[0]:
        return f"{case.words}: TensorFlow raises {theirs[0]}, and yours raises nothing"
    if mine[0] and not theirs[0]:
        return f"{case.words}: yours raised {mine[0]}: {mine[1]}"
    if mine != theirs:
        return f"{case.words}: TensorFlow says {_said(theirs)}, and yours {_said(mine)}"
    if theirs[0]:
        return ""
    found = fn(case.op, list(case.inputs), case.attrs, outputs)
    expected = py_execute(case, outputs)
    if len(found) != len(expected):
        return f"{case.words}: TensorFlow gives {_count(len(expected))}, and yours {len(found)}"
    return "" if same(found, expected) else f"{case.words}: another value than TensorFlow's"


def _said(error: tuple[str, str]) -> str:
    words = " ".join(error[1].split())
    return f"{error[0]}: …{words[-80:]}" if len(words) > 80 else f"{error[0]}: {words}"


def _count(number: int) -> str:
    return counted(number, "output")


def _calls(found):
    """Yield the cases with all their attributes, where these are of the kinds asked for."""
    for case in found:
        definition = definition_of(case.op)
        kinds = {attr.name: attr.type for attr in definition.attr}
        attrs = completed(definition, list(case.inputs), case.attrs)
        lists = any(isinstance(given, list) for given in case.inputs)
        if not lists and all(kinds[name] in KINDS for name in attrs[::2]):
            yield Case(case.op, case.inputs, attrs, case.wrong)


def _odd():
    """Yield calls of ops and attributes that are not there."""
    good = cases()[1]
    yield Case("Negg", good.inputs, (), "an op that does not exist")
    yield Case("Neg", good.inputs, ("nonsense", 1), "an attribute that does not exist")
    yield Case("Neg", good.inputs, (), "no outputs asked for")


def _outputs(case: Case) -> int:
    return len(py_execute(case, 16))
