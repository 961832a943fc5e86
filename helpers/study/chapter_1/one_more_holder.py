"""Chapter 1, exercise 4: a rebinding that reaches holders of each kind, drawn at random."""

from collections.abc import Callable
from functools import partial
from itertools import count
from random import Random

from helpers.capture.text.error import said
from helpers.study.chapter_1.block_trials import (
    Parted,
    inside_and_after,
    nested,
    nobody,
    on_error,
    twice,
)
from helpers.study.chapter_1.holder_kinds import KINDS, HeldWorld
from helpers.study.check import Exercise, Unfit, Untried

ALL = "all kinds at once"
_calls = count()


def _judge_holders(rebind: Callable):
    dice = Random(next(_calls))  # another order each time
    for kind in (*dice.sample(list(KINDS), len(KINDS)), ALL):
        world = HeldWorld(kind, dice)
        try:
            _trials(rebind, world)
        except (Untried, Unfit):
            raise
        except Parted as parted:
            return f"tried with {kind}: {parted}"
        except Exception as error:
            because = f"tried with {kind}: your code raised {said(error)}"
            return because + ", and it compares by ==; use `is`" * world.equal.asked
    return None


def _trials(rebind, world) -> None:
    lists = []

    def given(old, new):
        lists.append(list(world.holders))
        return rebind(old, new, lists[-1])

    for trial in (partial(inside_and_after, late=False), twice, nobody, on_error, nested):
        trial(given, world)
        if any(list(map(id, one)) != list(map(id, world.holders)) for one in lists):
            raise Parted("it changes the list of holders that it is given; leave that as it is")


ONE_MORE_HOLDER = Exercise(
    "one_more_holder",
    _judge_holders,
    f"Each of {len(KINDS)} kinds of holders was reached, nested, and came back; all at once, too.",
    (
        "How would you write to one place of each kind? vars(holder) lists the names of a module, "
        "a class and an instance; setattr writes them.",
        "Collect, before you write anything, one function per place: write(value) puts a value "
        "there. functools.partial(setattr, holder, name) is one.",
        "Inside the block all writes got new; afterwards, in a finally, all get old. Only the "
        "finding of the places differs from kind to kind.",
        "A tuple cannot be written: def write(value): values = list(fn.__defaults__); "
        "values[k] = value; fn.__defaults__ = tuple(values). What is in fn.__kwdefaults__ is an "
        "item of a dict.",
    ),
)
