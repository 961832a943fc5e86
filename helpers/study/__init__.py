"""The learner's turn: predict, expect, check."""

from helpers.study import (
    chapter_0,
    chapter_1,
    chapter_2,
    chapter_3,
    chapter_4,
    chapter_5,
    chapter_6,
)
from helpers.study.check import Checks
from helpers.study.expect import expect
from helpers.study.predict import predict

check = Checks(
    *chapter_0.EXERCISES,
    *chapter_1.EXERCISES,
    *chapter_2.EXERCISES,
    *chapter_3.EXERCISES,
    *chapter_4.EXERCISES,
    *chapter_5.EXERCISES,
    *chapter_6.EXERCISES,
)

__all__ = ["check", "expect", "predict"]
