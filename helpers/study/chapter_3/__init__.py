"""The exercises of chapter 3; one of them: which functions keep an object alive?"""

import gc
import weakref
from collections.abc import Callable

from helpers.study.chapter_3.code_patch import code_patch
from helpers.study.chapter_3.kept_stacks import stack_at
from helpers.study.chapter_3.vm_steps import STEP_EXERCISES, show_opcode_coverage  # noqa: F401
from helpers.study.engine import check_guess, exercise

WHY = {
    "error": "the error has a traceback, the traceback the frame, and the frame its locals",
    "closure": "only what the inner function names goes into a cell; it names nothing here",
    "generator": "a generator that has not ended keeps its frame, and the frame its locals",
    "ended": "the generator has run to its end, and its frame was cleared",
    "frame": "a frame that somebody keeps, keeps its locals",
}


def _keeps(fn: Callable) -> bool:
    thing = set()
    watch = weakref.ref(thing)
    kept = fn(thing)  # noqa: F841 - until this function returns
    del thing
    return watch() is not None


@exercise(
    "For each result ask: does it lead to the frame of the call?",
    "An error leads to a traceback, a waiting generator to its frame. What does a function "
    "lead to, if its body names none of the outer variables?",
    "error, generator and frame keep a frame alive; closure and ended do not.",
)
def kept_alive(guess, functions):
    """You followed the references: frame → locals → object."""
    truth = {name: _keeps(functions[name]) for name in WHY}
    gc.collect()  # An error and its frame hold each other.
    return check_guess(guess, truth, WHY, (True, False))


EXERCISES = (*STEP_EXERCISES, stack_at, kept_alive, code_patch)
