"""Chapter 6: an eager call through ctypes, judged in a child against TensorFlow's own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from helpers.capture.processes.child import run_child
from helpers.capture.processes.function_source import portable
from helpers.mini.eager.execute import completed, definition_of
from helpers.model.transcript import Transcript
from helpers.safety.children import channel
from helpers.study.chapter_6 import op_cases
from helpers.study.chapter_6.op_ledger import OpLedger
from helpers.study.check import Exercise, Unfit, Untried
from helpers.study.engine import Case, Raised, find_difference

SECONDS = 30
UNTRIED = "untried"
FAILS = "made to fail"
FIRST, LAST = 70, 50  # characters of an error that are shown


def _judge_execute(my_execute: Callable):
    source = portable(my_execute)
    call = f"from {__name__} import trial\ntrial({my_execute.__code__.co_name})\n"
    reply = run_child(f"{source}\n{call}", SECONDS)
    told = {"at": "the first call"}
    for line in reply["told"]:
        told |= line
    if told.get("verdict") == UNTRIED:
        raise Untried
    if "verdict" in told:
        return told["verdict"] or None
    ending = Transcript("", "", "", "", reply["code"], reply["cut"]).ending
    return f"{told['at']}: {reply['error'].strip() or ending}"


def trial(fn: Callable) -> None:
    """Run in the child: compare `fn` with TensorFlow, say which call comes, and tell the verdict.

    What kills the child is known by the last call that was said.
    """
    tell, ledger = channel().tell, OpLedger()
    try:
        because = find_difference(fn, _theirs, _cases(tell, ledger), "TensorFlow")
    except Untried:
        because = UNTRIED
    except Unfit as error:
        because = str(error)
    tell(verdict=because or "")


def _theirs(op_name, inputs, attrs=(), num_outputs=1):
    return op_cases.py_execute(op_cases.Case(op_name, tuple(inputs), attrs), num_outputs)


@dataclass(frozen=True)
class _Error(Raised):
    """An error whose words count, too."""

    words: str = ""

    def __str__(self):
        words = " ".join(self.words.split())
        short = words if len(words) <= FIRST + LAST else f"{words[:FIRST]} … {words[-LAST:]}"
        return f"raises {self.kind.__name__}: {short}"


def _cases(tell: Callable, ledger: OpLedger) -> Iterator[Case]:
    for case, *number in _calls():
        yield Case(case.words, _run(case, number, tell, ledger))
    import tensorflow as tf

    neg, interrupt = op_cases.Case("Neg", (tf.constant([1.0]),)), KeyboardInterrupt()
    refused = _Error(tf.errors.InvalidArgumentError, None, f"{FAILS} [Op:Neg]")
    for name, failure, expected in (
        ("TFE_OpAddInput", FAILS, refused),
        ("TFE_Execute", interrupt, _Error(KeyboardInterrupt, interrupt)),
    ):
        run = _failing(_run(neg, (), tell, ledger), name, failure, expected, ledger)
        yield Case(f"Neg, where {name} fails", run)


def _run(case: op_cases.Case, number, tell: Callable, ledger: OpLedger) -> Callable:
    """Return a run of one call: what it gives or raises; Unfit where an op is not well kept."""

    def run(call):
        tell(at=case.words)
        try:
            more = (case.attrs, *number) if case.attrs or number else ()
            seen = _plain(call(case.op, list(case.inputs), *more))
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, (Unfit, Untried)):
                raise
            seen = _Error(type(error), error, op_cases.words_of(error)[1])
        fault = ledger.fault()
        if fault and call is not _theirs:
            raise Unfit(f"{case.words}: {fault}")
        return seen

    return run


def _failing(run, name: str, failure, expected, ledger: OpLedger) -> Callable:
    def fail(call):
        if call is _theirs:
            return expected
        ledger.fail(name, failure)
        return run(call)

    return fail


def _plain(found) -> list:
    """Return tensors as plain data, and what they are: their dtypes and shapes."""
    import tensorflow as tf

    if found is ...:
        raise Untried
    if not isinstance(found, list) or not all(isinstance(one, tf.Tensor) for one in found):
        raise Unfit(f"it must return a list of EagerTensors, not {type(found).__name__}")
    return [(t.dtype.name, tuple(t.shape), np.asarray(t.numpy()).tolist()) for t in found]


def _calls() -> Iterator[tuple]:
    """Yield (call, number of outputs): right ones, then wrong ones. No number: the default."""
    import tensorflow as tf

    ones, words = tf.constant([[0.5, -2.0]]), tf.constant(["b", "c"])

    def call(op, *inputs, wrong="", attrs=()):
        case = op_cases.Case(op, inputs, attrs, wrong)
        return op_cases.replace(case, attrs=completed(definition_of(op), list(inputs), attrs))

    joined = ("separator", "ü\0→", "keep_dims", True)
    right = {
        "MatMul": call("MatMul", ones, ones, attrs=("transpose_b", True)),
        "LeakyRelu": call("LeakyRelu", ones, attrs=("alpha", 0.1)),
        "ReduceJoin": call("ReduceJoin", words, tf.constant([0]), attrs=joined),
        "StringToHashBucketFast": call("StringToHashBucketFast", words, attrs=("num_buckets", 7)),
        "Cast": call("Cast", ones, attrs=("DstT", tf.int32)),
        "Squeeze": call("Squeeze", tf.ones([1, 2, 1, 1]), attrs=("squeeze_dims", [0, 2])),
    }
    yield (call("Neg", ones),)
    yield from ((case,) for case in right.values())
    unique = call("Unique", tf.constant([1, 1, 2]))
    yield unique, 2
    yield (op_cases.replace(unique, wrong="without num_outputs"),)
    yield call("Neg", ones, wrong="no outputs asked for"), 0
    yield call("Neg", ones, wrong="more outputs asked for than there are"), 3
    yield (call("Neg", words, wrong="of strings"),)
    yield (call("Negg", ones, wrong="an op that does not exist"),)
    yield (call("Neg", ones, attrs=("nonsense", 1), wrong="an attribute that does not exist"),)
    yield (call("Neg", ones, attrs=("T", tf.float64), wrong="not the input's dtype"),)
    for case, value in zip(right.values(), ("yes", "x", 5, "7", "float32", ["a"]), strict=True):
        name = case.attrs[0]
        attrs = (name, value, *case.attrs[2:])
        yield (op_cases.replace(case, attrs=attrs, wrong=f"where {name} is {value!r}"),)


EXECUTE = Exercise(
    "execute",
    _judge_execute,
    "Ops of many signatures, and what goes wrong with them: the same as TensorFlow's own.",
    (
        "Which order do the steps have? new op, inputs, attributes, execute, delete. After each, "
        "status.check() raises what TensorFlow would; from the second step on, status.check(end). "
        "Where has delete to stand, so that it also runs when a check raises?",
        "Ask the op, not the value, for an attribute's kind: KINDS[api().TFE_OpGetAttrType(op, "
        "name.encode(), byref(is_list), status.address)], with is_list = c_ubyte(). Check the "
        "status.",
        "data = parsed(kind, name, value, is_list.value, end), then getattr(api(), "
        "f'TFE_OpSetAttr{kind}')(op, name.encode(), data) for Int, Float, Bool and Type. String "
        "wants len(data) behind data; a list of ints (c_int64 * n)(*data) and n, by "
        "TFE_OpSetAttrIntList.",
        "handles, count = (c_void_p * num_outputs)(), c_int(num_outputs); TFE_Execute(op, "
        "handles, byref(count), status.address). Afterwards count.value handles are filled in.",
    ),
    seconds=60,  # a child starts meanwhile
)
