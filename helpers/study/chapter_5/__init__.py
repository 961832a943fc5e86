"""The exercises of chapter 5, and the ops that they use."""

# ruff: noqa: F401 - imported by the front door and the notebooks

from helpers.study.chapter_5 import op_trial, relu, torch_op
from helpers.study.chapter_5.kernel_verdicts import compare_kernel_checks
from helpers.study.chapter_5.op_trial import broken_ops, run_with_gradient
from helpers.study.chapter_5.relu import relu_files, relu_so_far, train_through, without_each_piece
from helpers.study.chapter_5.run_op import failing_stage, gradient, run_op
from helpers.study.chapter_5.torch_op import fit_around

EXERCISES = (
    *(relu.gradient_names, relu.forgotten, op_trial.sigmoid, torch_op.smooth_max),
    *(op_trial.repair, op_trial.two_kernels),
)
