"""A sandbox of chapter 2: the learner picks a call of a tf.function and guesses what it does. The
call is a *hit* (a trace in the cache fits it), a *trace* (the Python function runs to make one) or
an error. A *control* is one choice on the page, such as the dtype of the argument. `picked` maps
the name of each control to the chosen option.
"""

from contextlib import suppress

from helpers.capture.tensorflow.tf_functions import require_tf_function
from helpers.capture.tensorflow.trace_recorder import TraceRecorder
from helpers.model.question_records import Control, Sandbox
from helpers.study.foretelling import GuessingSandbox
from helpers.study.frameworks import tf
from helpers.view.table_view import ledger

TENSOR = "a tensor"
PYTHON = "a Python value"
LIST = "a list of two"
DICT = "a dict of tensors"
FUNCTIONS = {  # option of the control "function" -> the options of tf.function
    "tf.function(f)": {},
    "tf.function(f, reduce_retracing=True)": {"reduce_retracing": True},
    "tf.function(f, input_signature=[float32, (None,)])": {"input_signature": True},
}
# The kinds of argument for which dtype and shape are asked.
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
    """Return the source of the picked argument, such as "tf.zeros((2,), tf.float32)"."""
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


class SignatureSandbox(GuessingSandbox):
    """The sandbox. The base class, Foretelling, draws it and calls these methods with `picked`.

    A tf.function is made when its setting is first picked. It then keeps its traces and its ledger,
    a table with a line for each call.
    """

    _recorded_note = (
        f"This page plays recorded runs. Each function was first called with "
        f"{call_code(SANDBOX.start())}. Your choice was its second call."
    )

    def __init__(self):
        """Begin without tf.functions."""
        super().__init__(SANDBOX, "a call is")
        # option of the control "function" -> its tf.function, with a ledger
        self._watched_by_setting: dict[str, TraceRecorder] = {}

    def function(self, picked: dict[str, str]) -> TraceRecorder:
        """Return the tf.function for the picked option, in a TraceRecorder that has its ledger.

        It is made at the first call for the option, and is the same at later ones.
        """

        def f(x):
            return tf.constant(0)

        setting = picked["function"]
        if setting not in self._watched_by_setting:
            options = {"autograph": False, **FUNCTIONS[setting]}
            if "input_signature" in options:  # made here, because TensorFlow is imported late
                options["input_signature"] = [tf.TensorSpec((None,), tf.float32)]
            # The ledger does not name threads: a press of a button may run on any of them.
            self._watched_by_setting[setting] = TraceRecorder(require_tf_function(f, options))
        return self._watched_by_setting[setting]

    def _prepare(self, picked):
        """Make the call that precedes each recorded call: the one of the first options."""
        self.function(picked)(make_argument(SANDBOX.start()))

    def _truth(self, picked):
        """Make the picked call; return (verdict, sentence about it, the ledger as HTML)."""
        # What `watch_traces` returns: it calls the tf.function, and adds a row for each call to its
        # ledger. `last` is the row of the last call, and `model` the whole ledger.
        function = self.function(picked)
        with suppress(TypeError, ValueError):  # the verdict in the row is then "error"
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
    """Return the picked argument. `eval` is safe, because `call_code` wrote the code."""
    return eval(call_code(picked), {"tf": tf})
