"""The exercises of chapter 4."""

from helpers.study.chapter_4 import dynamo_games as games
from helpers.study.chapter_4 import dynamo_steps as steps
from helpers.study.chapter_4.hook_exercises import behind_the_hook, hook_callback

EXERCISES = (
    *(steps.dynamo_binary_op, steps.dynamo_recorder, steps.dynamo_guards, steps.dynamo_lookup),
    *(steps.dynamo_receives, hook_callback, games.break_surgery, steps.evicting_cache),
    *(games.guard_breaker, games.guard_set, behind_the_hook),
)
