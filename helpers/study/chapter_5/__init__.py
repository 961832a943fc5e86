"""The exercises of chapter 5, and the ops that they take apart."""

from helpers.study.chapter_5.leaky import LEAKY
from helpers.study.chapter_5.relu import BUG, FORGOTTEN, forgotten, relu_files, train_through
from helpers.study.chapter_5.repair import REPAIR, broken_ops, try_op
from helpers.study.chapter_5.sigmoid import SIGMOID
from helpers.study.chapter_5.split import SPLIT

EXERCISES = (BUG, FORGOTTEN, SIGMOID, LEAKY, SPLIT, REPAIR)

__all__ = ["EXERCISES", "broken_ops", "forgotten", "relu_files", "train_through", "try_op"]
