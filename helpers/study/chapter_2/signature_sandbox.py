"""A learner's guess about one call of a tf.function -> what the call really does."""

from contextlib import suppress

from helpers.capture.tensorflow.tf_functions import require_tf_function
from helpers.capture.tensorflow.trace_recorder import TraceRecorder
from helpers.model.question_records import Control, Sandbox
from helpers.study.foretelling import Foretelling
from helpers.study.frameworks import tf
from helpers.view.table_view import ledger

TENSOR = "a tensor"
PYTHON = "a Python value"
LIST = "a list of two"
DICT = "a dict of tensors"
FUNCTIONS = {  # what a learner picks -> the options of tf.function
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
    """Return the code of the argument that the choices make."""
    kind = picked["argument"]
    if kind == PYTHON:
        return picked["value"]

    tensor = f"tf.zeros({picked['shape']}, tf.{picked['dtype']})"
    if kind == TENSOR:
        return tensor
    if kind == LIST:
        return f"[{tensor}, {tensor}]"
    items = [f"{key!r}: {tensor}" for key in picked["keys"].split(", ")]
    return f"{{{', '.join(items)}}}"


class SignatureSandbox(Foretelling):
    """A sandbox of calls. `Foretelling` calls the methods with what the learner has picked.

    `picked` is the name of each control -> its chosen option. A tf.function is made when its
    setting is first picked, and then keeps its traces and its ledger.
    """

    _recorded_note = (
        f"This page plays recorded runs. Each function was first called with "
        f"{call_code(SANDBOX.start())}. Your choice was its second call."
    )

    def __init__(self):
        super().__init__(SANDBOX, "a call is")
        self._watched_by_setting: dict[str, TraceRecorder] = {}

    def function(self, picked: dict[str, str]) -> TraceRecorder:
        """Return the tf.function of the picked setting, with its ledger."""

        def f(x):
            return tf.constant(0)

        setting = picked["function"]
        if setting not in self._watched_by_setting:
            options = {"autograph": False, **FUNCTIONS[setting]}
            if "input_signature" in options:
                options["input_signature"] = [tf.TensorSpec((None,), tf.float32)]
            # A button press may run on any thread of the kernel, so no thread is reported.
            self._watched_by_setting[setting] = TraceRecorder(require_tf_function(f, options))
        return self._watched_by_setting[setting]

    def _prepare(self, picked):
        """Make the call that comes before each recorded one: that of the first options."""
        self.function(picked)(make_argument(SANDBOX.start()))

    def _truth(self, picked):
        """Make the picked call; return its verdict, a sentence on it, and the ledger as HTML."""
        function = self.function(picked)
        with suppress(TypeError, ValueError):  # the ledger has the error, too
            function(make_argument(picked))
        row = function.last
        reason = f" ({row.note})" if row.note else ""
        sentence = f"was {row.verdict}{reason}."
        return row.verdict, sentence, ledger.html(function.model)

    def _code(self, picked):
        """Return the picked call as the learner would type it."""
        return f"{picked['function']}({call_code(picked)})"


def signature_sandbox() -> SignatureSandbox:
    """Return a sandbox in which you pick a call, predict its verdict and run it."""
    return SignatureSandbox()


def make_argument(picked: dict[str, str]):
    """Return the argument that the choices make. `eval` is safe: the sandbox wrote the code."""
    return eval(call_code(picked), {"tf": tf})
