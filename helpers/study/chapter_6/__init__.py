"""The exercises of chapter 6."""

from helpers.study.chapter_6.by_hand import EXECUTE

EXERCISES = (EXECUTE,)
