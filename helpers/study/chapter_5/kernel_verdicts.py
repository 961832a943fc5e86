"""Find out which broken kernels the small OneFlow, torch and TensorFlow catch.
A kernel is the function that computes an op. A broken one returns, for example, another dtype than
it should, or writes into its input. A *verdict* is "caught" if an error is raised, "damages" if
there is no error and the caller's array has changed, and "passes" otherwise.
"""

import numpy as np

from helpers.capture.processes.child import call_in_child
from helpers.exhibit import Exhibit
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.safety import progress
from helpers.study.chapter_5.op_jobs import run_op
from helpers.view.table_view import ledger

#: The columns of the table: who runs each kernel, and may notice that it is broken.
CHECKERS = ("flow", "torch called", "torch opcheck", "TF eager", "TF graph")
MARKS = (
    ("good", "an error was raised"),
    ("failed", "no error, and the caller's array has changed"),
)
# Verdict -> the name of the colour in which the table shows it.
TONES = {"caught": "good", "passes": "plain", "damages": "failed"}


def compare_kernel_checks(
    name: str, files: dict[str, str], kernels: dict[str, str], example: np.ndarray
) -> Exhibit:
    """Return a table with a row for each kernel and a column for each of `CHECKERS`.

    Parameters
    ----------
    name : str
        The name of the op.
    files : dict of str to str
        Name -> text of each file of the op. A kernel's text replaces the kernel file.
    kernels : dict of str to str
        What is wrong with a kernel -> the text of its file, which defines `forward(args)`.
    example : numpy.ndarray
        The input on which each kernel runs.
    """
    with progress.report_activity("running the kernels in TensorFlow, in another process"):
        tensorflow_verdicts = judge_in_tensorflow(kernels, example)

    entries = []
    for fault, text in progress.report_each("running kernel", kernels.items()):
        verdicts_by_checker = {  # one of CHECKERS -> "caught", "damages" or "passes"
            "flow": _judge_in_small_oneflow(name, files, text, example),
            **judge_in_torch(text, example),
            **tensorflow_verdicts[fault],
        }
        verdicts = [_make_verdict(verdicts_by_checker[checker]) for checker in CHECKERS]
        entries.append(Entry(fault, tuple(verdicts)))
    model = Ledger("Who catches what", "kernel", CHECKERS, tuple(entries), marks=MARKS)
    return Exhibit(model, ledger)


def _make_verdict(word: str) -> Verdict:
    """Return one cell of the table; `word` is "caught", "damages" or "passes"."""
    return Verdict(word, TONES[word])


def judge_call(call, x) -> str:
    """Return "caught" if `call(x)` raises, "damages" if it changes x, and "passes" otherwise."""
    # The numbers are compared as text, because nan is not equal to nan.
    before = str(np.array(x).tolist())
    try:
        call(x)
    except Exception:
        return "caught"
    after = str(np.array(x).tolist())
    return "passes" if after == before else "damages"


def _read_forward(kernel_text: str):
    """Run the text of a kernel file, and return its `forward(args)` as a function of one array."""
    names = {}
    exec(kernel_text, names)
    return lambda x: names["forward"]((x,))


def _judge_in_small_oneflow(name: str, files: dict[str, str], kernel_text: str, example) -> str:
    """Return the verdict on an op of the small OneFlow that has this text as its kernel file."""
    own_files = files | {f"{name}_py_kernel.py": kernel_text}
    return judge_call(lambda x: run_op(name, own_files, x), example.copy())


def judge_in_torch(kernel_text: str, example) -> dict[str, str]:
    """Register a kernel as an op of PyTorch, and return two verdicts by their columns.

    They are on a call of the op, and on `torch.library.opcheck`, PyTorch's test of an op.
    """
    import torch

    forward = _read_forward(kernel_text)

    @torch.library.custom_op("chapter5::bad", mutates_args=())  # promises not to change x
    def op(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(forward(x.numpy()))

    op.register_fake(torch.empty_like)
    x = torch.from_numpy(example)
    return {
        # Each gets a clone, because a broken kernel changes its input. Inside opcheck nobody sees
        # the change, but opcheck itself raises an error for it.
        "torch called": judge_call(op, x.clone()),
        "torch opcheck": judge_call(lambda x: torch.library.opcheck(op, (x.clone(),)), x),
    }


def judge_in_tensorflow(kernel_texts: dict[str, str], example) -> dict[str, dict[str, str]]:
    """Return what is wrong with a kernel -> {"TF eager": verdict, "TF graph": verdict}.

    `kernel_texts` maps what is wrong with a kernel to the text of its file. TensorFlow runs in a
    child process.
    """
    return call_in_child(_run_in_tensorflow, kernel_texts, example.tolist())


def _run_in_tensorflow(kernel_texts, example):
    """Return what `judge_in_tensorflow` returns. This function runs in the child process.

    Only the text of this function is sent to the child, so it imports all that it uses.
    """
    import tensorflow as tf

    from helpers.study.chapter_5.kernel_verdicts import _read_forward, judge_call

    def make_call(kernel_text):
        """Return a new function that runs the kernel as an op of TensorFlow."""
        forward = _read_forward(kernel_text)

        def call(x):
            y = tf.numpy_function(forward, [x], Tout=x.dtype)
            y.set_shape(x.shape)  # in a graph, TensorFlow does not know the shape of the result
            return y

        return call

    verdicts = {}
    for name, text in kernel_texts.items():
        eager = make_call(text)
        graph = tf.function(make_call(text))
        verdicts[name] = {
            "TF eager": judge_call(eager, tf.constant(example)),
            "TF graph": judge_call(graph, tf.constant(example)),
        }
    return verdicts
