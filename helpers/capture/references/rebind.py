"""An object and its replacement -> every place rebound for the length of a `with` block.

Writing one place is an assignment. Writing all of them, and giving each its object back whatever
happens in between, is this module. `code_swapped` is the other way in: it leaves all names alone
and changes the function itself.
"""

import types
from collections import Counter
from fnmatch import fnmatchcase

from helpers.capture.cpython.objects import inherited, is_immutable
from helpers.capture.references.heap import Shelf
from helpers.capture.references.holder_search import (
    describe,
    find_holders,
    find_holders_beside,
    find_holders_of_both,
    scan_modules,
    why_fixed,
)
from helpers.capture.references.places import Place, SetMember
from helpers.capture.references.wrapper_needs import needed_places
from helpers.capture.text.value import label, type_name
from helpers.model.bindings import Binding
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, is_exactly, printable
from helpers.safety.restoring import Block, Own, note, tell

UNSEEN = "; variables of running calls are not counted"
_VALUES = (int, str, bytes, float, complex, tuple, frozenset, range, slice, bool)
_ONE_OF_A_KIND = (type(None), type(...), type(NotImplemented))
# Found by no search: an active block must not report the places of another as holders.
_ACTIVE, _SWAPPED = Shelf(), Shelf()


def rebind_everywhere(old, new, *, search="thorough", keep=(), only=()) -> "Rebinding":
    """Return a context manager that puts `new` where a search finds `old`, and `old` back later.

    `search`: "thorough" (the collector) or "scan" (only names in modules). `keep`: paths such as
    `"__main__.original"` that stay as they are, `only`: paths to rebind and no others; both may
    hold patterns (`"tensorflow.*"`). What `new` needs to reach `old` stays as well, and so does a
    variable that only a running call holds; no search lists it. What came to hold `new` in the
    block and keeps it, such as a cache, is counted in a warning at its end.

    ValueError or TypeError, one sentence, and nothing changed: for a value that the interpreter
    shares (None, numbers, strings), a built-in type, a module, a replacement that is `old` itself
    or cannot be called though `old` can, a path that names no place, and where no place could be
    rebound. The block is for one thread: others see the replacement as well. The modules of the
    kernel itself are left out, and so are the builtins, which it calls at any moment.
    """
    _refuse(old, new)
    if type(search) is not str or search not in ("thorough", "scan"):
        raise ValueError(f'search must be "thorough" or "scan", not {label(search)}')
    return Rebinding(old, new, search, _patterns(keep, "keep"), _patterns(only, "only"))


class Rebinding(Block):
    """A rebinding: `changed` and `left` tell what became of each place, as rows.

    After the block `leftover` lists the places that hold the replacement since then (a name that
    was imported inside the block, say), and a warning counts them; it is empty where nothing is
    left. `repr` says in words how many places were left alone, and why. Ctrl-C waits while places
    are written; what came in the beginning comes when all is undone.
    """

    __slots__ = ("old", "new", "changed", "left", "leftover", "_how", "_undo", "_before", "_said")

    def __init__(self, old, new, search, keep, only):
        self.old, self.new = old, new
        self.changed: tuple[Binding, ...] = ()
        self.left: tuple[Binding, ...] = ()
        self.leftover: tuple[Binding, ...] = ()
        self._how = (search, keep, only)
        self._undo, self._before, self._said = Shelf(), frozenset(), ""

    def __repr__(self) -> str:
        if self not in _ACTIVE and not self.changed:
            return f"{describe(self.old)} is to be replaced by {describe(self.new)}."
        done, every = len(self.changed), len(self.changed) + len(self.left)
        told = "; ".join(f"{n}: {why}" for why, n in Counter(r.reason for r in self.left).items())
        told = f"{len(self.left)} left" + (f" ({told})" if told else "")
        told = f"{describe(self.old)}: {done} of {every} places rebound, {told}{UNSEEN}"
        return f"{told}; {_leftover_words(self.leftover)}." if self.leftover else f"{told}."

    def prepare(self) -> Shelf:
        """Search, and choose the places to rebind."""
        if self in _ACTIVE:
            raise RuntimeError("this rebinding is active already; make another one to nest it")
        self.leftover = ()
        search, keep, only = self._how
        if search == "scan":
            places, before = scan_modules(self.old), scan_modules(self.new)
        elif _is_shared(self.new):  # who else has None is nobody's question, and takes minutes
            places, before = find_holders(self.old), ()
        else:
            places, before = find_holders_of_both(self.old, self.new)
        self._before = frozenset(place.key for place in before)
        _refuse_unknown(self.old, places, (*keep, *only))
        needed = needed_places(self.new, self.old)
        reasons = [self._why_not(place, keep, only, needed) for place in places]
        rows = [(place, place.binding, why) for place, why in zip(places, reasons, strict=True)]
        self.left = tuple(
            Binding(row.kind, row.owner, row.name, row.scan, False, why)
            for _, row, why in rows
            if why
        )
        self.changed = tuple(row for _, row, why in rows if not why)
        if not self.changed:
            why = _few([f"{row.path} ({row.reason})" for row in self.left])
            raise ValueError(f"no place that holds {describe(self.old)} can be rebound: {why}")
        return Shelf(place for place, _, why in rows if not why)

    def begin(self, plan) -> "Rebinding":
        """Write every place, or none."""
        try:
            for place in plan:
                # The record comes before the write: after an error in between, all is put back.
                self._undo.append(Undo(place, place.state()))
                place.put(self.new)
                if place.get() is not self.new:
                    raise TypeError("the place did not take the value")
        except BaseException as error:
            # Half a rebinding is worse than none: two callers would run two functions.
            self._restore()
            if not isinstance(error, Exception):
                raise
            raise RuntimeError(
                f"{place.binding.path} refused the replacement ({type_name(error)}); "
                "every place holds the original again"
            ) from error
        _ACTIVE.append(self)
        return self

    def end(self, kind, error) -> None:
        """Give every place its object back; blocks that are inside of this one end with it."""
        if self not in _ACTIVE:
            return  # ended by the one around it
        keys = {undo.place.key for undo in self._undo}
        later = _ACTIVE[_ACTIVE.index(self) + 1 :]
        inside = [one for one in later if any(undo.place.key in keys for undo in one._undo)]
        for one in reversed(inside):
            one._said = one._restore()
            _ACTIVE.remove(one)
        _ACTIVE.remove(self)
        self._said = self._restore()
        if inside and not self._said:
            self._said = (
                f"the rebinding of {describe(self.old)} was left before one that was entered "
                "inside it; leave the inner one first (nothing is lost: both are undone now)"
            )

    def afterwards(self, kind, error) -> None:
        """Look for what is left over, and say what could not simply be given back."""
        if kind is None or issubclass(kind, Exception):
            self.leftover = self._left_over()
            if self.leftover:
                tell(f"{describe(self.old)}: {_leftover_words(self.leftover)}")
        sentence, self._said = self._said, ""
        _raise_or_note(sentence, error)

    def _why_not(self, place, keep, only, needed) -> str:
        if place.reason:
            return place.reason
        if _matches(place, keep):
            return "kept, as asked"
        if only and not _matches(place, only):
            return "not asked for"
        if place.key in needed:
            return "the replacement itself needs it"
        unhashable = type(place) is SetMember and inherited(type(self.new), "__hash__") is None
        return "the replacement has no hash" if unhashable else ""

    def _restore(self) -> str:
        """Put everything back in reverse; return, as a sentence, what could not be."""
        refused, foreign = [], []
        while self._undo:
            undo = self._undo[-1]
            place, now = undo.place, undo.place.get()
            # Someone may have written here meanwhile: only what is still ours is taken back.
            try:
                if now is self.new:
                    place.put(self.old)
                if now is self.new or now is self.old:
                    place.settle(undo.state)
                else:
                    foreign.append(place.binding.path)
            except Exception:
                refused.append(place.binding.path)
            self._undo.pop()
        what = describe(self.old)
        if refused:
            return f"{_few(refused)} refused to take {what} back; all others hold it again"
        return foreign and (
            f"while {what} was rebound, something else changed {_few(foreign)}, which was "
            "left as it is; all others hold the original again"
        )

    def _left_over(self) -> tuple[Binding, ...]:
        if self._how[0] == "scan":
            return self._since(scan_modules(self.new))
        if _is_shared(self.new):
            return ()
        # Nothing is left over, as a rule: only where something is, garbage is told from it.
        found = self._since(find_holders(self.new, tidy=False))
        return found and self._since(find_holders_beside(self.new))

    def _since(self, places) -> tuple[Binding, ...]:
        # What another block that is open has written, it gives back itself.
        known = self._before.union(undo.place.key for one in _ACTIVE for undo in one._undo)
        return tuple(place.binding for place in places if place.key not in known)


class Undo(Own):
    """One place that was written; `state`: what the write did beside writing."""

    __slots__ = ("place", "state")

    def __init__(self, place, state):
        self.place, self.state = place, state


class code_swapped(Block):  # noqa: N801 (used like a function, as contextlib names its own)
    """Let `function` run the code of `donor` inside a `with` block.

    No name is rebound: every route to the function runs the other code, because the object
    itself changed (`func_set_code`, Objects/funcobject.c). Its globals, defaults and closure stay
    its own; a call that runs already, or a generator that waits, goes on with the code it began
    with. TypeError where either is no Python function, ValueError where the numbers of free
    variables differ or the function is one that puts things back, or that the kernel runs in;
    nothing has changed then.
    RuntimeError where two swaps of one function are left in the wrong order; the first code still
    comes back. Ctrl-C waits while the code is swapped and while it is swapped back.
    """

    __slots__ = ("function", "code", "first", "_said")

    def __init__(self, function, donor):
        for thing in (function, donor):
            if not is_a(thing, types.FunctionType):
                raise TypeError(f"{describe(thing)} is no Python function: it has no code to swap")
        have, want = (len(each.__code__.co_freevars) for each in (function, donor))
        if have != want:
            raise ValueError(
                f"{describe(function)} has {counted(have, 'free variable')} and the "
                f"donor has {want}; the closure stays, so the numbers must be equal"
            )
        if why := why_fixed(function):
            raise ValueError(f"{describe(function)} keeps its code: {why}")
        self.function, self.code, self.first, self._said = function, donor.__code__, None, ""

    def prepare(self) -> None:
        """Refuse a swap that is on already."""
        if self in _SWAPPED:
            raise RuntimeError("this swap is active already; make another one to nest it")

    def begin(self, plan):
        """Swap the code: the function, which the block is given."""
        self.first = self.function.__code__
        self.function.__code__ = self.code
        _SWAPPED.append(self)
        return self.function

    def end(self, kind, error) -> None:
        """Give the function its first code back, and end the swaps of it that are inside."""
        if self not in _SWAPPED:
            return  # ended by the one around it
        later = _SWAPPED[_SWAPPED.index(self) + 1 :]
        for swap in [one for one in later if one.function is self.function]:
            _SWAPPED.remove(swap)
            self._said = (
                f"the code of {describe(self.function)} was changed inside this swap and not "
                "changed back; leave the inner swap first (the first code is back)"
            )
        _SWAPPED.remove(self)
        self.function.__code__ = self.first

    def afterwards(self, kind, error) -> None:
        """Say so where another swap was still on; the sentence joins an error on its way."""
        sentence, self._said = self._said, ""
        _raise_or_note(sentence, error)


def _raise_or_note(sentence: str, error) -> None:
    if sentence and error is None:
        raise RuntimeError(sentence)
    if sentence:
        note(error, sentence)


def _leftover_words(rows) -> str:
    """Return how many places hold the replacement since the block, by kind."""
    found = ", ".join(f"{kind}: {n}" for kind, n in Counter(row.kind for row in rows).items())
    places = counted(len(rows), "place")
    return f"after the block, the replacement is left over in {places} ({found})"


def _few(paths: list[str]) -> str:
    """Return up to three paths as words, and how many more there are."""
    rest = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(sorted(paths)[:3]) + rest


def _matches(place: Place, patterns) -> bool:
    """Return whether a path of this place is one of `patterns`, or fits one (`*`, `?`)."""
    return any(
        path == pattern or fnmatchcase(path, pattern.replace("[", "[[]"))
        for path in place.paths
        for pattern in patterns
    )


def _is_shared(thing) -> bool:
    """Return whether a value may be anybody's: the interpreter makes it once for all."""
    return is_exactly(thing, *_VALUES, *_ONE_OF_A_KIND)


def _refuse(old, new) -> None:
    """Raise ValueError or TypeError for an object or a replacement that must not be touched."""
    what = describe(old)
    if old is new:
        raise ValueError(f"{what} is to be replaced by itself; give a different object")
    if _is_shared(old):
        raise ValueError(
            f"{what} is a value that the interpreter shares; to rebind it would rebind half "
            "the process"
        )
    if is_a(old, types.ModuleType):
        raise TypeError(f"{what} is a module; rebind the names inside it instead")
    if is_a(old, type) and is_immutable(old):
        raise TypeError(f"{what} is built in, and the interpreter itself relies on it")
    if callable(old) and not callable(new):
        raise TypeError(f"{what} can be called, and {describe(new)} cannot; give a function")


def _patterns(asked, name: str) -> tuple[str, ...]:
    """Return the paths or patterns of `keep` or `only`, given as one str or as several."""
    if type(asked) is str:
        return (asked,)
    several = tuple(asked) if is_exactly(asked, tuple, list, set, frozenset) else (None,)
    if any(type(one) is not str for one in several):
        raise TypeError(
            f"{name} is a path such as '__main__.op', or a list of such; this is {label(asked)}"
        )
    return several


def _refuse_unknown(old, places, patterns) -> None:
    """Raise ValueError where nothing holds `old`, or where a pattern names none of its places."""
    if not places:
        raise ValueError(
            f"nothing that can be seen holds {describe(old)}; give an object with a name"
        )
    for pattern in patterns:
        if not any(_matches(place, (pattern,)) for place in places):
            known = _few([place.binding.path for place in places])
            raise ValueError(
                f"'{printable(pattern)}' names no place that holds it; there are {known}"
            )
