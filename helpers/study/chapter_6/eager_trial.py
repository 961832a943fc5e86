"""Somebody's `execute` in a child -> where it first parts from TensorFlow's, if anywhere.

The child says which call comes before it makes it: what kills it is known by the last one said.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from helpers.capture.processes.child import run_child
from helpers.capture.processes.function_source import portable
from helpers.capture.text.error import said
from helpers.model.transcript import Transcript
from helpers.safety.child_main import channel
from helpers.study.chapter_6.eager_beside import compared, no_list, not_your_own, run, said_of
from helpers.study.chapter_6.eager_cases import other_numbers, right_calls, wrong_calls
from helpers.study.chapter_6.op_cases import Case, py_execute
from helpers.study.chapter_6.op_ledger import OpLedger
from helpers.study.chapter_6.ready_made import ready_made
from helpers.study.two_answers import packed, parted, unpacked

SECONDS = 30
UNTRIED = "untried"
MOST_OUTPUTS = 16


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
        return unpacked(told["verdict"])
    ending = Transcript("", "", "", "", reply["code"], reply["cut"]).ending
    return f"{told['at']}: {reply['error'].strip() or ending}"


def trial(fn) -> None:
    """Run in the child: compare `fn` with TensorFlow call by call, and tell."""
    tell = channel().tell
    tell(verdict=packed(next((because for because in _parted(fn, tell) if because), "")))


def _parted(fn, tell) -> Iterator[str]:
    ledger = OpLedger()
    yield _first(fn, tell)
    yield _balanced("Neg, without attributes", ledger)
    numbers = {}  # of outputs, by the op
    for case in chain(right_calls(), wrong_calls()):
        if not case.wrong and case.op not in numbers:
            numbers[case.op] = len(py_execute(case, MOST_OUTPUTS))
        yield from _tried(fn, case, (numbers.get(case.op, 1),), ledger, tell)
    for case, number in other_numbers():
        yield from _tried(fn, case, number, ledger, tell)
    yield _failing(fn, ledger)


def _tried(fn, case: Case, number: tuple, ledger: OpLedger, tell) -> Iterator[str]:
    tell(at=case.words)
    yield compared(fn, case, number)
    yield _balanced(case.words, ledger)


def _failing(fn, ledger: OpLedger) -> str:
    """Return what is wrong where a step fails that does not by itself, and where Ctrl-C comes."""
    import tensorflow as tf

    inputs, words = [tf.constant([1.0])], "made to fail"
    ledger.fail("TFE_OpAddInput", words)
    _, mine = run(fn, "Neg", inputs)
    if mine != ("InvalidArgumentError", f"{words} [Op:Neg]"):
        raises = f"raises {said_of(mine)}", f"raises InvalidArgumentError: {words} [Op:Neg]"
        return parted(f"Neg, where TFE_OpAddInput fails with {words!r}: ", *raises, "TensorFlow")
    ledger.fault()
    ledger.fail("TFE_Execute", KeyboardInterrupt())
    with suppress(KeyboardInterrupt):
        fn("Neg", inputs)
        return "Neg, interrupted in TFE_Execute: yours lets nobody know of it"
    return _balanced("Neg, interrupted in TFE_Execute", ledger)


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
            with ready_made() as doors:
                found = fn("Neg", [a])
        except Exception as error:
            return f"Neg, without attributes: yours raised {said(error)}"
    if found is ...:
        return UNTRIED
    if because := no_list(found):
        return because
    if found and tape.gradient(found[0], a) is not None:
        return "the tape saw the call: it went through one of TensorFlow's wrappers"
    return not_your_own(doors)
