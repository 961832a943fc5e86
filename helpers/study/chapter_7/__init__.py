"""The exercises of chapter 7: the cases of the clinic."""

from helpers.study.chapter_7.blind_tool import BLIND_TOOL
from helpers.study.chapter_7.every_step import EVERY_STEP
from helpers.study.chapter_7.gives_up import GIVES_UP
from helpers.study.chapter_7.stuck_patch import STUCK_PATCH

EXERCISES = (STUCK_PATCH, EVERY_STEP, GIVES_UP, BLIND_TOOL)
