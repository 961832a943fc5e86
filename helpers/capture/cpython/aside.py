"""Tracers and profilers of the program and of a verb -> the sentences on what is another then.

A verb sets its own in the place of the program's, which hear nothing. What the program reads is
as without the verb, but for the attributes of a frame, and where it keeps `sys.getprofile` itself.
"""

from collections.abc import Iterable
from types import CodeType

from ...internals.frame_tracer import FrameTracer
from ...internals.own_profilers import OwnProfilers

TRACER, PROFILER = "your tracer (sys.settrace)", "your profiler (sys.setprofile)"
OF_FRAMES = ("f_trace", "f_trace_lines", "f_trace_opcodes")
OF_SYS = ("gettrace", "getprofile")
OF_COLLECTOR = ("gc.callbacks",)
MAY_FIND = "Your code asks for {}, and may find there what this verb has set."
CHANGED = "Meanwhile {} did not run, until your code set what is there now."


def say_aside(tracer: FrameTracer | None = None, profiler: OwnProfilers | None = None) -> str:
    """Return the sentences on what of the program's own did not run; "" if it had set nothing."""
    hooks = {TRACER: tracer, PROFILER: profiler}
    aside = {words: hook.is_set_again for words, hook in hooks.items() if hook and hook.had_own}
    return say_set_again(aside)


def say_set_again(aside: dict[str, bool]) -> str:
    """Return the sentences for the words of each hook, and whether the verb has set it again."""
    again = [words for words, is_again in aside.items() if is_again]
    sentences = [CHANGED.format(words) for words in aside if words not in again]
    if again:
        now = "they are" if len(again) > 1 else "it is"
        both = " and ".join(again)
        sentences.append(f"Meanwhile {both} did not run; now {now} set again.")
    return " ".join(sentences)


def say_found(code: CodeType | None, names: Iterable[str], asked: Iterable[str] = ()) -> str:
    """Return the sentence on what of a verb's the program may find; "" if it asks for nothing.

    `names`: what may be found by code that has all parts of the name; `asked`: what was asked for.
    """
    named = _names(code) if code is not None else set()
    found = [*asked, *(name for name in names if {*name.split(".")} <= named)]
    return MAY_FIND.format(" and ".join(dict.fromkeys(found))) if found else ""


def _names(code: CodeType) -> set[str]:
    """Return the names in this code, and in the code inside it."""
    inner = (one for one in code.co_consts if type(one) is CodeType)
    return {*code.co_names}.union(*map(_names, inner))
