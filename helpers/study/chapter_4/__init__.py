"""The exercises of chapter 4."""

from helpers.study.chapter_4.dynamo_steps import STEP_EXERCISES
from helpers.study.chapter_4.evicting import EVICTING

EXERCISES = (*STEP_EXERCISES, EVICTING)

__all__ = ["EXERCISES"]
