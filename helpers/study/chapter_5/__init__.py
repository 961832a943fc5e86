"""The exercises of chapter 5, and the ops that they take apart."""

from helpers.study.chapter_5.kernel_verdicts import who_catches
from helpers.study.chapter_5.leaky import LEAKY
from helpers.study.chapter_5.relu import BUG, FORGOTTEN, forgotten, relu_files, train_through
from helpers.study.chapter_5.repair import REPAIR, broken_ops, try_op
from helpers.study.chapter_5.run_op import gradient, run_op, stage_of
from helpers.study.chapter_5.sigmoid import SIGMOID, sigmoid_in_cpp
from helpers.study.chapter_5.split import SPLIT

EXERCISES = (BUG, FORGOTTEN, SIGMOID, LEAKY, SPLIT, REPAIR)

__all__ = [
    "EXERCISES",
    "broken_ops",
    "forgotten",
    "gradient",
    "relu_files",
    "run_op",
    "sigmoid_in_cpp",
    "stage_of",
    "train_through",
    "try_op",
    "who_catches",
]
