"""Generate calls of ops of TensorFlow with many kinds of signatures. A Case is one call: the op,
its inputs and its attributes. The cases are used to compare a learner's way to execute an op with
TensorFlow's own.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from helpers.study.frameworks import tf

RENAMED = {"squeeze_dims": "axis"}  # attribute in C++ -> argument of tf.raw_ops
#: Ops with one input of floats.
ONE = """Abs Neg Exp Sqrt Tanh Relu Softmax ZerosLike Identity Sin Cos Log Rsqrt Sign Floor Ceil Erf
    Log1p Elu OnesLike Sigmoid Softplus Square Tan Atan Sinh Cosh Asinh Expm1 Reciprocal Round Rint
    Selu Relu6 Softsign Erfc L2Loss IsNan IsInf IsFinite LogSoftmax StopGradient
    Lgamma Digamma Asin Acos Atanh Acosh Erfinv"""
#: Ops with two inputs of floats.
TWO = """AddV2 Sub Mul RealDiv Maximum Pow Less SquaredDifference BiasAdd Minimum Greater NotEqual
    FloorDiv DivNoNan"""


@dataclass(frozen=True)
class Case:
    """One call of an op."""

    #: The type of the op.
    op: str
    #: Tensors, or lists of them.
    inputs: tuple
    #: Names and values of attributes in turn, as the C API takes them.
    attrs: tuple = ()
    #: What is wrong with the call, in words; "" if nothing is.
    wrong: str = ""

    @property
    def words(self) -> str:
        """Return the call in a few words, such as "Sum with 'keep_dims'"."""
        text = self.op
        if self.attrs:
            names = ", ".join(map(repr, self.attrs[::2]))  # every other item is a value
            text = f"{text} with {names}"
        if self.wrong:
            text = f"{text}, {self.wrong}"
        return text


def cases(seed: int = 0) -> list[Case]:
    """Return one call for each op, which TensorFlow accepts; the values depend on `seed`."""
    maker = _CaseMaker(np.random.RandomState(seed))
    return [
        *maker.make_elementwise(),
        *maker.make_with_plain_attributes(),
        *maker.make_with_types_and_shapes(),
        *maker.make_with_other_inputs(),
    ]


def py_execute(case: Case, outputs: int) -> list:
    """Return the tensors that TensorFlow's own `TFE_Py_Execute` returns for a case.

    `outputs` is the number of tensors.
    """
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    current = context.context()
    current.ensure_initialized()
    return pywrap_tfe.TFE_Py_Execute(
        current._handle,
        current.device_name,
        case.op,
        list(case.inputs),
        case.attrs,
        outputs,
    )


def raw_op(case: Case) -> list:
    """Return the tensors that the function of `tf.raw_ops` returns for a case, as a flat list."""
    function = getattr(tf.raw_ops, case.op)
    # The parameters are the inputs, and then the attributes. So `names` is longer than the inputs.
    names = inspect.signature(function).parameters
    arguments = dict(zip(names, case.inputs, strict=False))
    # `attrs` has names and values in turn. Some attributes have another name in Python than in C++.
    for name, value in zip(case.attrs[::2], case.attrs[1::2], strict=True):
        arguments[RENAMED.get(name, name)] = value

    result = function(**arguments)
    return [] if result is None else tf.nest.flatten(result)


def agrees(execute: Callable, case: Case) -> bool:
    """Return whether `execute(op, inputs, attrs, num_outputs)` agrees with tf.raw_ops."""
    expected = raw_op(case)
    results = execute(case.op, list(case.inputs), case.attrs, len(expected))
    return have_same_values(results, expected)


def raised(call: Callable, *args) -> tuple[str, str]:
    """Return (type, message) of the error that a call raises; ("", "") if it raises none."""
    try:
        call(*args)
    except Exception as error:
        return read_error(error)
    return "", ""


def read_error(error: Exception) -> tuple[str, str]:
    """Return (type, message) of an error, without the " name: " that TensorFlow's wrappers add."""
    return type(error).__name__, getattr(error, "message", str(error)).removesuffix(" name: ")


def have_same_values(mine, theirs) -> bool:
    """Return whether two lists of tensors have the same dtypes, shapes and values."""
    if len(mine) != len(theirs):
        return False
    return all(map(_is_same_tensor, mine, theirs))


def _is_same_tensor(mine, other) -> bool:
    """Return whether two tensors have the same dtype, shape and values; NaN equals NaN."""
    if mine.dtype != other.dtype or mine.shape != other.shape:
        return False
    if mine.dtype in (tf.resource, tf.variant):  # these have no values
        return True
    has_nan = mine.dtype.is_floating
    return np.array_equal(mine.numpy(), other.numpy(), equal_nan=has_nan)


def _make_case(op: str, *inputs, **attrs) -> Case:
    """Return a Case; the attributes keep the order in which they are passed."""
    names_and_values = []  # in turn, as the C API takes them
    for name, value in attrs.items():
        names_and_values += [name, value]
    return Case(op, inputs, tuple(names_and_values))


class _CaseMaker:
    """Makes calls whose inputs are mostly drawn from a generator of random numbers."""

    def __init__(self, random: np.random.RandomState):
        self._random = random

    def draw(self, *shape: int):
        """Return a tensor of positive numbers."""
        return tf.constant(self._random.uniform(0.1, 2.0, shape), "float32")

    def make_elementwise(self) -> Iterator[Case]:
        """Yield calls of ops with one input or two, and without attributes."""
        for op in ONE.split():
            yield _make_case(op, self.draw(2, 3))
        for op in TWO.split():
            yield _make_case(op, self.draw(2, 3), self.draw(3))

    def make_with_plain_attributes(self) -> Iterator[Case]:
        """Yield calls of ops with bools, numbers and strings as attributes."""
        yield _make_case("MatMul", self.draw(2, 3), self.draw(2, 3), transpose_b=True)
        yield _make_case("Sum", self.draw(2, 3), tf.constant([0]), keep_dims=True)
        yield _make_case("LeakyRelu", self.draw(2, 3) - 1.0, alpha=0.3)
        yield _make_case(
            "ReduceJoin",
            tf.constant(["a", "b"]),
            tf.constant([0]),
            separator="ü\0→",
            keep_dims=True,
        )
        yield _make_case("StringToHashBucketFast", tf.constant(["a", "b"]), num_buckets=7)

    def make_with_types_and_shapes(self) -> Iterator[Case]:
        """Yield calls of ops with dtypes, lists and shapes as attributes."""
        yield _make_case("Cast", self.draw(2, 2), DstT=tf.int32)
        yield _make_case("ArgMax", self.draw(2, 3), tf.constant(1), output_type=tf.int32)
        yield _make_case("Shape", self.draw(2, 3), out_type=tf.int64)
        yield _make_case("Squeeze", self.draw(1, 2, 1), squeeze_dims=[0])
        yield _make_case(
            "Conv2D",
            self.draw(1, 4, 4, 2),
            self.draw(2, 2, 2, 3),
            strides=[1, 1, 1, 1],
            padding="SAME",
        )
        yield _make_case(
            "MaxPool",
            self.draw(1, 4, 4, 1),
            ksize=[1, 2, 2, 1],
            strides=[1, 1, 1, 1],
            padding="SAME",
        )
        yield _make_case("EnsureShape", self.draw(2, 3), shape=[None, 3])
        yield _make_case("VarHandleOp", dtype=tf.float32, shape=[2, None], shared_name="made")

    def make_with_other_inputs(self) -> Iterator[Case]:
        """Yield calls of ops with other signatures.

        They have inputs of fixed types, a list of inputs, several outputs, no output, a resource.
        """
        yield _make_case("Reshape", self.draw(2, 3), tf.constant([3, 2]))
        yield _make_case(
            "OneHot",
            tf.constant([1, 3, 0]),
            tf.constant(4),
            tf.constant(1.0),
            tf.constant(0.0),
            axis=0,
        )
        yield _make_case("AddN", [self.draw(2), self.draw(2), self.draw(2)])
        yield _make_case("ConcatV2", [self.draw(1, 2), self.draw(2, 2)], tf.constant(0))
        yield _make_case("Unique", tf.constant([1, 1, 2, 1]), out_idx=tf.int64)
        yield _make_case("Split", tf.constant(0), self.draw(4, 2), num_split=2)
        yield _make_case("NoOp")
        variable = tf.Variable([1.0, 2.0])
        yield _make_case("ReadVariableOp", variable.handle, dtype=tf.float32)
