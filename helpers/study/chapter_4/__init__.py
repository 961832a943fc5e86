"""The exercises of chapter 4."""

from helpers.study.chapter_4.break_surgery import BREAK_SURGERY
from helpers.study.chapter_4.dynamo_steps import (
    DYNAMO_BINARY_OP,
    DYNAMO_GUARDS,
    DYNAMO_LOOKUP,
    DYNAMO_RECEIVES,
    DYNAMO_RECORDER,
    EVICTING_CACHE,
)
from helpers.study.chapter_4.guard_games import GUARD_BREAKER, GUARD_SET
from helpers.study.chapter_4.hook_exercises import BEHIND_THE_HOOK, HOOK_CALLBACK

EXERCISES = (
    *(DYNAMO_BINARY_OP, DYNAMO_RECORDER, DYNAMO_GUARDS, DYNAMO_LOOKUP, DYNAMO_RECEIVES),
    *(HOOK_CALLBACK, BREAK_SURGERY, EVICTING_CACHE, GUARD_BREAKER, GUARD_SET, BEHIND_THE_HOOK),
)
