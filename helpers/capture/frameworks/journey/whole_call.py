"""A function and its arguments -> its journey: the first call that is watched, and one again."""

from helpers.capture.cpython.objects import GENERATOR, name_of, refuse_async
from helpers.capture.cpython.unwrapping import behind, calls_itself
from helpers.capture.frameworks.journey import caches, shares
from helpers.capture.frameworks.journey.ops import MOST_OPS
from helpers.capture.frameworks.journey.recorder import MOST_STEPS
from helpers.capture.frameworks.journey.stops import passage
from helpers.capture.frameworks.journey.tally import Tally, tally
from helpers.capture.text.error import instead
from helpers.model.journey import Journey
from helpers.model.phrase import counted
from helpers.safety.arguments import alive, kind_of, switch


def journey(fn, args: tuple, kwargs: dict, timed: bool = False) -> Journey:
    """Call `fn(*args, **kwargs)` twice, and return what both calls passed.

    `timed`: call it some more times, for the shares of time. TypeError if `fn` cannot be called,
    or makes a coroutine.
    """
    switch(timed, "shares=")
    if calls_itself(fn):
        raise TypeError("show_journey needs a function, not a partial that is its own function")
    if not callable(fn):
        needed = f"show_journey needs a function and its arguments, not {kind_of(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    alive(fn, "what show_journey was given")
    function = behind(fn)
    if function is not None:
        refuse_async(function, "show_journey")
    space = caches.space_of(function)
    first, again = (tally(fn, args, kwargs, function, space) for _ in range(2))
    measured = shares.shares(fn, args, kwargs, again) if timed else ()
    title = f"The journey of {name_of(fn)}, called twice"
    both = passage(first), passage(again)
    return Journey(title, *both, measured, _note(function, (first, again), timed, measured))


def _note(function, tallies: tuple[Tally, ...], timed: bool, measured: tuple) -> str:
    notes = []
    if function is not None and function.__code__.co_flags & GENERATOR:
        notes.append("The call only made a generator: none of its body ran.")
    if threads := max(one.seen.threads for one in tallies):
        notes.append(f"It started {counted(threads, 'thread')}: what runs there is not watched.")
    if not all(one.seen.stayed for one in tallies):
        notes.append("The recorder was taken off in the midst: what came after is not counted.")
    if any(one.seen.cut for one in tallies):
        notes.append(f"Names, lines and operators are of the first {MOST_STEPS:,} instructions.")
    if any(len(one.ran) == MOST_OPS for one in tallies):
        notes.append(f"Ops after the first {MOST_OPS:,} are not counted.")
    if timed and not measured:
        notes.append("No time was measured: the call raises, or another profiler is at work.")
    return " ".join(notes)
