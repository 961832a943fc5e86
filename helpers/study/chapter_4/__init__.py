"""The exercises of chapter 4."""

from helpers.study.chapter_4.behind_the_hook import BEHIND_THE_HOOK
from helpers.study.chapter_4.break_surgery import BREAK_SURGERY
from helpers.study.chapter_4.dynamo_binary_op import DYNAMO_BINARY_OP
from helpers.study.chapter_4.dynamo_guards import DYNAMO_GUARDS
from helpers.study.chapter_4.dynamo_lookup import DYNAMO_LOOKUP
from helpers.study.chapter_4.dynamo_receives import DYNAMO_RECEIVES
from helpers.study.chapter_4.dynamo_recorder import DYNAMO_RECORDER
from helpers.study.chapter_4.evicting_cache import EVICTING_CACHE
from helpers.study.chapter_4.guard_breaker import GUARD_BREAKER
from helpers.study.chapter_4.guard_set import GUARD_SET
from helpers.study.chapter_4.hook_callback import HOOK_CALLBACK

EXERCISES = (
    *(DYNAMO_BINARY_OP, DYNAMO_RECORDER, DYNAMO_GUARDS, DYNAMO_LOOKUP, DYNAMO_RECEIVES),
    *(HOOK_CALLBACK, BREAK_SURGERY, EVICTING_CACHE, GUARD_BREAKER, GUARD_SET, BEHIND_THE_HOOK),
)
