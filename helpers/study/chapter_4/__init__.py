"""The exercises of chapter 4."""

from helpers.study.chapter_4.guard_breaker import GUARD_BREAKER
from helpers.study.chapter_4.guard_set import GUARD_SET

EXERCISES = (GUARD_BREAKER, GUARD_SET)
