"""An object and its replacement -> every place rebound for the length of a `with` block.

Writing one place is an assignment. Writing all of them, and giving each its object back whatever
happens in between, is this module. `code_swapped` is the other way in: it leaves all names alone
and changes the function itself.

A wrapper that is put in the place of what it wraps must still reach the original, or it calls
itself for ever: what it holds is followed, and so are the global names in its code. An attribute
look-up inside its body, such as `module.name(...)`, cannot be known before it runs: give the
original a name of its own.
"""

import types
from collections import Counter
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import _lru_cache_wrapper, partial
from gc import get_objects, get_referents

from ...model.phrase import counted, listed
from ...safety.arguments import is_exactly, printable, real_isinstance
from ...safety.restoring import Own, speaks_to_users
from ..cpython.objects import inherited, instance_dict, names_used
from ..text.source import place_of
from ..text.value import label
from .fixed_places import find_fixed_reason as why_fixed
from .holder_search import find_holders, scan_modules
from .loaded_modules import find_singledispatch_functions as singledispatch
from .owner_names import describe_object as describe
from .places import HiddenList, Place
from .places_in_holders import is_immutable_type as is_immutable

UNSEEN = "; variables of running calls are not counted, and caches keep the results that they have"
MOST_CACHES = 3  # that are named
MOST_ROWS = 12  # that a rebinding prints
_SHARED = (int, str, bytes, float, complex, tuple, frozenset, range, slice, bool)
_SHARED += (type(None), type(...), type(NotImplemented))  # made once for all


def rebind_everywhere(old, new, *, search="thorough", keep=(), only=()) -> "Rebinding":
    """Return a context manager that replaces `old` with `new` wherever a search finds `old`."""
    fits = callable(new) or not callable(old)
    refusals = (
        (old is new, ValueError, "cannot be replaced by itself; pass a different object"),
        (is_exactly(old, *_SHARED), ValueError, "is a value that the interpreter shares"),
        (real_isinstance(old, types.ModuleType), TypeError, "is a module; rebind names inside it"),
        (real_isinstance(old, type) and is_immutable(old), TypeError, "is built in, and relied on"),
        (not fits, TypeError, f"can be called, but {describe(new)} cannot"),
        (is_exactly(new, *_SHARED), ValueError, f"cannot become {describe(new)}, which is shared"),
    )
    for is_so, kind, words in refusals:
        if is_so:
            raise kind(f"{describe(old)} {words}")
    if search not in ("thorough", "scan"):
        raise ValueError(f'search must be "thorough" or "scan", not {label(search)}')
    return Rebinding(old, new, search, _patterns(keep, "keep"), _patterns(only, "only"))


class Rebinding(Own):
    """A rebinding: `changed` and `left` tell what became of each place, as rows.

    `kept`: the rows of `changed` that the program changed in the block, and that were left so.
    """

    __slots__ = ("old", "new", "changed", "left", "kept", "_caches", "_how", "_undo")

    def __init__(self, old, new, search, keep, only):
        self.old, self.new, self._how = old, new, (search, keep, only)
        self.changed, self.left, self.kept, self._undo = (), (), (), HiddenList()
        self._caches: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if not self.changed:
            return f"{_placed(self.old)} will be replaced by {_placed(self.new)}."
        done, left = len(self.changed), len(self.left)
        told = "; ".join(f"{n}: {why}" for why, n in Counter(r.reason for r in self.left).items())
        told = f"{left} left ({told})" if told else f"{left} left"
        head = f"{_placed(self.old)}: {done} of {done + left} places rebound, {told}{UNSEEN}"
        head += f" (an lru_cache on {listed(self._caches, MOST_CACHES)})" * bool(self._caches)
        head += "."
        rows = [f"  {row.path}" for row in self.changed]
        rows += [f"  {row.path} (left: {row.reason})" for row in self.left]
        rest = f"  … {len(rows) - MOST_ROWS} more; `.changed` and `.left` contain all"
        rows = [head, *rows[:MOST_ROWS], *([rest] if rows[MOST_ROWS:] else [])]
        if self.kept:
            paths = listed([row.path for row in self.kept], 3)
            rows.append(f"Your code changed {paths} in the block. That was left as it is.")
        return "\n".join(rows)

    @partial(speaks_to_users, name="rebind_everywhere")
    def __enter__(self) -> "Rebinding":
        if self._undo:
            raise RuntimeError("this rebinding is already active; make another one to nest it")
        plan, self.kept = self._plan(), ()
        try:
            for place in plan:
                # The record comes before the write: after an error in between, all is restored.
                self._undo.append(place)
                place.put(self.new)
        except BaseException as error:
            # Half a rebinding is worse than none: two callers would run two functions.
            self._restore()
            error.add_note(f"in {place.binding.path}; every place refers to the original again")
            raise
        return self

    def _plan(self) -> HiddenList:
        search, keep, only = self._how
        for one in singledispatch():  # which fills its cache anew from what is rebound
            one._clear_cache()
        places = scan_modules(self.old) if search == "scan" else find_holders(self.old)
        if not places:
            seen = f"no visible place holds {describe(self.old)}"
            raise ValueError(f"{seen}; pass an object with a name")
        for pattern in (*keep, *only):
            if not any(_matches(place, (pattern,)) for place in places):
                there = listed(sorted(place.binding.path for place in places), 3)
                words = f"matches no place that holds it; there are {there}"
                raise ValueError(f"'{printable(pattern)}' {words}")
        own = {id(self.old), id(instance_dict(self.old))}
        if type(self.old) is types.FunctionType:
            own |= {id(self.old.__kwdefaults__), *map(id, self.old.__closure__ or ())}
        reached, plan, changed, left = _reach(self.new, self.old), HiddenList(), [], []
        for place in places:
            needed = {id(place.container), (id(place.container), place.name)} & reached
            why = place.reason or _matches(place, keep) and "kept on request"
            why = why or only and not _matches(place, only) and "not selected"
            why = why or id(place.container) in own and "the old object refers to itself there"
            why = why or needed and "the replacement itself needs it"
            if why:
                left.append(place.binding._replace(rebindable=False, reason=why))
            else:
                plan.append(place)
                changed.append(place.binding)
        self.changed, self.left = tuple(changed), tuple(left)
        self._caches = _find_caches(self.old)
        if not plan:
            why = listed([f"{row.path} ({row.reason})" for row in left], 3)
            raise ValueError(f"no place that holds {describe(self.old)} can be rebound: {why}")
        return plan

    def __exit__(self, kind, error, trace) -> None:
        if not self._undo:
            raise RuntimeError("this rebinding is not active: never entered, or already left")
        self._restore()

    def _restore(self) -> None:
        """Put everything back in reverse, but for what the program has changed since."""
        kept = []
        while self._undo:
            place = self._undo[-1]
            # Someone may have written here meanwhile: only what is still ours is taken back.
            place.follow(self.new, self._undo[:-1])
            is_back = False
            if place.get() is self.new:
                with suppress(Exception):  # the others must be restored, too
                    place.put(self.old)
                    is_back = True
            if not is_back and place.get() is not self.old:
                kept.append(place.binding)
            self._undo.pop()
        self.kept = tuple(reversed(kept))
        for one in singledispatch():
            one._clear_cache()


def _find_caches(old) -> tuple[str, ...]:
    """Return the names of what lru_cache decorates, calls `old` by name, and has results."""
    wrappers = (one for one in get_objects() if type(one) is _lru_cache_wrapper)
    filled = HiddenList(one for one in wrappers if one.cache_info().currsize)
    found = set()
    for wrapper in filled:
        function = wrapper.__wrapped__
        if type(function) is not types.FunctionType:
            continue
        space = function.__globals__
        uses = (space.get(name) for name in names_used(function.__code__))
        if function is old or any(one is old for one in uses):
            found.add(f"{printable(function.__module__)}.{printable(function.__qualname__)}")
    return tuple(sorted(found))


def _reach(new, old) -> set:
    """Return the ids of what `new` holds, and (id of globals, name) of the names in its code.

    Followed are functions and objects that can be called, what these keep, and the functions and
    containers that the code of `new` names in its own module.
    """
    reached, home = set(), None
    waiting = HiddenList([(new, True)])
    while waiting:
        thing, near = waiting.pop()
        if id(thing) in reached or thing is old:
            continue
        reached.add(id(thing))
        kept = ()
        if type(thing) is types.FunctionType:
            space = thing.__globals__
            home = space if home is None else home
            kept = (thing.__closure__, thing.__defaults__, thing.__kwdefaults__, vars(thing))
            for name in names_used(thing.__code__) & space.keys() if near or space is home else ():
                reached.add((id(space), name))
                value = space[name]
                beside = type(value) is types.FunctionType and value.__globals__ is home
                if beside or is_exactly(value, partial, dict, list):
                    waiting.append((value, False))
        elif is_exactly(thing, types.CellType, partial, types.MethodType, tuple, dict, list):
            kept, near = get_referents(thing), near and not is_exactly(thing, dict, list)
        elif near and callable(thing) and not real_isinstance(thing, type):
            inner = (instance_dict(thing), inherited(type(thing), "__call__"))
            kept = (*get_referents(thing), *inner)
        waiting += [(one, near) for one in kept if one is not None]
    return reached


class CodeSwap(Own):
    """Make `function` run the code of `donor` inside a `with` block."""

    __slots__ = ("function", "code", "first", "is_kept")

    def __init__(self, function, donor):
        for thing in (function, donor):
            if not real_isinstance(thing, types.FunctionType):
                raise TypeError(f"{describe(thing)} is not a Python function, so it has no code")
        if why := why_fixed(function):
            raise ValueError(f"{describe(function)} keeps its code: {why}")
        have, want = (len(each.__code__.co_freevars) for each in (function, donor))
        if have != want:
            words = f"the donor has {want}; the closure stays, so the numbers must be equal"
            has = counted(have, "free variable")
            raise ValueError(f"{describe(function)} has {has} and {words}")
        self.function, self.code, self.first = function, donor.__code__, None
        self.is_kept = False

    @partial(speaks_to_users, name="code_swapped")
    def __enter__(self):
        if self.first is not None:
            raise RuntimeError("this swap is already active; make another one to nest it")
        self.first, self.function.__code__ = self.function.__code__, self.code
        self.is_kept = False
        _SWAPS.append(self)
        return self.function

    def __exit__(self, kind, error, trace) -> None:
        at = next((at for at, swap in enumerate(_SWAPS) if swap is self), None)
        if at is None:
            raise RuntimeError("this swap is not active: never entered, or already left")
        later = [swap for swap in _SWAPS[at + 1 :] if swap.function is self.function]
        del _SWAPS[at]
        if later:  # which began inside this one, and ends after it
            later[0].first = self.first
        elif self.function.__code__ is self.code:
            self.function.__code__ = self.first
        else:
            self.is_kept = True
        self.first = None


_SWAPS = HiddenList()  # that are active, the first to begin first


def _placed(obj) -> str:
    """Return a few words for an object; of a Python function also its file and line."""
    at = place_of(obj.__code__) if type(obj) is types.FunctionType else ""
    return f"{describe(obj)}{at and f' ({at})'}"


def _matches(place: Place, patterns) -> bool:
    return any(
        path == pattern or fnmatchcase(path, pattern.replace("[", "[[]"))
        for path in place.paths
        for pattern in patterns
    )


def _patterns(asked, name: str) -> tuple[str, ...]:
    """Return the paths or patterns of `keep` or `only`, given as one str or as several."""
    given = (asked,) if type(asked) is str else asked
    if is_exactly(given, tuple, list, set) and all(type(one) is str for one in given):
        return tuple(given)
    words = f"{name} must be a path such as '__main__.op', or a list of paths"
    raise TypeError(f"{words}; this is {label(asked)}")
