"""The exercises of chapter 4."""

from helpers.study.chapter_4.behind_the_hook import BEHIND_THE_HOOK
from helpers.study.chapter_4.break_surgery import BREAK_SURGERY
from helpers.study.chapter_4.dynamo_steps import STEP_EXERCISES
from helpers.study.chapter_4.evicting import EVICTING
from helpers.study.chapter_4.guard_breaker import GUARD_BREAKER
from helpers.study.chapter_4.guard_set import GUARD_SET
from helpers.study.chapter_4.hook_callback import HOOK_CALLBACK

EXERCISES = (
    *STEP_EXERCISES,
    HOOK_CALLBACK,
    BREAK_SURGERY,
    EVICTING,
    GUARD_BREAKER,
    GUARD_SET,
    BEHIND_THE_HOOK,
)
