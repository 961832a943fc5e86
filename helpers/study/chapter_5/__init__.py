"""The exercises of chapter 5, and the ops that they take apart."""

from helpers.study.chapter_5.relu import BUG, FORGOTTEN, forgotten, relu_files, train_through

EXERCISES = (BUG, FORGOTTEN)

__all__ = ["EXERCISES", "forgotten", "relu_files", "train_through"]
