"""The exercises of chapter 4."""

from helpers.study.chapter_4 import dynamo_steps as steps
from helpers.study.chapter_4.dynamo_games import BREAK_SURGERY, GUARD_BREAKER, GUARD_SET
from helpers.study.chapter_4.hook_exercises import BEHIND_THE_HOOK, HOOK_CALLBACK

EXERCISES = (
    *(steps.DYNAMO_BINARY_OP, steps.DYNAMO_RECORDER, steps.DYNAMO_GUARDS, steps.DYNAMO_LOOKUP),
    *(steps.DYNAMO_RECEIVES, HOOK_CALLBACK, BREAK_SURGERY, steps.EVICTING_CACHE),
    *(GUARD_BREAKER, GUARD_SET, BEHIND_THE_HOOK),
)
