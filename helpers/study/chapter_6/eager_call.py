"""Judge an exercise of chapter 6: the learner executes an op of TensorFlow by its C API, through
ctypes. The answer runs in a child process, because a wrong call of the C API can crash. Each call
is compared with the call that TensorFlow itself would make. `InvalidAnswer` ends a check with a
message. `NotAttempted` says that the learner has written nothing yet.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from textwrap import shorten

import numpy as np

from helpers.capture.processes.child import run_child
from helpers.capture.processes.portable_source import build_portable_source
from helpers.mini.eager import api
from helpers.mini.eager.execute import add_default_attrs, definition_of
from helpers.model.transcripts import Transcript
from helpers.safety.child_side import tell_starter
from helpers.study.answers import InvalidAnswer, NotAttempted, require_no_stub
from helpers.study.chapter_6 import op_cases
from helpers.study.check import exercise
from helpers.study.engine import find_difference, make_cases
from helpers.study.frameworks import tf

SECONDS = 30
UNTRIED = "untried"  # the verdict on a stub, which a child cannot raise in this process
NONE = "api().TFE_NewOp was never called. Make the calls of the C API yourself"
NEVER = "the op was never deleted. Call TFE_DeleteOp(op), even if something raises"
WRONG_ATTRIBUTES = {  # op -> a wrong value of its first attribute
    "MatMul": "yes",
    "LeakyRelu": "x",
    "ReduceJoin": 5,
    "StringToHashBucketFast": "7",
    "Cast": "float32",
    "Squeeze": ["a"],
}


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
    # A wrong call of the C API can crash the process. So a child process runs the source of the
    # answer, and then `trial` with it. Returned is what is wrong, in words, or None.
    call = f"from {__name__} import trial\ntrial({my_execute.__code__.co_name})\n"
    reply = run_child(f"{build_portable_source(my_execute)}\n{call}", SECONDS)

    # The messages of `trial` are dicts: {"at": the call that comes next} before each call, and
    # {"verdict": what is wrong} at the end. After a crash, "at" names the call that crashed.
    report = {"at": "the first call"}
    for message in reply["told"]:
        report |= message
    verdict = report.get("verdict")
    if verdict == UNTRIED:
        raise NotAttempted
    if verdict is not None:
        return verdict or None  # "" if nothing is wrong
    # The child ended without a verdict: it crashed, or its time was over.
    ending = Transcript("", "", "", "", reply["code"], reply["cut"]).ending
    return f"{report['at']}: {reply['error'].strip() or ending}"


def trial(fn: Callable) -> None:
    """Compare the learner's `fn` with TensorFlow; this function runs in the child process.

    It sends messages to the process that started the child: "at" with the words for each call,
    before the call is made, and then "verdict". The verdict is what is wrong, UNTRIED if `fn` is
    still the stub, or "" if nothing is wrong.
    """
    counter = _OpCounter()
    counter.install()
    rows = [(case.words, case, outputs, counter) for case, outputs in _make_calls()]
    try:
        verdict = find_difference(fn, _call_theirs, make_cases(_run_call, rows), "TensorFlow")
    except NotAttempted:
        verdict = UNTRIED
    except InvalidAnswer as error:
        verdict = str(error)
    tell_starter(verdict=verdict or "")


class _OpCounter:
    """Counts the ops that are made and deleted through the C API of this process.

    The answer must delete each op that it makes, because C does not free it otherwise.
    """

    def __init__(self):
        #: How many ops were made since `clear`.
        self.made = 0
        #: How many of them have not been deleted.
        self.remaining = 0

    def clear(self) -> None:
        """Set the counts to zero, before a new call."""
        self.made = 0
        self.remaining = 0

    def install(self) -> None:
        """Replace TFE_NewOp and TFE_DeleteOp of the C API by functions that count and call them.

        `api()` returns an object whose attributes are the functions of TensorFlow's C library.
        """
        c_api = api()
        new_op = c_api.TFE_NewOp
        delete_op = c_api.TFE_DeleteOp

        def count_new(*args):
            op = new_op(*args)
            self.made += 1
            if op:  # the C API returns no op for an unknown name
                self.remaining += 1
            return op

        def count_deleted(op):
            if op:
                self.remaining -= 1
            delete_op(op)

        c_api.TFE_NewOp = count_new
        c_api.TFE_DeleteOp = count_deleted


def _call_theirs(op_name, inputs, attrs=(), num_outputs=1):
    """Execute an op by TensorFlow's own `TFE_Py_Execute`: the reference for `my_execute`."""
    return op_cases.py_execute(op_cases.Case(op_name, tuple(inputs), attrs), num_outputs)


def _run_call(case: op_cases.Case, outputs: tuple, counter: _OpCounter, call: Callable):
    """Execute an op by `call`; return its tensors as plain data, or its error as text.

    `call` is the learner's answer or the reference. `outputs` is a tuple with the number of
    outputs, or empty: then the argument is left to its default. InvalidAnswer says that the answer
    makes no op by the C API, or does not delete an op that it has made.
    """
    tell_starter(at=case.words)
    counter.clear()
    try:
        # Without attributes and outputs, the defaults of the answer are tried.
        options = (case.attrs, *outputs) if case.attrs or outputs else ()
        result = _describe_tensors(call(case.op, list(case.inputs), *options))
    except (InvalidAnswer, NotAttempted):
        raise
    except Exception as error:
        kind, message = op_cases.read_error(error)
        result = f"raises {kind}: {shorten(message, 200, placeholder=' …')}"

    if call is not _call_theirs:  # TensorFlow's own call does not use the counted functions
        if not counter.made:
            raise InvalidAnswer(f"{case.words}: {NONE}")
        if counter.remaining:
            raise InvalidAnswer(f"{case.words}: {NEVER}")
    return result


def _describe_tensors(results) -> list:
    """Return (dtype, shape, values) of each tensor in a list; InvalidAnswer for anything else."""
    is_list = isinstance(require_no_stub(results), list)
    if not is_list or not all(isinstance(result, tf.Tensor) for result in results):
        raise InvalidAnswer(f"it must return a list of EagerTensors, not {type(results).__name__}")

    described = []
    for tensor in results:
        values = np.asarray(tensor.numpy()).tolist()
        described.append((tensor.dtype.name, tuple(tensor.shape), values))
    return described


def _make_calls() -> Iterator[tuple]:
    """Yield (call, outputs): first calls that succeed, then calls that TensorFlow refuses.

    A call is a Case: an op, its inputs and its attributes. `outputs` is a tuple with the number of
    outputs, empty for the default.
    """
    cases = {}  # name of an op -> its Case
    for case in op_cases.cases():
        # `add_default_attrs` adds what TensorFlow's wrappers add, such as the inputs' dtype.
        attrs = add_default_attrs(definition_of(case.op), list(case.inputs), case.attrs)
        cases[case.op] = replace(case, attrs=attrs)

    neg = cases["Neg"]
    unique = cases["Unique"]
    yield neg, ()
    for op in WRONG_ATTRIBUTES:
        yield cases[op], ()
    yield unique, (2,)

    strings = tf.constant(["b", "c"])
    yield replace(unique, wrong="without num_outputs"), ()
    yield replace(neg, wrong="with more outputs than it has"), (3,)
    yield replace(neg, inputs=(strings,), wrong="with strings"), ()
    yield replace(neg, op="Negg", wrong="an op that does not exist"), ()
    yield replace(neg, attrs=("nonsense", 1), wrong="an attribute that does not exist"), ()
    for op, value in WRONG_ATTRIBUTES.items():
        # `attrs` has names and values in turn; the first value is replaced by a wrong one.
        name, _, *others = cases[op].attrs
        attrs = (name, value, *others)
        yield replace(cases[op], attrs=attrs, wrong=f"where {name} is {value!r}"), ()
