"""An object and its replacement -> every place rebound for the length of a `with` block.

Writing one place is an assignment. Writing all of them, and giving each its object back whatever
happens in between, is this module. `code_swapped` is the other way in: it leaves all names alone
and changes the function itself. `watch_routes` tells which ways of calling a rebinding reached.
"""

from dataclasses import replace

from helpers.capture.code_swap import code_swapped
from helpers.capture.heap import Own, Shelf, inherited
from helpers.capture.needs import needed_places
from helpers.capture.owners import describe
from helpers.capture.places import SetMember
from helpers.capture.references import find_holders_of_both, scan_modules
from helpers.capture.refusals import few, matches, nothing_to_do, refuse, refuse_unknown
from helpers.capture.routes import watch_routes
from helpers.model.bindings import Binding

__all__ = ["Rebinding", "code_swapped", "rebind_everywhere", "watch_routes"]

_ACTIVE = Shelf()


def rebind_everywhere(old, new, *, search="thorough", keep=(), only=()) -> "Rebinding":
    """Return a context manager that puts `new` wherever `old` is held, and `old` back afterwards.

    `search`: "thorough" (the collector) or "scan" (only names in modules). `keep`: paths such as
    `"__main__.original"` that stay as they are, `only`: paths to rebind and no others; both may
    hold patterns (`"tensorflow.*"`). What `new` needs to reach `old` stays as well.

    ValueError or TypeError, one sentence, and nothing changed: for a value that the interpreter
    shares (None, numbers, strings), a built-in type, a module, a replacement that is `old` itself
    or cannot be called though `old` can, a path that names no place, and where no place could be
    rebound. The block is for one thread: others see the replacement as well.
    """
    refuse(old, new)
    if search not in _SEARCHES:
        raise ValueError(f'search must be "thorough" or "scan", not {search!r}')
    return Rebinding(old, new, search, _patterns(keep), _patterns(only))


class Rebinding(Own):
    """A rebinding: `changed` and `left` tell what became of each place, as rows.

    After the block `leftover` lists the places that hold the replacement since then (a name that
    was imported inside the block, say); it is empty where nothing is left.
    """

    __slots__ = ("old", "new", "changed", "left", "leftover", "_how", "_undo", "_before")

    def __init__(self, old, new, search, keep, only):
        self.old, self.new = old, new
        self.changed: tuple[Binding, ...] = ()
        self.left: tuple[Binding, ...] = ()
        self.leftover: tuple[Binding, ...] = ()
        self._how = (_SEARCHES[search], keep, only)
        self._undo, self._before = Shelf(), frozenset()

    def __enter__(self) -> "Rebinding":
        if self in _ACTIVE:
            raise RuntimeError("this rebinding is active already; make another one to nest it")
        look, keep, only = self._how
        places, before = look(self.old, self.new)
        self._before = frozenset(place.key for place in before)
        refuse_unknown(self.old, places, (*keep, *only))
        chosen = self._choose(places, keep, only)
        self.changed = tuple(place.binding for place in chosen)
        self._put_all(chosen)
        _ACTIVE.append(self)
        return self

    def __exit__(self, kind, error, trace) -> None:
        _ACTIVE.remove(self)
        problems = Problems()
        self._restore(problems)
        if kind is None or issubclass(kind, Exception):
            self.leftover = self._left_over()
        _report(problems.sentence(describe(self.old)), error)

    def _choose(self, places, keep, only) -> Shelf:
        needed = needed_places(self.new, self.old)
        reasons = [self._why_not(place, keep, only, needed) for place in places]
        rows = zip(places, reasons, strict=True)
        self.left = tuple(
            replace(place.binding, rebindable=False, reason=why) for place, why in rows if why
        )
        chosen = Shelf(p for p, why in zip(places, reasons, strict=True) if not why)
        if not chosen:
            raise ValueError(nothing_to_do(self.old, self.left))
        return chosen

    def _why_not(self, place, keep, only, needed) -> str:
        if place.reason:
            return place.reason
        if matches(place, keep):
            return "kept, as asked"
        if only and not matches(place, only):
            return "not asked for"
        if place.key in needed:
            return "the replacement itself needs it"
        unhashable = type(place) is SetMember and inherited(type(self.new), "__hash__") is None
        return "the replacement has no hash" if unhashable else ""

    def _put_all(self, chosen) -> None:
        try:
            for place in chosen:
                self._put(place)
        except BaseException as error:
            self._restore(Problems())
            if not isinstance(error, Exception):
                raise
            raise RuntimeError(
                f"{place.binding.path} refused the replacement ({type(error).__name__}); "
                "every place holds the original again"
            ) from error

    def _put(self, place) -> None:
        self._undo.append(Undo(place, place.state(), self.old))
        place.put(self.new)
        if place.get() is not self.new:
            raise TypeError("the place did not take the value")

    def _restore(self, problems) -> None:
        """Put everything back in reverse; an interrupt waits until all is back."""
        try:
            while self._undo:
                self._give_back(self._undo[-1], problems)
                self._undo.pop()
        except KeyboardInterrupt:
            self._restore(problems)
            raise

    def _give_back(self, undo, problems) -> None:
        now = undo.place.get()
        if now is self.new:
            undo.restore(problems)
        elif now is undo.value:
            undo.place.settle(undo.state)
        elif (heir := _heir(undo.place, self.new)) is not None:
            heir.value, heir.state = undo.value, undo.state
            problems.inherited.append(undo.place.binding.path)
        else:
            problems.foreign.append(undo.place.binding.path)

    def _left_over(self) -> tuple[Binding, ...]:
        _, now = self._how[0](self.old, self.new)
        return tuple(place.binding for place in now if place.key not in self._before)


class Undo(Own):
    """What one place gets back: `value`, and `state` for what a write did beside writing."""

    __slots__ = ("place", "state", "value")

    def __init__(self, place, state, value):
        self.place, self.state, self.value = place, state, value

    def restore(self, problems) -> None:
        """Put the value back; a place that refuses is reported, and the others go on."""
        try:
            self.place.put(self.value)
            self.place.settle(self.state)
        except Exception:
            problems.refused.append(self.place.binding.path)


class Problems:
    """The places that could not simply be given back, by cause."""

    def __init__(self):
        self.inherited: list[str] = []
        self.foreign: list[str] = []
        self.refused: list[str] = []

    def sentence(self, what: str) -> str:
        """Return one sentence, empty where there was no problem."""
        if self.refused:
            return f"{few(self.refused)} refused to take {what} back; all others hold it again"
        if self.inherited:
            return (
                f"the rebinding of {what} was left before one that was entered inside it; leave "
                "the inner one first (nothing is lost: the places get the original back when "
                "the inner one is left)"
            )
        return self.foreign and (
            f"while {what} was rebound, something else changed {few(self.foreign)}, which was "
            "left as it is; all others hold the original again"
        )


def _heir(place, value):
    """Return the record of a later rebinding that will put `value` back into this place."""
    records = (undo for later in _ACTIVE for undo in later._undo)
    return next((u for u in records if u.place.key == place.key and u.value is value), None)


def _report(sentence, error) -> None:
    """Raise the sentence, or add it to an error that is on its way already."""
    if sentence and error is None:
        raise RuntimeError(sentence)
    if sentence:
        error.add_note(sentence)


def _patterns(asked) -> tuple[str, ...]:
    return (asked,) if type(asked) is str else tuple(asked)


def _scan_both(old, new):
    return scan_modules(old), scan_modules(new)


_SEARCHES = {"thorough": find_holders_of_both, "scan": _scan_both}
