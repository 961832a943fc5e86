"""The exercises of chapter 4."""

from helpers.study.chapter_4 import dynamo_cache_steps as cache_steps
from helpers.study.chapter_4 import dynamo_trace_steps as trace_steps
from helpers.study.chapter_4.break_surgery import break_surgery
from helpers.study.chapter_4.guard_exercises import guard_breaker, guard_set
from helpers.study.chapter_4.hook_exercises import behind_the_hook
from helpers.study.chapter_4.training_step import one_compile

EXERCISES = (
    trace_steps.dynamo_binary_op,
    trace_steps.dynamo_recorder,
    cache_steps.dynamo_guards,
    cache_steps.dynamo_lookup,
    cache_steps.dynamo_receives,
    guard_breaker,
    guard_set,
    break_surgery,
    one_compile,
    behind_the_hook,
)
