"""A rebinding of a learner's, a world -> the first trial that it does not stand, in words.

Each trial raises `Parted` with what is wrong.
"""

from contextlib import _GeneratorContextManager

from helpers.capture.references.places import MISSING
from helpers.capture.text.value import brief
from helpers.study.chapter_1.stand_ins import Equal
from helpers.study.check import tried

ERRORS = (KeyError, KeyboardInterrupt, SystemExit, GeneratorExit)
EQUAL = "it replaced an object that is only equal to the old one; compare with `is`"
AGAIN = (
    "it also changed a place that held the replacement before the block; remember what you "
    "changed instead of searching for it again"
)
ONLY = "put back the places that you changed, and no others"


class Parted(Exception):
    """What a trial found."""

    def __init__(self, words: str, missed: bool = False):
        super().__init__(words)
        self.missed = missed


def inside_and_after(rebind, world, late: bool = True) -> None:
    """One block: rebound at entry, and back afterwards."""
    swapped = ((world.op, world.first),)
    manager = made(rebind, world, world.op, world.first)
    path = world.late() if late else ""
    inside, after, raised = world.kept.block(manager, swapped, (), world.assign)
    _raise(raised)
    if path and [row[0] for row in inside] == [path]:
        raise Parted(
            f"{path} came to hold the function between the call and the block, and inside the "
            "block it still does; search when the block is entered"
        )
    _told_inside(world, inside, world.op, world.first)
    _told_after(after, world.op, world.first)


def twice(rebind, world) -> None:
    """Two blocks, one after the other, for two functions: nothing is left of the first."""
    for old, new in ((world.op, world.second), (world.other, world.third), (world.op, world.op)):
        wrong, after, raised = world.kept.block(made(rebind, world, old, new), ((old, new),), ())
        _raise(raised)
        _told_inside(world, wrong, old, new, "in a second block, ")
        _told_after(after, old, new, "after a second block for another function")


def nobody(rebind, world) -> None:
    """A function that nobody holds: nothing to do."""
    unheld = made(rebind, world, world.third, world.second)
    wrong, after, raised = world.kept.block(unheld, (), ())
    _raise(raised)
    _told_inside(world, [*wrong, *after], world.third, world.second)


def on_error(rebind, world, errors=ERRORS) -> None:
    """An error raised in the block comes through, and all is put back."""
    for kind in errors:
        error, name = kind("raised inside the block"), kind.__name__
        manager = made(rebind, world, world.op, world.first)
        _, wrong, raised = world.kept.block(manager, ((world.op, world.first),), (), None, error)
        if raised is None:
            raise Parted(f"it swallowed the {name} raised inside the block; it must come through")
        if raised is not error:
            raise raised
        if wrong:
            raise Parted(
                f"after a {name} inside the block {_first(wrong)} is not what it was; restore "
                "in a finally"
            )


def nested(rebind, world) -> None:
    """A block in a block, for the replacement of the first, and then for another function."""
    op, first, second = world.op, world.first, world.second
    for old, new, also in ((first, second, ((op, second),)), (world.other, second, ((op, first),))):
        _nest(rebind, world, (old, new), also)


def _nest(rebind, world, pair, also) -> None:
    outer, kept = ((world.op, world.first),), world.kept

    def inner():
        block = made(rebind, world, *pair, outer)
        wrong, after, raised = kept.block(block, (pair, *also), outer)
        _raise(raised)
        if wrong:
            raise Parted(f"nested inside another rebinding it does not reach {_first(wrong)}")
        if after:
            raise Parted(
                "leaving the inner of two nested blocks does not bring back the outer one at "
                f"{_first(after)}"
            )

    block = made(rebind, world, world.op, world.first)
    wrong, after, raised = kept.block(block, outer, (), inner)
    _raise(raised)
    _told_inside(world, wrong, world.op, world.first)
    if after:
        raise Parted(
            f"after two nested blocks {_first(after)} does not hold the old function again"
        )


def made(rebind, world, old, new, swapped=()):
    """Return the learner's context manager, which has not done anything yet."""
    manager, wrong, raised = world.kept.call(swapped, rebind, old, new)
    _raise(raised)
    tried(manager)
    if not (hasattr(type(manager), "__enter__") and hasattr(type(manager), "__exit__")):
        raise Parted(
            f"it must return a context manager, not {brief(manager)}; decorate a generator with "
            "contextmanager"
        )
    if type(manager) is _GeneratorContextManager and not hasattr(manager.gen, "__next__"):
        raise Parted("contextmanager makes a block of a function with a yield, and yours has none")
    if wrong:
        raise Parted(
            f"it changes {_first(wrong)} when it is called; rebind when the block is entered"
        )
    return manager


def _told_inside(world, wrong, old, new, when: str = "") -> None:
    if not wrong:
        return
    path, was, now = wrong[0]
    if (type(was) is Equal and world.equal.asked) or was is world.twin:
        raise Parted(EQUAL)
    if was is MISSING:
        raise Parted(f"{when}it also makes the new name {path}")
    if now is MISSING:
        raise Parted(f"{when}inside the block {path} is gone")
    if isinstance(was, type):
        raise Parted(f"{when}inside the block {path} is {now.__name__}, and was {was.__name__}")
    if was is new:
        raise Parted(f"{when}it also changed {path}, which held the replacement before the block")
    if was is not old:
        raise Parted(f"{when}it also changed {path}, which held {brief(was)}, not the old function")
    if now is old:
        raise Parted(f"{when}inside the block {path} still holds the old function", missed=True)
    if now is new:
        raise Parted(f"{when}it also changed {path}")
    raise Parted(
        f"{when}inside the block {path} holds {brief(now)}, which is neither the old function nor "
        "the new one; put `new` itself there"
    )


def _told_after(wrong, old, new, when: str = "after the block") -> None:
    if not wrong:
        return
    path, was, now = wrong[0]
    if was is old or was is MISSING:
        what = "does not hold the old function again" if was is old else "is one place too many"
        raise Parted(f"{when} {path} {what}")
    if was is new:
        raise Parted(AGAIN)
    if type(was) is Equal:
        raise Parted(f"{path} has lost what the block itself assigned to it; {ONLY}")
    raise Parted(f"{when} {path} holds {brief(now)}, and held {brief(was)} before")


def _first(wrong) -> str:
    return wrong[0][0]


def _raise(raised) -> None:
    if raised is not None:
        raise raised
