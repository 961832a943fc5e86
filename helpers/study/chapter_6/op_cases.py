"""Ops with many kinds of signatures -> calls with generated inputs."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from helpers.study.engine import tf

RENAMED = {"squeeze_dims": "axis"}
ONE = """Abs Neg Exp Sqrt Tanh Relu Softmax ZerosLike Identity Sin Cos Log Rsqrt Sign Floor Ceil Erf
    Log1p Elu OnesLike Sigmoid Softplus Square Tan Atan Sinh Cosh Asinh Expm1 Reciprocal Round Rint
    Selu Relu6 Softsign Erfc L2Loss IsNan IsInf IsFinite LogSoftmax StopGradient
    Lgamma Digamma Asin Acos Atanh Acosh Erfinv"""
TWO = """AddV2 Sub Mul RealDiv Maximum Pow Less SquaredDifference BiasAdd Minimum Greater NotEqual
    FloorDiv DivNoNan"""


@dataclass(frozen=True)
class Case:
    """One call. `inputs` are tensors or lists of them; `wrong` says what is wrong, if anything."""

    op: str
    inputs: tuple
    attrs: tuple = ()
    wrong: str = ""

    @property
    def words(self) -> str:
        """Return the call in a few words."""
        named = f" with {', '.join(map(repr, self.attrs[::2]))}" if self.attrs else ""
        return self.op + named + (f", {self.wrong}" if self.wrong else "")


def cases(seed: int = 0) -> list[Case]:
    """Return one call that works for each op; the values depend on `seed`."""
    made = _table(np.random.RandomState(seed))
    return [Case(op, tuple(inputs), tuple(attrs)) for op, inputs, *attrs in made]


def py_execute(case: Case, outputs: int) -> list:
    """Return what TensorFlow's own `TFE_Py_Execute` returns for a case."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    live = context.context()
    live.ensure_initialized()
    given = live._handle, live.device_name, case.op, list(case.inputs), case.attrs, outputs
    return pywrap_tfe.TFE_Py_Execute(*given)


def raw_op(case: Case) -> list:
    """Return what tf.raw_ops returns for a case, as a list."""
    function = getattr(tf.raw_ops, case.op)
    names = inspect.signature(function).parameters  # names in Python; some differ from C++
    inputs = dict(zip(names, case.inputs, strict=False))
    attrs = zip(case.attrs[::2], case.attrs[1::2], strict=True)
    found = function(**inputs, **{RENAMED.get(name, name): value for name, value in attrs})
    return [] if found is None else tf.nest.flatten(found)


def agrees(execute: Callable, case: Case) -> bool:
    """Return whether `execute(op, inputs, attrs, num_outputs)` agrees with tf.raw_ops."""
    expected = raw_op(case)
    return same(execute(case.op, list(case.inputs), case.attrs, len(expected)), expected)


def raised(call: Callable, *args) -> tuple[str, str]:
    """Return the type and the message of what a call raises, or two empty strings."""
    try:
        call(*args)
    except Exception as error:
        return words_of(error)
    return "", ""


def words_of(error: Exception) -> tuple[str, str]:
    """Return an error's type and message, without the name that the Python wrappers add."""
    return type(error).__name__, getattr(error, "message", str(error)).removesuffix(" name: ")


def same(mine, theirs) -> bool:
    """Return whether two lists of tensors have the same dtypes, shapes and values."""
    return len(mine) == len(theirs) and all(map(_is_same, mine, theirs))


def _is_same(a, b) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.dtype in (tf.resource, tf.variant) or np.array_equal(
        a.numpy(), b.numpy(), equal_nan=a.dtype.is_floating
    )


def _table(random: np.random.RandomState) -> Iterator[tuple]:
    """Yield (op, inputs, *names and values of attributes); most inputs are generated."""
    c = tf.constant

    def f(*shape):
        return c(random.uniform(0.1, 2.0, shape), "float32")

    yield from ((op, [f(2, 3)]) for op in ONE.split())
    yield from ((op, [f(2, 3), f(3)]) for op in TWO.split())
    # bool, int, float and string attributes
    yield "MatMul", [f(2, 3), f(2, 3)], "transpose_b", True
    yield "Sum", [f(2, 3), c([0])], "keep_dims", True
    yield "LeakyRelu", [f(2, 3) - 1.0], "alpha", 0.3
    yield "ReduceJoin", [c(["a", "b"]), c([0])], "separator", "ü\0→", "keep_dims", True
    yield "StringToHashBucketFast", [c(["a", "b"])], "num_buckets", 7
    # dtypes as attributes, lists and shapes
    yield "Cast", [f(2, 2)], "DstT", tf.int32
    yield "ArgMax", [f(2, 3), c(1)], "output_type", tf.int32
    yield "Shape", [f(2, 3)], "out_type", tf.int64
    yield "Squeeze", [f(1, 2, 1)], "squeeze_dims", [0]
    conv = "strides", [1, 1, 1, 1], "padding", "SAME"
    yield "Conv2D", [f(1, 4, 4, 2), f(2, 2, 2, 3)], *conv
    yield "MaxPool", [f(1, 4, 4, 1)], "ksize", [1, 2, 2, 1], *conv
    yield "EnsureShape", [f(2, 3)], "shape", [None, 3]
    yield "VarHandleOp", [], "dtype", tf.float32, "shape", [2, None], "shared_name", "made"
    # inputs of fixed types, lists of inputs, more than one output, a resource
    yield "Reshape", [f(2, 3), c([3, 2])]
    yield "OneHot", [c([1, 3, 0]), c(4), c(1.0), c(0.0)], "axis", 0
    yield "AddN", [[f(2), f(2), f(2)]]
    yield "ConcatV2", [[f(1, 2), f(2, 2)], c(0)]
    yield "Unique", [c([1, 1, 2, 1])], "out_idx", tf.int64
    yield "Split", [c(0), f(4, 2)], "num_split", 2
    yield "NoOp", []
    yield "ReadVariableOp", [tf.Variable([1.0, 2.0]).handle], "dtype", tf.float32
