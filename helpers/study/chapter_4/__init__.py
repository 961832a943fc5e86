"""The exercises of chapter 4."""

from helpers.study.chapter_4.break_surgery import BREAK_SURGERY
from helpers.study.chapter_4.hook_callback import HOOK_CALLBACK

EXERCISES = (HOOK_CALLBACK, BREAK_SURGERY)
