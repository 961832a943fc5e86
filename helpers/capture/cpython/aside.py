"""Write the sentences that tell a user how a verb's tracer or profiler disturbed the program.
A *verb* is a public function such as `watch_frames`, which runs the user's program. While it runs,
the verb's tracer or profiler replaces the program's own, and CPython does not call the program's.
`sys.gettrace()` still returns the program's tracer. The program can find the verb's tracer in the
attributes of a frame, and the verb's profiler if it calls `sys.getprofile` under another name.
"""

from collections.abc import Iterable
from types import CodeType

from ...internals.frame_tracer import FrameTracer
from ...internals.own_profilers import OwnProfilers

TRACER, PROFILER = "your tracer (sys.settrace)", "your profiler (sys.setprofile)"
# Names with which a program may find what a verb has set: on frames, in `sys`, in the collector.
HOOK_NAMES_ON_FRAMES = ("f_trace", "f_trace_lines", "f_trace_opcodes")
HOOK_NAMES_IN_SYS = ("gettrace", "getprofile")
HOOK_NAMES_OF_COLLECTOR = ("gc.callbacks",)
MAY_FIND = "Your code asks for {}, and may find there what this verb has set."
CHANGED = "Meanwhile {} did not run, until your code set what is there now."


def describe_replaced_hooks(
    tracer: FrameTracer | None = None, profiler: OwnProfilers | None = None
) -> str:
    """Return the sentences on the program's tracer and profiler, which did not run during a verb.

    They also say whether the verb has set these again. Return "" if the program had set neither.

    Parameters
    ----------
    tracer : FrameTracer or None
        The verb's tracer, which remembers the program's. None if the verb has set no tracer.
    profiler : OwnProfilers or None
        The verb's profiler, which remembers the program's. None if the verb has set no profiler.
    """
    is_set_again_by_name = {}  # such as "your tracer (sys.settrace)" -> whether it is set again
    for name_of_hook, hook_of_verb in ((TRACER, tracer), (PROFILER, profiler)):
        if hook_of_verb is not None and hook_of_verb.had_own:  # the program had set one before
            is_set_again_by_name[name_of_hook] = hook_of_verb.is_set_again
    return describe_set_again(is_set_again_by_name)


def describe_set_again(is_set_again_by_name: dict[str, bool]) -> str:
    """Return the sentences on the program's hooks that did not run while a verb ran.

    Parameters
    ----------
    is_set_again_by_name : dict of str to bool
        What a sentence calls such a hook, `TRACER` or `PROFILER` -> whether the verb has set the
        hook again. It has not if the program set another one meanwhile.
    """
    set_again = []
    sentences = []
    for name_of_hook, is_set_again in is_set_again_by_name.items():
        if is_set_again:
            set_again.append(name_of_hook)
        else:
            sentences.append(CHANGED.format(name_of_hook))
    if set_again:
        subject = " and ".join(set_again)
        they_are = "they are" if len(set_again) > 1 else "it is"
        sentences.append(f"Meanwhile {subject} did not run; now {they_are} set again.")
    return " ".join(sentences)


def describe_visible_hooks(
    code: CodeType | None, names: Iterable[str], asked: Iterable[str] = ()
) -> str:
    """Return the sentence that the program may find a hook of the verb; "" if it cannot.

    A program can find a hook only where its code reads a name such as `gettrace`.

    Parameters
    ----------
    code : CodeType or None
        The code of the program. Its names are searched; None if there is no code in Python.
    names : iterable of str
        The names that lead to hooks of the verb, such as `gettrace` or `gc.callbacks`. The code
        reads `gc.callbacks` if both `gc` and `callbacks` are among its names.
    asked : iterable of str
        Names that the program was seen to read while it ran.
    """
    names_of_code = _list_names(code) if code is not None else set()
    names_read = list(asked)
    for name in names:
        if names_of_code.issuperset(name.split(".")):
            names_read.append(name)
    if not names_read:
        return ""
    without_repeats = dict.fromkeys(names_read)
    return MAY_FIND.format(" and ".join(without_repeats))


def _list_names(code: CodeType) -> set[str]:
    """Return `co_names` of this code object and of all code objects among its constants."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= _list_names(constant)
    return names
