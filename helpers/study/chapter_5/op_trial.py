"""Chapter 5, exercises `sigmoid` and `repair`: write an op, and find the mistake in three ops."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from helpers.capture.oneflow.job_graph import build_job_graph
from helpers.study.answers import (
    InvalidAnswer,
    require_items,
    require_named_values,
    require_no_stub,
)
from helpers.study.chapter_5 import op_jobs
from helpers.study.chapter_5.op_judge import judge_op
from helpers.study.chapter_5.op_texts import op_files
from helpers.study.check import exercise
from helpers.study.sentences import prefix_reason

SIGMOID = "user_sigmoid"


def _draw_sigmoid_job(files):
    """Return the graph of a train job with the learner's sigmoid op, which is drawn as a picture.

    `files` is the learner's answer: name of a file -> text.
    """
    x = np.ones((2, 3), np.float32)
    with op_jobs.load_op_in_fresh_session(SIGMOID, op_jobs.require_files(files, SIGMOID)) as api:
        wrapper = op_jobs.find_wrapper(api, SIGMOID)
        job = op_jobs.make_weighted_job(lambda blob: op_jobs.call_for_blobs(wrapper, blob), x).job
        return build_job_graph(job)


SIGMOID_HINTS = (
    "Start with the ReLU's files and replace the name in the file names, the op types and the "
    "wrapper. Then change the two lines that compute.",
    "The C++ definition has the names of inputs and outputs: in and out, y, dy and dx. InputBind "
    "needs the backward op's name first, then a blob of the forward op.",
    "forward computes 1 / (1 + np.exp(-x)). Its derivative y * (1 - y) needs only y. backward "
    "multiplies it by dy.",
)


@exercise(*SIGMOID_HINTS, picture=_draw_sigmoid_job)
def sigmoid(sigmoid=None):
    """Your op's values and gradients match torch's."""
    # This returns a sentence on what is wrong, None if the op is right.
    files = op_jobs.require_files(sigmoid, SIGMOID)
    return judge_op(SIGMOID, files, lambda x: x.sigmoid())


@dataclass(frozen=True)
class BrokenOp:
    """An op of the exercise `repair`, and the one mistake in its files."""

    #: The expression of x that the kernel's forward returns.
    forward: str
    #: The expression of y and dy that the kernel's backward returns.
    backward: str
    #: A function that computes the same formula in torch.
    truth: Callable
    #: The right text in one of the files.
    right: str
    #: The wrong text that replaces it.
    wrong: str


BROKEN_OPS = {
    "user_cube": BrokenOp(
        "x**3",
        "3 * np.cbrt(y) ** 2 * dy",
        lambda x: x**3,
        right="return x**3",
        wrong="return np.array(x**3, dtype=float)",
    ),
    "user_double": BrokenOp(
        "2 * x",
        "2 * dy",
        lambda x: 2 * x,
        right='Name("user_double_',
        wrong='Name("user_doubled_',
    ),
    "user_negate": BrokenOp(
        "-x",
        "-dy",
        lambda x: -x,
        right='.Input("in", [x])',
        wrong='.Input("in", x)',
    ),
}


def broken_ops() -> dict[str, dict[str, str]]:
    """Return three ops, name -> files by name, each with one mistake."""
    return {name: _write_broken_files(name) for name in BROKEN_OPS}


def _write_broken_files(name: str) -> dict[str, str]:
    """Return the files of one of BROKEN_OPS, name -> text, with the mistake in one of them."""
    op = BROKEN_OPS[name]
    files = op_files(name, op.forward, op.backward)
    # Only one file contains `op.right`; the others stay as they are.
    return {file: text.replace(op.right, op.wrong) for file, text in files.items()}


def run_with_gradient(name: str, files: dict[str, str]) -> None:
    """Load an op in a fresh session, run it, and compute a gradient. OpError if that fails.

    `files` maps the name of each file of the op to its text.
    """
    x = np.ones(2, np.float32)
    with op_jobs.load_op_in_fresh_session(name, files) as api:
        wrapper = op_jobs.find_wrapper(api, name)
        op_jobs.run_forward(wrapper, x)
        op_jobs.gradient(wrapper, x, [x])


REPAIR_HINTS = (
    "Each message names the op, and most name a file. Print that file first.",
    "user_cube breaks its promise about the dtype when it runs. user_double names an op type that "
    "does not exist when its gradient is appended. user_negate fails in its wrapper.",
    "user_cube: x**3 alone keeps the dtype. user_double: compare the name after OpTypeName "
    "with the registered ones. user_negate: the message says what to write.",
)


@exercise(*REPAIR_HINTS)
def repair(repairs):
    """After your three edits, all three ops match torch."""
    # This returns a sentence on what is wrong, None if all repairs are right.
    for name, edit in require_named_values(repairs, BROKEN_OPS, "the repairs").items():
        reason = _judge_edit(name, edit)
        if reason:
            return reason
    return None


def _judge_edit(name: str, edit) -> str | None:
    """Return what is wrong with a learner's repair of one op; None if the op is right now.

    `edit` is (name of the file, old text, new text): the old text, which must occur once in the
    file, is replaced by the new one. Raise InvalidAnswer for anything else.
    """
    texts = require_items(edit, limit=3, what=f"the repair of {name}")
    if len(texts) != 3 or not all(isinstance(require_no_stub(text, name), str) for text in texts):
        must = "must be three strings: the file, the old text, the new text"
        raise InvalidAnswer(f"the repair of {name} {must}")

    file, old, new = texts
    files = _write_broken_files(name)
    if file not in files:
        return f"{name} has no file {file!r}; it has {', '.join(files)}"
    count = files[file].count(old)
    if count != 1:
        return f"{old!r} occurs {count} times in {file}; it must occur exactly once"

    files[file] = files[file].replace(old, new)
    # Inputs with infinite and very large numbers are not part of this exercise.
    reason = judge_op(name, files, BROKEN_OPS[name].truth, has_extremes=False)
    return prefix_reason(f"{name}: ", reason) if reason else None
