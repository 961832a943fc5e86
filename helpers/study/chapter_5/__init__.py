"""The exercises of chapter 5, and the ops that they take apart."""

from helpers.study.chapter_5.forgotten import FORGOTTEN
from helpers.study.chapter_5.gradient_names import GRADIENT_NAMES
from helpers.study.chapter_5.kernel_verdicts import compare_kernel_checks
from helpers.study.chapter_5.leaky import LEAKY
from helpers.study.chapter_5.relu import (
    relu_files,
    relu_so_far,
    train_through,
    without_each_piece,
)
from helpers.study.chapter_5.repair import REPAIR, broken_ops, run_with_gradient
from helpers.study.chapter_5.run_op import failing_stage, gradient, run_op
from helpers.study.chapter_5.sigmoid import SIGMOID, sigmoid_in_cpp
from helpers.study.chapter_5.split import SPLIT
from helpers.study.chapter_5.two_kernels import TWO_KERNELS

EXERCISES = (GRADIENT_NAMES, FORGOTTEN, SIGMOID, LEAKY, SPLIT, REPAIR, TWO_KERNELS)

__all__ = [
    "EXERCISES",
    "broken_ops",
    "without_each_piece",
    "gradient",
    "relu_files",
    "relu_so_far",
    "run_op",
    "sigmoid_in_cpp",
    "failing_stage",
    "train_through",
    "run_with_gradient",
    "compare_kernel_checks",
]
