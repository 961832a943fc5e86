"""Chapter 4: write the callback of a frame hook; judged by hooking real frames with it.

The hook keeps what a callback raises and refuses what does not fit, so this runs in the kernel.
"""

from helpers.capture.text.error import said
from helpers.mini import frame_hook
from helpers.study.check import Exercise, Untried, tried


def _double(n):
    return n + n


def _square(n):
    return n * n


def _slow(n):
    return n - 1


def _fail(n):
    raise KeyError(n)


def _twin():
    def twin(n):
        return n + 100

    return twin


def _other_twin():
    def twin(n):
        return n + 200

    return twin


TWIN, OTHER_TWIN = _twin(), _other_twin()
WATCHED = (_double, _slow, _fail, TWIN, OTHER_TWIN)


def _program():
    """Return what the watched functions give, the last one as the exception that it raises."""
    results = [_double(3), _slow(3), _double(5), TWIN(1), OTHER_TWIN(1)]
    try:
        _fail(7)
    except KeyError as error:
        results.append(said(error))
    return results


EXPECTED = [9, "for 3", 25, None, 201, "KeyError: 7"]
SEEN = [
    ("_double", (3,)),
    ("_slow", (3,)),
    ("_double", (5,)),
    ("twin", (1,)),
    ("twin", (1,)),
    ("_fail", (7,)),
]


def _judge(make_callback):
    if because := frame_hook.why_not():
        return f"this machine has no hook to judge it with: {because}"
    callback = tried(make_callback([], {}, {}))
    if not callable(callback):
        return "make_callback must return the callback, a function of (code, values)"
    seen, calls = [], []
    stand_ins = {_slow.__code__: _stand_in(calls), TWIN.__code__: lambda n: None}
    try:
        tried(callback(_slow.__code__, (1,)))
        callback = make_callback(seen, {_double.__code__: _square.__code__}, stand_ins)
        with frame_hook.watching(callback, only=WATCHED):
            results = _program()
    except Untried:
        raise
    except (Exception, SystemExit) as error:
        return _raised(error)
    return _results(results, calls) or _notes(seen)


def _stand_in(calls: list):
    def stand_in(n):
        calls.append(n)
        return f"for {n}"

    return stand_in


def _raised(error) -> str:
    if "must return None, a code object or something to call" in str(error):
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


def _results(results: list, calls: list) -> str | None:
    if results[3:5] == [None, None]:
        return (
            "two functions are named twin, and only one has a stand-in: both were replaced. Look "
            "the code object up, not its name"
        )
    if results[0] == 6:
        return "a code object in `codes` was evaluated as it is: return its replacement"
    if results[1] == 2:
        return "a code object in `stand_ins` was evaluated as it is: return the stand-in"
    if calls != [3]:
        return f"the stand-in ran {len(calls)} times for one frame; return it, and do not call it"
    if results != EXPECTED:
        return f"the hooked program gives {results!r}, and should give {EXPECTED!r}"
    return None


def _notes(seen: list) -> str | None:
    if seen == SEEN:
        return None
    if [note[0] if isinstance(note, tuple) and note else note for note in seen] == [
        name for name, _ in SEEN
    ]:
        return f"a note should be (name, values), such as {SEEN[0]!r}, not {seen[0]!r}"
    if len(seen) < len(SEEN):
        return f"{len(SEEN)} frames ran and {len(seen)} were noted: note each, changed or not"
    return f"the notes should be {SEEN!r}, not {seen!r}"


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
