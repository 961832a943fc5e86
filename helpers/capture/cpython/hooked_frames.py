"""A call, under the frame hook -> which code objects it ran: in order, how deep, how often."""

import gc
import sys
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType

from helpers.capture.cpython.function import code_of, function_of, refuse_async
from helpers.capture.text.error import said
from helpers.capture.text.value import brief, plain
from helpers.mini import frame_hook
from helpers.model.listing import Column, Listing
from helpers.model.phrase import counted, ended
from helpers.safety.arguments import is_exactly
from helpers.safety.interpreter_state import theirs
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # the callback is asked while a learner's code runs

MOST_ROWS = 60
MOST_CODES = 10_000
MOST_ARGUMENTS = 8
DEEPEST = 20  # marks of indentation
_NAMESPACE = type.__dict__["__dict__"].__get__


@dataclass(frozen=True)
class FrameSeen:
    """One frame: its place in the run, how deep it lay, its code, its arguments, its count."""

    order: int
    depth: int
    name: str
    code: str
    line: int
    arguments: str
    nth: int


@dataclass(frozen=True)
class FramesSeen(Listing):
    """The frames of a run; those that are not shown are counted too."""

    counts: tuple[tuple[str, int], ...] = ()

    def count(self, name: str) -> int:
        """Return how many frames of code objects of this name ran, 0 if none did."""
        return sum(many for told, many in self.counts if told == name)


def hooked_listing(fn, args: tuple, kwargs: dict, only=None) -> FramesSeen:
    """Run `fn(*args, **kwargs)` with the hook on and return the frames that it was told of.

    Watched are `fn`, and all functions and methods of its module, with the functions inside them;
    or those of `only`. What the run raises is told in the note; KeyboardInterrupt comes through.
    TypeError for what is no Python function, RuntimeError where there is no hook.
    """
    function, own = function_of(fn, "watch_hooked")
    refuse_async(function, "watch_hooked")
    codes = own_codes(function) if only is None else _asked(only)
    watch = _Watch()
    hook = frame_hook.watching(watch.note, only=codes)
    with hook:
        watch.base = sys._getframe()
        try:
            with theirs():
                function(*own, *args, **kwargs)
            ending = ""
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            ending = f" {ended(f'It raised {said(error)}')}"
    if hook.missed:
        ending += (
            f" {_many(hook.missed, 'frame')} could not be told: too little was left of the levels "
            "of recursion, or of the C stack."
        )
    if only is None and len(codes) >= MOST_CODES:
        ending += f" The first {MOST_CODES:,} code objects of the module were watched; name others."
    return watch.listing(f"{plain(function.__name__)}{_shape(args, kwargs)}", ending)


def own_codes(function: FunctionType) -> list[CodeType]:
    """Return the code objects of the function and of its module, those inside them included.

    A function is of the module whose globals it has, wherever it is kept: under a decorator, in a
    property, a dict, a class within a class.
    """
    space = function.__globals__
    found = {id(function.__code__): function.__code__}
    alive = (thing for thing in gc.get_objects() if type(thing) is FunctionType)
    pending = [function.__code__, *(one.__code__ for one in alive if one.__globals__ is space)]
    for thing in list(dict.values(space)):  # `gc.freeze` may have set them aside
        pending += _codes_of(thing, space)
    while pending and len(found) < MOST_CODES:
        code = pending.pop()
        found[id(code)] = code
        pending += [c for c in code.co_consts if type(c) is CodeType and id(c) not in found]
    return list(found.values())


def _codes_of(thing, space):
    """Yield the code of a function that was made in this module, or of a class's methods."""
    members = [thing]
    if issubclass(type(thing), type):
        namespace, name = dict(_NAMESPACE(thing)), dict.get(space, "__name__")
        made_in = namespace.get("__module__")
        if type(made_in) is type(name) is str and made_in == name:
            members = list(namespace.values())
    for member in members:
        if type(member) is property:
            member = member.fget
        elif is_exactly(member, staticmethod, classmethod, MethodType):
            member = member.__func__
        if type(member) is FunctionType and member.__globals__ is space:
            yield member.__code__


def _asked(only) -> list[CodeType]:
    things = only if is_exactly(only, list, tuple, set, frozenset) else [only]
    return [code_of(thing, "only of watch_hooked") for thing in things]


class _Watch:
    """What the callback has been told so far."""

    def __init__(self):
        self.base, self.rows, self.counts, self.depths = None, [], {}, 0

    def note(self, code: CodeType, arguments: tuple) -> None:
        """Write one frame down; the callback's caller is the frame that makes the call."""
        name, nth = self.counts.get(id(code), (code.co_name, 0))
        self.counts[id(code)] = name, nth + 1
        if len(self.rows) >= MOST_ROWS:
            return
        depth = self._depth(sys._getframe(1))
        named = zip(code.co_varnames[:MOST_ARGUMENTS], arguments, strict=False)
        words = _listed([f"{plain(name)}={brief(value)}" for name, value in named], len(arguments))
        marks = "· " * depth if depth <= DEEPEST else f"{'· ' * DEEPEST}… "
        shown = f"{marks}{plain(code.co_name)}"
        self.rows.append(
            FrameSeen(
                len(self.rows) + 1,
                depth,
                plain(code.co_name),
                shown,
                code.co_firstlineno,
                words,
                nth + 1,
            )
        )

    def _depth(self, frame) -> int:
        """Return how many frames of the run lie below, whether they are watched or not."""
        depth = 0
        while frame is not None and frame is not self.base:
            depth, frame = depth + 1, frame.f_back
        return depth

    def listing(self, call: str, ending: str) -> FramesSeen:
        """Return all that was told."""
        total = sum(many for _, many in self.counts.values())
        note = f"{_many(total, 'frame')} of {_many(len(self.counts), 'code object')}.{ending}"
        if total > len(self.rows):
            note += f" Only the first {len(self.rows)} are shown; `only` chooses whose."
        columns = (
            Column("order", "order"),
            Column("depth", "depth"),
            Column("code", "code object", True),
            Column("line", "its first line"),
            Column("arguments", "arguments in the frame", True),
            Column("nth", "frames of this code so far"),
        )
        title = f"Frames that the hook was told of while {call} ran"
        return FramesSeen(title, columns, tuple(self.rows), note, tuple(self.counts.values()))


def _many(count: int, thing: str) -> str:
    return counted(count, thing)


def _shape(args: tuple, kwargs: dict) -> str:
    words = [brief(value) for value in args[:MOST_ARGUMENTS]]
    words += [f"{plain(name)}={brief(kwargs[name])}" for name in kwargs][:MOST_ARGUMENTS]
    return f"({_listed(words[:MOST_ARGUMENTS], len(args) + len(kwargs))})"


def _listed(words: list[str], count: int) -> str:
    """Join words; of more than that many things, say how many have none."""
    more = [f"… {count - len(words)} more"] if count > len(words) else []
    return ", ".join([*words, *more])
