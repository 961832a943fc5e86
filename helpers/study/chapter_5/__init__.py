"""The exercises of chapter 5, and the ops that they use."""

# ruff: noqa: F401 - imported by the front door and the notebooks

from helpers.study.chapter_5.kernel_choice import two_kernels
from helpers.study.chapter_5.kernel_verdicts import compare_kernel_checks
from helpers.study.chapter_5.op_jobs import failing_stage, gradient, run_op
from helpers.study.chapter_5.op_trial import broken_ops, repair, run_with_gradient, sigmoid
from helpers.study.chapter_5.relu import (
    forgotten,
    gradient_names,
    relu_files,
    relu_so_far,
    train_through,
    without_each_piece,
)
from helpers.study.chapter_5.torch_op import fit_around, smooth_max

EXERCISES = (gradient_names, forgotten, sigmoid, smooth_max, repair, two_kernels)
