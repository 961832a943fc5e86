"""Chapter 4: write the callback of a frame hook; judged by hooking real frames with it.

The hook keeps what a callback raises and refuses what does not fit, so this runs in the kernel.
"""

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.mini import frame_hook
from helpers.safety.missing_parts import MissingPart
from helpers.study.chapter_4 import hooked_program as program
from helpers.study.chapter_4.forms import called, function
from helpers.study.check import Exercise, Unfit, Untried, tried

REFUSED = "must return None, a code object or something to call"


def _judge(make_callback):
    if because := frame_hook.why_not():
        raise MissingPart(f"This machine has no hook to judge it with: {because}.")
    function(make_callback, "make_callback", "seen, codes, stand_ins", or_class=True)
    first, seen, third, ran = [], [], [], []
    early = _made(make_callback, first, {}, {})
    codes, stand_ins = program.codes(), program.stand_ins(ran)
    before = dict(codes), dict(stand_ins)
    callback = _made(make_callback, seen, codes, stand_ins)
    _made(
        make_callback, third, *program.of_another()
    )  # what another one is given is no business of this one
    try:
        tried(early(program.SLOW, (1,)))
        with frame_hook.watching(callback, only=program.WATCHED):
            results = program.run()
    except Untried:
        raise
    except (Exception, SystemExit) as error:
        return _raised(error)
    if (codes, stand_ins) != before:
        return "yours changes codes or stand_ins; only look things up there"
    if len(first) > 1 or third:
        return (
            "a seen should hold what its own callback notes, a note for each call, and nothing else"
        )
    return _results(results, ran) or _notes(seen)


def _made(make_callback, *given):
    """Return the callback that was made, if it is one."""
    callback = tried(called(make_callback, "make_callback(seen, codes, stand_ins)", *given))
    if isinstance(callback, type) or not callable(callback):
        words = "make_callback must return the callback, a function of (code, values)"
        raise Unfit(f"{words}, not {brief(callback)}")
    return function(callback, "the callback", "code, values")


def _raised(error) -> str:
    if REFUSED in str(error):
        return (
            f"{said(error)}. If that is a result: return the stand-in itself, and the hook will "
            "call it"
        )
    if isinstance(error, KeyError):  # its own words are the code object, with its address
        return (
            "your callback raised a KeyError; for a code object that is in neither dict it should "
            "return None"
        )
    return f"your callback raised {said(error)}"


def _results(results: list, ran: list) -> str | None:
    if results[3:5] == [None, None]:
        return (
            "two functions are named twin, and only one has a stand-in: both were replaced. Look "
            "the code object up, not its name"
        )
    if results[0] == 6:
        return "a code object in `codes` was evaluated as it is: return its replacement"
    if results[1] == 2:
        return "a code object in `stand_ins` was evaluated as it is: return the stand-in"
    if ran != [3]:
        return f"the stand-in ran {len(ran)} times for one frame; return it, and do not call it"
    for (name, values), got, want in zip(program.SEEN, results, program.EXPECTED, strict=True):
        if got != want:
            call = f"{name}({', '.join(map(repr, values))})"
            return f"hooked, {call} gives {brief(got)} with yours, and should give {brief(want)}"
    return None


def _notes(seen: list) -> str | None:
    """Say how the notes differ from the frames that ran; a pair may be a list."""
    pairs = [tuple(note) if isinstance(note, list) else note for note in seen]
    if pairs == program.SEEN:
        return None
    names = [note[0] if isinstance(note, tuple) and note else note for note in pairs]
    if names == [name for name, _ in program.SEEN]:
        given, want = next((g, w) for g, w in zip(pairs, program.SEEN, strict=True) if g != w)
        return f"a note should be (name, values), such as {want!r}, not {brief(given)}"
    if len(seen) < len(program.SEEN):
        ran = len(program.SEEN)
        return f"{ran} frames ran and {len(seen)} were noted: note each, changed or not"
    given, want = next(
        ((g, w) for g, w in zip(pairs, program.SEEN, strict=False) if g != w),
        (pairs[-1], "nothing more"),
    )
    return f"a note is {brief(given)}, and should be {want!r}"


HOOK_CALLBACK = Exercise(
    "hook_callback",
    _judge,
    "Every frame noted; one ran other code, one was replaced, and all others went on untouched.",
    (
        "Three answers are possible: a code object, a callable, None. Which one for which code?",
        "A dict's get(code) gives None for what it does not hold, and None means: go on.",
        "First seen.append((code.co_name, values)). Then return codes.get(code), or, where that is "
        "None, stand_ins.get(code); the hook calls it.",
    ),
)
