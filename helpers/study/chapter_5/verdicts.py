"""Kernels that break their promise -> who catches which: the small OneFlow, torch, TensorFlow."""

import numpy as np

from helpers.capture import kernel_verdicts
from helpers.study.chapter_5.trial import run_op


def who_catches(
    name: str, files: dict[str, str], kernels: dict[str, str], example: np.ndarray
) -> list[dict[str, str]]:
    """Return a row per kernel, "caught" or "passes" for each that was given it.

    `kernels`: texts that define forward(args), by what is wrong with them; each takes the place of
    the kernel file among the `files` of the op. TensorFlow runs in an interpreter of its own.
    """
    in_tensorflow = kernel_verdicts.in_tensorflow(kernels, example)
    rows = []
    for wrong, text in kernels.items():
        tried = files | {f"{name}_py_kernel.py": text}
        flow = kernel_verdicts.said(lambda tried=tried: run_op(name, tried, example))
        in_torch = kernel_verdicts.in_torch(text, example)
        rows.append({"kernel": wrong, "flow": flow, **in_torch, **in_tensorflow[wrong]})
    return rows
