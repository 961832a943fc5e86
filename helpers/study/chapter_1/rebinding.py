"""Chapter 1, exercise 3: a rebinding of one's own, judged on an op of another library.

First it is tried where `sys.modules` holds a handful of modules: quick, with the smallest input
first, and a search that takes in too much finds little to spoil.
"""

from collections.abc import Callable

from helpers.capture.text.error import said
from helpers.study.chapter_1.block_trials import (
    Parted,
    inside_and_after,
    nested,
    nobody,
    on_error,
    twice,
)
from helpers.study.chapter_1.module_worlds import real_world, small_world
from helpers.study.chapter_1.stand_ins import stand_in
from helpers.study.check import Exercise, Unfit, Untried

SIZE = "changed size during iteration"


def _judge_rebinding(my_rebind_everywhere: Callable, op: Callable):
    rebind = my_rebind_everywhere  # the message about a stub names it
    with small_world(stand_in("op"), rebind) as world:
        because, seen = _in_a_handful(rebind, world)
    if because:
        return because
    with real_world(op) as world:
        return _told(rebind, world, _quick if seen else _all)


def _in_a_handful(rebind, world) -> tuple[str | None, bool]:
    """Return what is wrong there, and whether the learner's search looks there at all.

    It may not: there are other right ways to find the modules.
    """
    try:
        inside_and_after(rebind, world)
    except Parted as parted:
        blind = parted.missed and not world.kept.reached
        return (None if blind else str(parted)), False
    except (Untried, Unfit):
        raise
    except Exception as error:
        return _why(error, world), False
    world.narrow()
    return _told(rebind, world, _all), True


def _told(rebind, world, trials) -> str | None:
    try:
        trials(rebind, world)
    except Parted as parted:
        return str(parted)
    except Exception as error:
        if because := _why(error, world):
            return because
        raise
    return None


def _all(rebind, world) -> None:
    for trial in (inside_and_after, twice, nobody, on_error, nested):
        trial(rebind, world)


def _quick(rebind, world) -> None:
    inside_and_after(rebind, world)
    on_error(rebind, world, (KeyboardInterrupt,))
    nested(rebind, world)


def _why(error, world) -> str | None:
    """Return what led to an error, where that is known."""
    if world.equal.asked:
        return f"your code raised {said(error)}, and it compares by ==; compare with `is` instead"
    if SIZE in str(error):
        return (
            f"your code raised {said(error)}; a lazy module loads another when it is asked for its "
            "names, so go over a list of what there is"
        )
    if isinstance(error, ImportError):
        return f"your code raised {said(error)}; vars(module) has the names, and imports nothing"
    return None


REBINDING = Exercise(
    "rebinding",
    _judge_rebinding,
    "Every module name was swapped, nested, survived an error, and came back.",
    (
        "Start from the small module scan of section 3: it already finds the names to write to.",
        "Remember each (namespace, name) that you change; write new, yield, write old back.",
        "try: write new everywhere, then yield; finally: write old back to the remembered places. "
        "Decorate it with @contextlib.contextmanager.",
    ),
)
