"""Chapter 6: an eager call through ctypes, compared in a child with TensorFlow's own."""

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from textwrap import shorten

import numpy as np

from helpers.capture.processes.child import portable, run_child
from helpers.mini.eager import api
from helpers.mini.eager.execute import completed, definition_of
from helpers.model.tables import Transcript
from helpers.safety.children import tell_starter
from helpers.study.chapter_6 import op_cases
from helpers.study.check import InvalidAnswer, NotAttempted, exercise, tried
from helpers.study.engine import find_difference, make_cases, tf

SECONDS = 30
UNTRIED = "untried"
NONE = "api().TFE_NewOp was never called. Make the calls of the C API yourself"
NEVER = "the op was never deleted. Call TFE_DeleteOp(op), even if something raises"
WRONG = {"MatMul": "yes", "LeakyRelu": "x", "ReduceJoin": 5}  # op -> a wrong first attribute
WRONG |= {"StringToHashBucketFast": "7", "Cast": "float32", "Squeeze": ["a"]}


@exercise(
    "The steps are new op, inputs, attributes, execute, delete. After each, status.check() "
    "raises what TensorFlow would. From the second step on, use status.check(end). Where must "
    "delete go, so that it also runs when a check raises?",
    "Get an attribute's kind from the op, not from the value: KINDS[api().TFE_OpGetAttrType(op, "
    "name.encode(), byref(is_list), status.address)], with is_list = c_ubyte(). Then check the "
    "status.",
    "First data = parsed(kind, name, value, is_list.value, end). For Int, Float, Bool and Type, "
    "then getattr(api(), f'TFE_OpSetAttr{kind}')(op, name.encode(), data). String also needs "
    "len(data) after data. For a list of ints, pass (c_int64 * n)(*data) and n to "
    "TFE_OpSetAttrIntList.",
    "handles, count = (c_void_p * num_outputs)(), c_int(num_outputs). TFE_Execute(op, handles, "
    "byref(count), status.address) then fills in count.value handles.",
    seconds=60,
)
def execute(my_execute: Callable):
    """Right and wrong calls, of ops with many signatures, do what TensorFlow's own calls do."""
    call = f"from {__name__} import trial\ntrial({my_execute.__code__.co_name})\n"
    reply = run_child(f"{portable(my_execute)}\n{call}", SECONDS)
    told = dict(ChainMap(*reply["told"][::-1], {"at": "the first call"}))
    if told.get("verdict") == UNTRIED:
        raise NotAttempted
    ending = Transcript("", "", "", "", reply["code"], reply["cut"]).ending
    return told.get("verdict", f"{told['at']}: {reply['error'].strip() or ending}") or None


def trial(fn: Callable) -> None:
    """Run in the child: compare `fn` with TensorFlow, and report each call and the verdict."""
    tell, count = tell_starter, _count_ops()
    rows = ((case.words, case, number, tell, count) for case, number in _calls())
    try:
        because = find_difference(fn, _call_theirs, make_cases(_run, rows), "TensorFlow")
    except NotAttempted:
        because = UNTRIED
    except InvalidAnswer as error:
        because = str(error)
    tell(verdict=because or "")


def _count_ops() -> Counter:
    space, count = api(), Counter()
    make, delete = space.TFE_NewOp, space.TFE_DeleteOp

    def made(*args):
        op = make(*args)
        count["made"] += 1
        count["left"] += bool(op)
        return op

    def deleted(op):
        count["left"] -= bool(op)
        delete(op)

    space.TFE_NewOp, space.TFE_DeleteOp = made, deleted
    return count


def _call_theirs(op_name, inputs, attrs=(), num_outputs=1):
    return op_cases.py_execute(op_cases.Case(op_name, tuple(inputs), attrs), num_outputs)


def _run(case: op_cases.Case, number, tell: Callable, count: Counter, call):
    """Return what one call returns or raises; InvalidAnswer if it makes or deletes no op."""
    tell(at=case.words)
    count.clear()
    try:
        more = (case.attrs, *number) if case.attrs or number else ()
        found = _describe(call(case.op, list(case.inputs), *more))
    except (InvalidAnswer, NotAttempted):
        raise
    except Exception as error:
        kind, words = op_cases.words_of(error)
        found = f"raises {kind}: {shorten(words, 200, placeholder=' …')}"
    if call is not _call_theirs and (count["left"] or not count["made"]):
        raise InvalidAnswer(f"{case.words}: {NEVER if count['made'] else NONE}")
    return found


def _describe(found) -> list:
    if not isinstance(tried(found), list) or not all(isinstance(one, tf.Tensor) for one in found):
        raise InvalidAnswer(f"it must return a list of EagerTensors, not {type(found).__name__}")
    return [(t.dtype.name, tuple(t.shape), np.asarray(t.numpy()).tolist()) for t in found]


def _calls() -> Iterator[tuple]:
    """Yield (call, number of outputs), right calls first; an empty number means the default."""
    known = {}
    for case in op_cases.cases():
        attrs = completed(definition_of(case.op), list(case.inputs), case.attrs)
        known[case.op] = replace(case, attrs=attrs)
    neg, unique = known["Neg"], known["Unique"]
    yield neg, ()
    yield from ((known[op], ()) for op in WRONG)
    yield unique, (2,)
    yield replace(unique, wrong="without num_outputs"), ()
    yield replace(neg, wrong="with more outputs than it has"), (3,)
    yield replace(neg, inputs=(tf.constant(["b", "c"]),), wrong="with strings"), ()
    yield replace(neg, op="Negg", wrong="an op that does not exist"), ()
    yield replace(neg, attrs=("nonsense", 1), wrong="an attribute that does not exist"), ()
    for op, value in WRONG.items():
        name, _, *others = known[op].attrs
        attrs, wrong = (name, value, *others), f"where {name} is {value!r}"
        yield replace(known[op], attrs=attrs, wrong=wrong), ()
