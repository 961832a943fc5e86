"""Ops of many signatures -> calls with generated inputs, and the same calls gone wrong.

One list serves whoever writes an eager call by hand: each case is run through `tf.raw_ops` or
`TFE_Py_Execute`, and through the hand-made call, and the two are compared.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

RENAMED = {"squeeze_dims": "axis"}


@dataclass(frozen=True)
class Case:
    """One call. `inputs`: tensors, or lists of them; `wrong`: what is wrong with it, if so."""

    op: str
    inputs: tuple
    attrs: tuple = ()
    wrong: str = ""

    @property
    def words(self) -> str:
        """Return the call in a few words."""
        named = ", ".join(map(repr, self.attrs[::2]))
        return (
            self.op + (f" with {named}" if named else "") + (f", {self.wrong}" * bool(self.wrong))
        )


def cases(seed: int = 0) -> list[Case]:
    """Return calls that work, one or more for each of the ops; the values depend on `seed`."""
    made = _table(np.random.RandomState(seed))
    return [Case(op, tuple(inputs), tuple(attrs)) for op, inputs, attrs in made]


def wrong_cases(seed: int = 0) -> Iterator[Case]:
    """Yield the same calls, each with one input of another dtype, or of a shape that is too big."""
    import tensorflow as tf

    strange = tf.constant("text"), tf.reshape(tf.range(2.0 * 3 * 5), (2, 1, 3, 1, 5))
    for case in cases(seed):
        for place, given in enumerate(case.inputs):
            for other, says in zip(strange, ("a string", "five dimensions"), strict=True):
                if isinstance(given, list) or given.dtype == tf.resource:
                    continue
                inputs = (*case.inputs[:place], other, *case.inputs[place + 1 :])
                yield replace(case, inputs=inputs, wrong=f"input {place} is {says}")


def py_execute(case: Case, outputs: int) -> list:
    """Return what TensorFlow's own `TFE_Py_Execute` gives for a case."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import context

    live = context.context()
    live.ensure_initialized()
    given = live._handle, live.device_name, case.op, list(case.inputs), case.attrs, outputs
    return pywrap_tfe.TFE_Py_Execute(*given)


def raw_op(case: Case) -> list:
    """Return what tf.raw_ops gives for a case, as a list."""
    import tensorflow as tf

    function = getattr(tf.raw_ops, case.op)
    names = inspect.signature(function).parameters  # Python's names: some differ from C++'s
    inputs = dict(zip(names, case.inputs, strict=False))
    attrs = zip(case.attrs[::2], case.attrs[1::2], strict=True)
    found = function(**inputs, **{RENAMED.get(name, name): value for name, value in attrs})
    return [] if found is None else tf.nest.flatten(found)


def agrees(execute: Callable, case: Case) -> bool:
    """Return whether `execute(op, inputs, attrs, num_outputs)` gives what tf.raw_ops gives."""
    expected = raw_op(case)
    return same(execute(case.op, list(case.inputs), case.attrs, len(expected)), expected)


def raised(call: Callable, *args) -> tuple[str, str]:
    """Return the type and the words of what a call raises, or of nothing."""
    try:
        call(*args)
    except Exception as error:
        return words_of(error)
    return "", ""


def words_of(error: Exception) -> tuple[str, str]:
    """Return an error's type and words, without the name that the Python wrappers add to them."""
    return type(error).__name__, getattr(error, "message", str(error)).removesuffix(" name: ")


def same(mine, theirs) -> bool:
    """Return whether two lists of tensors have the same dtypes, shapes and values."""
    return len(mine) == len(theirs) and all(map(_is_same, mine, theirs))


def _is_same(a, b) -> bool:
    import tensorflow as tf

    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.dtype in (tf.resource, tf.variant) or np.array_equal(
        a.numpy(), b.numpy(), equal_nan=a.dtype.is_floating
    )


def _table(random: np.random.RandomState) -> Iterator[tuple]:
    """Yield (op, inputs, attributes); the inputs are generated, but for some of fixed types."""
    import tensorflow as tf

    c = tf.constant

    def f(*shape):
        return c(random.uniform(0.1, 2.0, shape), "float32")

    def i(*shape, high=9):
        return c(random.randint(1, high, shape), "int32")

    def s(*words):
        return c(words)

    # one input or two, no attribute
    one = ("Abs", "Neg", "Exp", "Sqrt", "Tanh", "Relu", "Softmax", "ZerosLike", "Identity")
    one += (
        "Sin",
        "Cos",
        "Log",
        "Rsqrt",
        "Sign",
        "Floor",
        "Ceil",
        "Erf",
        "Log1p",
        "Elu",
        "OnesLike",
    )
    yield from ((op, [f(2, 3)], ()) for op in (*one, "Sigmoid", "Softplus"))
    two = ("AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Pow", "Less", "SquaredDifference")
    yield from ((op, [f(2, 3), f(3)], ()) for op in (*two, "BiasAdd"))
    # bool, int, float and string attributes
    yield "MatMul", [f(2, 3), f(2, 2)], ("transpose_a", True)
    yield "BatchMatMulV2", [f(2, 2, 3), f(2, 4, 3)], ("adj_y", True)
    yield "Sum", [f(2, 3), c([0])], ("keep_dims", True)
    yield "Cumsum", [f(2, 3), c(1)], ("exclusive", True, "reverse", True)
    yield "LeakyRelu", [f(2, 3) - 1.0], ("alpha", 0.3)
    yield "ApproximateEqual", [f(4), f(4)], ("tolerance", 0.5)
    yield "Gather", [f(4, 2), i(3, high=4)], ("validate_indices", True)
    yield "GatherV2", [f(4, 2), i(3, high=4), c(0)], ("batch_dims", 0)
    yield "AsString", [f(3)], ("precision", 2, "fill", "0", "width", 6)
    yield "StringLower", [s("Ab", "C")], ("encoding", "utf-8")
    yield "StringJoin", [[s("a", "b"), s("c", "d")]], ("separator", "-")
    yield "ReduceJoin", [s("a", "b"), c([0])], ("separator", "+")
    yield "RegexReplace", [s("aab"), s("a")[0], s("x")[0]], ("replace_global", False)
    yield "StringToHashBucketFast", [s("a", "b")], ("num_buckets", 7)
    yield "StringLength", [s("a", "bcd")], ()
    # dtypes as attributes
    yield "Cast", [f(2, 2)], ("DstT", tf.int32)
    yield "Bitcast", [f(2)], ("type", tf.int32)
    yield "ArgMax", [f(2, 3), c(1)], ("output_type", tf.int32)
    yield from ((op, [f(2, 3)], ("out_type", tf.int64)) for op in ("Shape", "Size"))
    yield "StringToNumber", [s("1", "2.5")], ("out_type", tf.float64)
    yield "DecodeRaw", [s("abcd")], ("out_type", tf.uint8)
    yield "Multinomial", [f(1, 3), c(0)], ("output_dtype", tf.int32)
    yield "Empty", [c([0, 2])], ("dtype", tf.float32, "init", True)
    # lists and shapes as attributes
    yield "Squeeze", [f(1, 2, 1)], ("squeeze_dims", [0])
    conv = ("strides", [1, 1, 1, 1], "padding", "SAME")
    yield "Conv2D", [f(1, 4, 4, 2), f(2, 2, 2, 3)], conv
    yield "DepthwiseConv2dNative", [f(1, 4, 4, 2), f(2, 2, 2, 1)], conv
    pool = ("ksize", [1, 2, 2, 1], "strides", [1, 2, 2, 1], "padding", "VALID")
    yield from ((op, [f(1, 4, 4, 1)], pool) for op in ("MaxPool", "AvgPool"))
    yield "EnsureShape", [f(2, 3)], ("shape", [None, 3])
    yield "EnsureShape", [f(2, 3)], ("shape", tf.TensorShape(None))
    yield "VarHandleOp", [], ("dtype", tf.float32, "shape", [2, None], "shared_name", "made")
    # inputs of fixed types, in many places
    yield "Reshape", [f(2, 3), c([3, 2])], ()
    yield "Transpose", [f(2, 3), c([1, 0])], ()
    yield "OneHot", [i(3, high=4), c(4), c(1.0), c(0.0)], ("axis", 0)
    yield "StridedSlice", [f(4, 4), c([1, 0]), c([3, 4]), c([1, 2])], ("shrink_axis_mask", 1)
    yield "Pad", [f(2, 2), c([[1, 0], [0, 1]])], ()
    # lists of inputs
    yield "AddN", [[f(2), f(2), f(2)]], ()
    yield "Pack", [[f(2), f(2)]], ("axis", 1)
    yield "ConcatV2", [[f(1, 2), f(2, 2)], c(0)], ()
    yield "IdentityN", [[f(2), i(2), s("a")]], ()
    yield "ShapeN", [[f(2), f(3, 1)]], ("out_type", tf.int64)
    yield "Einsum", [[f(2, 3), f(3, 2)]], ("equation", "ij,jk->ik")
    # more than one output
    yield "Unique", [i(8, high=4)], ("out_idx", tf.int64)
    yield "TopKV2", [f(5), c(2)], ("sorted", True)
    yield "Split", [c(0), f(4, 2)], ("num_split", 2)
    yield "SplitV", [f(5), c([2, 3]), c(0)], ("num_split", 2)
    yield "Unpack", [f(3, 2)], ("num", 3, "axis", 0)
    yield "Qr", [f(3, 2)], ("full_matrices", True)
    yield "ListDiff", [i(6), i(3)], ("out_idx", tf.int64)
    yield "NoOp", [], ()
    # a resource
    variable = tf.Variable([1.0, 2.0])
    yield "ReadVariableOp", [variable.handle], ("dtype", tf.float32)
    yield "VariableShape", [variable.handle], ("out_type", tf.int64)
    yield "VarIsInitializedOp", [variable.handle], ()
