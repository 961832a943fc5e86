"""Choices of a sandbox -> a call of a live tf.function: its code, its forecast, its ledger row."""

from helpers.capture.tensorflow.tracing.ledger import Watched, as_function
from helpers.model.sandbox import Control, Sandbox
from helpers.model.traces import TraceEntry

TENSOR, PYTHON, LIST, DICT = "a tensor", "a Python value", "a list of two", "a dict of tensors"
FUNCTIONS = {
    "tf.function(f)": {},
    "tf.function(f, reduce_retracing=True)": {"reduce_retracing": True},
    "tf.function(f, input_signature=[float32, (None,)])": {"input_signature": True},
}
HOLDS_TENSORS = (TENSOR, LIST, DICT)
CONTROLS = (
    Control("function", tuple(FUNCTIONS)),
    Control("argument", (TENSOR, PYTHON, LIST, DICT)),
    Control("dtype", ("float32", "int32"), "argument", HOLDS_TENSORS),
    Control("shape", ("(2,)", "(3,)", "(5,)", "(2, 2)", "()"), "argument", HOLDS_TENSORS),
    Control("value", ("1", "2", "1.0", "True", "'relu'"), "argument", (PYTHON,)),
    Control("keys", ("a", "a, b", "b, a", "c"), "argument", (DICT,)),
)
SANDBOX = Sandbox(
    "Hit or trace?",
    "Pick a call, predict what it does, then run it. Each function keeps its cache.",
    CONTROLS,
    ("hit", "trace", "error"),
    'sandbox.run("trace", argument="a Python value", value="2")',
)


def call_code(picked: dict[str, str]) -> str:
    """Return the argument that the choices make, as it would be typed."""
    tensor = f"tf.zeros({picked['shape']}, tf.{picked['dtype']})"
    if picked["argument"] == PYTHON:
        return picked["value"]
    if picked["argument"] == LIST:
        return f"[{tensor}, {tensor}]"
    if picked["argument"] == DICT:
        pairs = [f"{key!r}: {tensor}" for key in picked["keys"].split(", ")]
        return f"{{{', '.join(pairs)}}}"
    return tensor


class Signatures:
    """One live tf.function per setting, each with its own cache and ledger."""

    def __init__(self):
        self._made: dict[str, Watched] = {}

    def function(self, picked: dict[str, str]) -> Watched:
        """Return the watched function of this setting; made when first asked for."""
        setting = picked["function"]
        if setting not in self._made:
            self._made[setting] = _function(**FUNCTIONS[setting])
        return self._made[setting]

    def foretell(self, picked: dict[str, str]) -> TraceEntry:
        """Return the row that the call would add."""
        return self.function(picked).forecast((_argument(picked),), {})

    def run(self, picked: dict[str, str]) -> TraceEntry:
        """Call the function and return the row that this added; what it raises is in the row."""
        function = self.function(picked)
        try:
            function(_argument(picked))
        except (TypeError, ValueError) as error:
            del error
        return function.last


def _function(input_signature=False, **options) -> Watched:
    import tensorflow as tf

    def f(x):
        return tf.constant(0)

    if input_signature:
        options["input_signature"] = [tf.TensorSpec((None,), tf.float32)]
    # A press of the button may come on any thread of the kernel; that is nothing to tell.
    return Watched(as_function(f, {"autograph": False, **options}), threads=False)


def _argument(picked: dict[str, str]):
    """Return the argument itself; the code is of the sandbox's own making."""
    import tensorflow as tf

    return eval(call_code(picked), {"tf": tf})
