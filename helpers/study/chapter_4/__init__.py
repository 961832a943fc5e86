"""The exercises of chapter 4."""

from helpers.study.chapter_4 import dynamo_games as games
from helpers.study.chapter_4 import dynamo_steps as steps
from helpers.study.chapter_4.hook_exercises import behind_the_hook
from helpers.study.chapter_4.training_step import one_compile

EXERCISES = (
    *(steps.dynamo_binary_op, steps.dynamo_recorder, steps.dynamo_guards, steps.dynamo_lookup),
    *(steps.dynamo_receives, games.guard_breaker, games.guard_set, games.break_surgery),
    *(one_compile, behind_the_hook),
)
