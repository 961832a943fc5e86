"""Find out which broken kernels the small OneFlow, torch and TensorFlow catch."""

import numpy as np

from helpers.capture.processes.child import call_in_child
from helpers.exhibit import Exhibit
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.safety import progress
from helpers.study.chapter_5.op_jobs import run_op
from helpers.view.table_view import ledger

#: The columns of the ledger: what runs each kernel, and may notice that it is broken.
CHECKERS = ("flow", "torch called", "torch opcheck", "TF eager", "TF graph")
MARKS = (
    ("good", "an error was raised"),
    ("failed", "no error, and the caller's array has changed"),
)
TONES = {"caught": "good", "passes": "plain", "damages": "failed"}


def compare_kernel_checks(
    name: str, files: dict[str, str], kernels: dict[str, str], example: np.ndarray
) -> Exhibit:
    """Return a ledger with a row per kernel: it is "caught", "damages" the caller's x, or "passes".

    `kernels`: texts that define forward(args), by what is wrong with them; each replaces the
    kernel file among the op's `files`. TensorFlow runs in its own interpreter.
    """
    with progress.doing("running the kernels in TensorFlow, in another process"):
        tensorflow_words = in_tensorflow(kernels, example)

    entries = []
    for fault, text in progress.counted("running kernel", kernels.items()):
        words_by_checker = {
            "flow": _in_small_oneflow(name, files, text, example),
            **in_torch(text, example),
            **tensorflow_words[fault],
        }
        verdicts = [_make_verdict(words_by_checker[checker]) for checker in CHECKERS]
        entries.append(Entry(fault, tuple(verdicts)))
    model = Ledger("Who catches what", "kernel", CHECKERS, tuple(entries), marks=MARKS)
    return Exhibit(model, ledger)


def _make_verdict(word: str) -> Verdict:
    """Return a ledger's verdict; `word` is what `verdict_on` returned."""
    return Verdict(word, TONES[word])


def verdict_on(step, x) -> str:
    """Return "caught" if `step(x)` raises, "damages" if it changes x, else "passes"."""
    # As text, because nan differs from nan as a number.
    before = str(np.array(x).tolist())
    try:
        step(x)
    except Exception:
        return "caught"
    after = str(np.array(x).tolist())
    return "passes" if after == before else "damages"


def _read_forward(kernel_text: str):
    """Run the text of a kernel file; return its `forward` as a function of one array."""
    space = {}
    exec(kernel_text, space)
    return lambda x: space["forward"]((x,))


def _in_small_oneflow(name: str, files: dict[str, str], kernel_text: str, example) -> str:
    """Return the verdict of a job that runs the kernel in the small OneFlow."""
    own_files = files | {f"{name}_py_kernel.py": kernel_text}
    return verdict_on(lambda x: run_op(name, own_files, x), example.copy())


def in_torch(kernel_text: str, example) -> dict[str, str]:
    """Register the kernel as a PyTorch op; return the verdicts on a call and on `opcheck`."""
    import torch

    forward = _read_forward(kernel_text)

    @torch.library.custom_op("chapter5::bad", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(forward(x.numpy()))

    op.register_fake(torch.empty_like)
    x = torch.from_numpy(example)
    return {
        # Clones, because a kernel may damage what it gets. opcheck raises for that by itself.
        "torch called": verdict_on(op, x.clone()),
        "torch opcheck": verdict_on(lambda x: torch.library.opcheck(op, (x.clone(),)), x),
    }


def in_tensorflow(kernel_texts: dict[str, str], example) -> dict[str, dict[str, str]]:
    """Return kernel name -> {"TF eager": verdict, "TF graph": verdict}, from a child process."""
    return call_in_child(_run_in_tensorflow, kernel_texts, example.tolist())


def _run_in_tensorflow(kernel_texts, example):
    """Return what `in_tensorflow` returns; the child's side of it.

    A child runs the text of this function alone, so it imports all that it uses.
    """
    import tensorflow as tf

    from helpers.study.chapter_5.kernel_verdicts import _read_forward, verdict_on

    def make_call(kernel_text):
        """Return a new function that runs the kernel as an op of TensorFlow."""
        forward = _read_forward(kernel_text)

        def call(x):
            y = tf.numpy_function(forward, [x], Tout=x.dtype)
            y.set_shape(x.shape)  # in a graph, the shape of what NumPy returns is not known
            return y

        return call

    verdicts = {}
    for name, text in kernel_texts.items():
        eager = make_call(text)
        graph = tf.function(make_call(text))
        verdicts[name] = {
            "TF eager": verdict_on(eager, tf.constant(example)),
            "TF graph": verdict_on(graph, tf.constant(example)),
        }
    return verdicts
