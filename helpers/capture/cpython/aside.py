"""Tracers and profilers of the program and of a verb -> the sentences on what a verb changes.

While a verb runs, its own tracer or profiler replaces the program's, which is not called. A program
that asks for its tracer finds its own all the same. It finds the verb's in the attributes of a
frame, and where it calls `sys.getprofile` under another name.
"""

from collections.abc import Iterable
from types import CodeType

from ...internals.frame_tracer import FrameTracer
from ...internals.own_profilers import OwnProfilers

TRACER, PROFILER = "your tracer (sys.settrace)", "your profiler (sys.setprofile)"
# What a program may ask for, by the place where it finds what a verb has set.
OF_FRAMES = ("f_trace", "f_trace_lines", "f_trace_opcodes")
OF_SYS = ("gettrace", "getprofile")
OF_COLLECTOR = ("gc.callbacks",)
MAY_FIND = "Your code asks for {}, and may find there what this verb has set."
CHANGED = "Meanwhile {} did not run, until your code set what is there now."


def describe_hooks_aside(
    tracer: FrameTracer | None = None, profiler: OwnProfilers | None = None
) -> str:
    """Return the sentences on what of the program's own did not run; "" if it had set nothing.

    `tracer` and `profiler` are those of the verb, None for one that it has not set.
    """
    aside = {}  # the words for a hook of the program -> whether it is set again
    for words, hook in ((TRACER, tracer), (PROFILER, profiler)):
        if hook is not None and hook.had_own:
            aside[words] = hook.is_set_again
    return describe_set_again(aside)


def describe_set_again(aside: dict[str, bool]) -> str:
    """Return the sentences on hooks of the program that did not run.

    `aside`: the words for each such hook -> whether the verb has set it again.
    """
    set_again = [words for words, is_set_again in aside.items() if is_set_again]
    changed = [words for words in aside if words not in set_again]
    sentences = [CHANGED.format(words) for words in changed]
    if set_again:
        now = "they are" if len(set_again) > 1 else "it is"
        subject = " and ".join(set_again)
        sentences.append(f"Meanwhile {subject} did not run; now {now} set again.")
    return " ".join(sentences)


def describe_findings(
    code: CodeType | None, names: Iterable[str], asked: Iterable[str] = ()
) -> str:
    """Return the sentence on what the program may find of a verb's; "" if it asks for nothing.

    A verb leaves traces where it sets hooks. The program finds them if its code asks there.

    Parameters
    ----------
    code : CodeType or None
        The code of the program, whose names are looked at.
    names : iterable of str
        What may be found, such as `gc.callbacks`, by code that has all parts of the name.
    asked : iterable of str
        What the program was seen to ask for.
    """
    names_of_code = _list_names(code) if code is not None else set()
    found = list(asked)
    for name in names:
        if names_of_code.issuperset(name.split(".")):
            found.append(name)
    if not found:
        return ""
    without_repeats = dict.fromkeys(found)
    return MAY_FIND.format(" and ".join(without_repeats))


def _list_names(code: CodeType) -> set[str]:
    """Return the names in this code, and in the code inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= _list_names(constant)
    return names
