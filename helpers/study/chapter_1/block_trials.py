"""A rebinding and a world of places that hold functions -> what stands where, moment by moment.

The reference is run in a world of its own, and the first place that differs is told. What runs
while names may be wrong uses locals and closures alone: a search that takes in too much rebinds
every name of every module, those of this one and the builtins among them.
"""

from contextlib import _GeneratorContextManager
from types import MethodType

from helpers.capture.text.value import brief
from helpers.study.engine import Case, Raised, Unfit, Untried, tried

CALL, INSIDE, AFTER = "when it is called", "inside the block", "after the block"
EQUAL = "it replaced an object that is only equal to the old one; compare with `is`"
AGAIN = (
    "it also changed a place that held the replacement before the block; remember what you "
    "changed instead of searching for it again"
)
CAUSES = {
    ValueError: "; compare with `is`, for == may do anything",
    TypeError: "; compare with `is`, for == may do anything",
    RuntimeError: "; a lazy module loads another when it is asked for its names, so go over a list",
    ImportError: "; vars(module) has the names, and imports nothing",
}


class Equal:
    """Equal to everything, and the same as nothing."""

    __hash__ = None

    def __init__(self, name: str = "equal"):
        self.name = name

    def __eq__(self, other):
        return True


def stand_in(name: str, module: str = "scenery"):
    """Return a new function with this name; calling it gives the name."""

    def function(*args, **kwargs):
        return name

    function.__name__, function.__module__ = name, module
    return function


class World:
    """Functions to be rebound, and objects beside them; a subclass has the places.

    `op` and `other` are held, `first` is held here and there, too. `other` and `twin` are equal
    and not the same. `look()` returns path -> object, `restore()` puts back what a block broke.
    """

    def __init__(self, op=None):
        function, owner = stand_in("other"), object()
        self.op, self.equal, self.assigned = op or stand_in("op"), Equal(), Equal("assigned")
        self.other, self.twin = MethodType(function, owner), MethodType(function, owner)
        self.first, self.second, self.third = map(stand_in, ("first", "second", "third"))
        self.functions = self.op, self.other, self.first, self.second, self.third

    def hold_late(self) -> None:
        """Let one more place hold `op`, between the call and the block."""

    def assign(self) -> None:
        """Write `assigned` where `equal` is, as a block may."""

    def restore(self) -> None:
        """Leave what a block broke, where that does no harm."""

    def close(self) -> None:
        """Take the world away again."""

    def describe(self, value) -> str:
        """Return the words for what a place holds."""
        names = {id(self.twin): "its twin", id(self.op): "op()", id(self.other): "other()"}
        return names.get(id(value)) or (value.name if type(value) is Equal else brief(value))


def rebinding_case(shows: str, make_world) -> Case:
    """Return the case of a world, in which `world.wrap(answer)(old, new)` makes a block."""

    def run(answer):
        world, moments = make_world(), []
        try:
            _run_trials(world.wrap(answer), world, moments.append)
        except (Untried, Unfit):
            raise
        except Exception as error:
            moments.append(("", Raised(type(error), error)))
        finally:
            world.close()
        return [
            (when, s if isinstance(s, Raised) else {p: world.describe(v) for p, v in s.items()})
            for when, s in moments
        ]

    return Case(shows, run, _advise)


def _run_trials(rebind, world, note) -> None:
    """Open one block after the other; `note((when, path -> object))` takes each moment."""
    op, other, first, second, third = world.functions
    _run_block(rebind, world, note, op, first, act=world.assign, late=True)
    for old, new in ((op, second), (other, third)):
        _run_block(rebind, world, note, old, new, "in a second block, ")
    _run_block(rebind, world, note, third, second, "for a function that nobody holds, ")
    for error in (KeyError("raised"), KeyboardInterrupt("raised")):
        when = f"after a {type(error).__name__} inside: "
        _run_block(rebind, world, note, op, first, when, error=error)
    for old, new in ((first, second), (other, second)):

        def nest(old=old, new=new, look=world.look):
            with rebind(old, new):
                note((f"nested {INSIDE} of another rebinding,", look()))
            note(("after the inner of two nested blocks", look()))

        _run_block(rebind, world, note, op, first, "around another block, ", act=nest)


def _run_block(rebind, world, note, old, new, trial="", act=None, error=None, late=False) -> None:
    any_error, look, restore, came = BaseException, world.look, world.restore, None
    inside, after = trial + INSIDE, trial + AFTER
    manager = _require_manager(rebind(old, new))
    note((trial + CALL, look()))
    if late:
        world.hold_late()
    try:
        try:
            with manager:
                note((inside, look()))
                if act is not None:
                    act()
                if error is not None:
                    raise error
        except any_error as raised:
            came = raised
        note((after, look()))
    finally:
        restore()
    if error is not None and came is None:
        raise Unfit(f"it swallowed the {brief(error)} raised inside the block; let it come through")
    if came is not error:
        raise came


def _require_manager(manager):
    kind = type(tried(manager))
    if not (hasattr(kind, "__enter__") and hasattr(kind, "__exit__")):
        raise Unfit(
            f"it must return a context manager, not {brief(manager)}; decorate a generator with "
            "contextmanager"
        )
    if kind is _GeneratorContextManager and not hasattr(manager.gen, "__next__"):
        raise Unfit("contextmanager makes a block of a function with a yield, and yours has none")
    return manager


def _advise(mine, real) -> str:
    """Return what went wrong first, in words."""
    for (when, seen), (moment, wanted) in zip(mine, real, strict=False):
        if when != moment:
            raised = mine[-1][1]
            causes = (words for kind, words in CAUSES.items() if isinstance(raised.error, kind))
            return f"{raised.sentence}{next(causes, '')}"
        for path in [*(path for path in seen if path not in wanted), *wanted]:
            if seen.get(path) != wanted.get(path):
                return _say_place(when, path, seen.get(path), wanted.get(path))
    return ""


def _say_place(when: str, path: str, mine: str | None, real: str | None) -> str:
    """Say what one place holds at one moment, and what it must hold."""
    if real is None:
        return f"{when} {path} holds {mine}, and held something else before, or nothing"
    if mine is None:
        return f"{when} {path} is gone"
    if real == "assigned":
        return f"{path} has lost what the block itself assigned to it; put back only your places"
    if INSIDE in when and real in ("equal", "its twin"):
        return EQUAL
    if CALL in when:
        return f"it changes {path} when it is called; rebind when the block is entered"
    if INSIDE in when and mine == "op()":
        return f"{when} {path} still holds the old function; search when the block is entered"
    if AFTER in when and real == "op()":
        return f"{when} {path} does not hold the old function again; restore in a finally"
    if AFTER in when and real == "first()":
        return AGAIN
    return f"{when} {path} holds {mine}, and must hold {real}"
