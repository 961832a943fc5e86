"""The exercises of chapter 3. One asks which functions keep an object alive."""

import gc
import weakref
from collections.abc import Callable

from helpers.study.chapter_3.code_patch import code_patch
from helpers.study.chapter_3.kept_stacks import stack_at
from helpers.study.chapter_3.vm_steps import STEP_EXERCISES, show_opcode_coverage  # noqa: F401
from helpers.study.check import exercise
from helpers.study.engine import judge_guess

# name of a function in the notebook -> why its result keeps the argument alive, or not
WHY = {
    "error": "the error has a traceback, which keeps the frame, and the frame keeps its locals",
    "closure": "only a variable that the inner function uses goes into a cell, and it uses none",
    "generator": "a generator that has not ended keeps its frame, and the frame keeps its locals",
    "ended": "the generator ran to its end, and then its frame was cleared",
    "frame": "as long as you keep a frame, it keeps its locals",
}


def _keeps_its_argument(fn: Callable) -> bool:
    """Return whether the result of `fn(argument)` keeps the argument alive."""
    argument = set()  # a set, because a weak reference can refer to one
    reference = weakref.ref(argument)
    result = fn(argument)  # noqa: F841 - it has to live until this function returns
    del argument
    return reference() is not None


@exercise(
    "For each result, ask whether it leads to the frame of the call.",
    "An error leads to a traceback, and a waiting generator leads to its frame. What does a "
    "function lead to if its body uses none of the outer variables?",
    "error, generator and frame keep a frame alive, but closure and ended do not.",
)
def kept_alive(guess, functions):
    """You followed the references from each result to a frame, its locals and the object."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass. `guess` maps the name of each function in `functions` to True
    # or False.
    truth = {name: _keeps_its_argument(functions[name]) for name in WHY}
    gc.collect()  # frees the error, whose frame refers back to it
    return judge_guess(guess, truth, WHY, among=(True, False))


EXERCISES = (*STEP_EXERCISES, stack_at, kept_alive, code_patch)
