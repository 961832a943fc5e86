"""Chapter 4: write the callback of a frame hook; judged by hooking real frames with it.

The hook keeps what a callback raises and refuses what does not fit, so this runs in the kernel.
"""

# ruff: noqa: D103 - the functions say what they are by their names

from collections.abc import Callable

from helpers.capture.text.value import brief
from helpers.mini import frame_hook
from helpers.safety.missing_parts import MissingPart
from helpers.study.engine import Case, Exercise, Unfit, advise_by_part, find_difference, tried


def double(n):
    return n + n


def square(n):
    return n * n


def slow(n):
    return n - 1


def idle(a, b="b"):
    return f"idle {a}{b}"


def _make_twin():
    def twin(n):
        return n + 200

    return twin


TWIN, OTHER_TWIN = _make_twin(), _make_twin()
OTHER_TWIN.__code__ = TWIN.__code__.replace(co_firstlineno=1)  # else they have one code object
CALLS = (double, 3), (slow, 3), (double, 5), (TWIN, 1), (OTHER_TWIN, 1), (idle, "a")
NOTES = "a note for each frame, changed or not: seen.append((code.co_name, values))"
LOOK = "look the code object up, not its name; without an answer, return None"
ADVICE = {
    "double(3)": "a code object in `codes` was evaluated as it is: return its replacement",
    "slow(3)": "a code object in `stand_ins` was evaluated as it is: return the stand-in",
    "double(5)": "a code object in `codes` was evaluated as it is: return its replacement",
    "twin(1)": f"two functions are named twin, and only one has a stand-in: {LOOK}",
    "twin(1) again": f"two functions are named twin, and only one has a stand-in: {LOOK}",
    "idle('a')": LOOK,
    "runs of the stand-in": "return the stand-in, and the hook calls it",
    "seen": NOTES,
}


def _reference(seen, codes, stand_ins):
    def callback(code, values):
        seen.append((code.co_name, values))
        return codes.get(code) or stand_ins.get(code)

    return callback


def _run(make_callback):
    """Return what the calls give under the hook, and what was noted."""
    seen, ran = [], []

    def stand_in(n):
        ran.append(n)
        return f"for {n}"

    codes = {double.__code__: square.__code__}
    stand_ins = {slow.__code__: stand_in, TWIN.__code__: lambda n: None}
    callback = tried(make_callback(seen, codes, stand_ins))
    if isinstance(callback, type) or not callable(callback):
        words = "make_callback must return the callback, a function of (code, values)"
        raise Unfit(f"{words}, not {brief(callback)}")
    found = {}
    with frame_hook.watching(lambda *frame: tried(callback(*frame)), only=[fn for fn, _ in CALLS]):
        for fn, value in CALLS:
            words = f"{fn.__name__}({value!r})"
            found[f"{words} again" if words in found else words] = fn(value)
    notes = [tuple(note) if isinstance(note, list) else note for note in seen]
    return found | {"runs of the stand-in": ran, "seen": notes}


def _judge(make_callback: Callable):
    if because := frame_hook.why_not():
        raise MissingPart(f"This machine has no hook to judge it with: {because}.")
    advice = advise_by_part(ADVICE)
    return find_difference(make_callback, _reference, [Case("under the hook", _run, advice)])


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
