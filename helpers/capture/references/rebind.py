"""An object and its replacement -> every place rebound for the length of a `with` block.

Writing one place is an assignment. Writing all of them, and giving each its object back whatever
happens in between, is this module. `code_swapped` is the other way in: it leaves all names alone
and changes the function itself. `watch_callers` tells which ways of calling a rebinding reached.
"""

from helpers.capture.cpython.objects import inherited
from helpers.capture.references.callers import watch_callers
from helpers.capture.references.heap import Shelf
from helpers.capture.references.holder_search import (
    find_holders,
    find_holders_beside,
    find_holders_of_both,
    scan_modules,
)
from helpers.capture.references.kernel_modules import (
    REASON,
    cannot_be_shielded,
    shield,
    unshield,
)
from helpers.capture.references.paths import describe
from helpers.capture.references.places import SetMember
from helpers.capture.references.refusals import (
    few,
    is_shared,
    matches,
    nothing_to_do,
    patterns,
    refuse,
    refuse_unknown,
)
from helpers.capture.references.swap_code import code_swapped
from helpers.capture.references.wrapper_needs import needed_places
from helpers.capture.text.label import label, type_name
from helpers.model.bindings import Binding
from helpers.model.phrase import counted
from helpers.safety.original_builtins import BUILTINS, Own
from helpers.safety.patches import tell
from helpers.safety.with_blocks import Block, note

__builtins__ = BUILTINS

__all__ = ["Rebinding", "code_swapped", "rebind_everywhere", "watch_callers"]

# Found by no search: an active block must not report the places of another as holders.
_ACTIVE = Shelf()
UNSEEN = "; variables of running calls are not counted"
SHIELDED = "; {} modules that the kernel runs in keep the original, or it would stop answering"


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
    rebound. The block is for one thread: others see the replacement as well. In a notebook the
    modules of the kernel itself are left out, and look builtins up past the replacement.
    """
    refuse(old, new)
    if type(search) is not str or search not in ("thorough", "scan"):
        raise ValueError(f'search must be "thorough" or "scan", not {label(search)}')
    return Rebinding(old, new, search, patterns(keep, "keep"), patterns(only, "only"))


class Rebinding(Block):
    """A rebinding: `changed` and `left` tell what became of each place, as rows.

    After the block `leftover` lists the places that hold the replacement since then (a name that
    was imported inside the block, say), and a warning counts them; it is empty where nothing is
    left. `repr` says in words how many places were left alone, and why. Ctrl-C waits while places
    are written; what came in the beginning comes when all is undone.
    """

    __slots__ = ("old", "new", "changed", "left", "leftover")
    __slots__ += ("_how", "_undo", "_before", "_said", "_shielded")

    def __init__(self, old, new, search, keep, only):
        self.old, self.new = old, new
        self.changed: tuple[Binding, ...] = ()
        self.left: tuple[Binding, ...] = ()
        self.leftover: tuple[Binding, ...] = ()
        self._how = (search, keep, only)
        self._undo, self._before, self._said, self._shielded = Shelf(), frozenset(), "", 0

    def __repr__(self) -> str:
        if self not in _ACTIVE and not self.changed:
            return f"{describe(self.old)} is to be replaced by {describe(self.new)}."
        done, every = len(self.changed), len(self.changed) + len(self.left)
        told = f"{describe(self.old)}: {done} of {every} places rebound, {left_words(self.left)}"
        told += UNSEEN + (SHIELDED.format(self._shielded) if self._shielded else "")
        return f"{told}; {leftover_words(self.leftover)}." if self.leftover else f"{told}."

    def prepare(self) -> Shelf:
        """Search, and choose the places to rebind."""
        if self in _ACTIVE:
            raise RuntimeError("this rebinding is active already; make another one to nest it")
        self.leftover = ()
        search, keep, only = self._how
        if search == "scan":
            places, before = scan_modules(self.old), scan_modules(self.new)
        elif is_shared(self.new):  # who else has None is nobody's question, and takes minutes
            places, before = find_holders(self.old), ()
        else:
            places, before = find_holders_of_both(self.old, self.new)
        self._before = frozenset(place.key for place in before)
        refuse_unknown(self.old, places, (*keep, *only))
        chosen = self._choose(places, keep, only)
        self.changed = tuple(place.binding for place in chosen)
        return chosen

    def begin(self, plan) -> "Rebinding":
        """Write every place, or none."""
        try:
            self._shielded = shield(plan)
            for place in plan:
                self._put(place)
        except BaseException as error:
            # Half a rebinding is worse than none: two callers would run two functions.
            self._restore(Problems())
            unshield()
            if not isinstance(error, Exception):
                raise
            raise RuntimeError(
                f"{place.binding.path} refused the replacement ({type_name(error)}); "
                "every place holds the original again"
            ) from error
        _ACTIVE.append(self)
        return self

    def end(self, kind, error) -> None:
        """Give every place its object back."""
        _ACTIVE.remove(self)
        problems = Problems()
        try:
            self._restore(problems)
        finally:
            unshield()
            self._said = problems.sentence(describe(self.old))

    def afterwards(self, kind, error) -> None:
        """Look for what is left over, and say what could not simply be given back."""
        if kind is None or issubclass(kind, Exception):
            self.leftover = self._left_over()
            if self.leftover:
                tell(f"{describe(self.old)}: {leftover_words(self.leftover)}")
        sentence, self._said = self._said, ""
        if sentence and error is None:
            raise RuntimeError(sentence)
        if sentence:
            note(error, sentence)

    def _choose(self, places, keep, only) -> Shelf:
        needed = needed_places(self.new, self.old)
        reasons = [self._why_not(place, keep, only, needed) for place in places]
        rows = zip(places, reasons, strict=True)
        self.left = tuple(_left(place.binding, why) for place, why in rows if why)
        chosen = Shelf(p for p, why in zip(places, reasons, strict=True) if not why)
        if not chosen:
            raise ValueError(nothing_to_do(self.old, self.left))
        return chosen

    def _why_not(self, place, keep, only, needed) -> str:
        if place.reason:
            return place.reason
        if cannot_be_shielded(place):
            return REASON
        if matches(place, keep):
            return "kept, as asked"
        if only and not matches(place, only):
            return "not asked for"
        if place.key in needed:
            return "the replacement itself needs it"
        unhashable = type(place) is SetMember and inherited(type(self.new), "__hash__") is None
        return "the replacement has no hash" if unhashable else ""

    # The record comes before the write: an error in between then puts back what is there.
    def _put(self, place) -> None:
        self._undo.append(Undo(place, place.state(), self.old))
        place.put(self.new)
        if place.get() is not self.new:
            raise TypeError("the place did not take the value")

    def _restore(self, problems) -> None:
        """Put everything back in reverse; what a place raises waits until all is back."""
        stopped = None
        while self._undo:
            # Taken off the list only when it is done: an interrupt cannot lose the last one.
            undo = self._undo[-1]
            try:
                self._give_back(undo, problems)
            except BaseException as error:
                stopped = error if stopped is None else stopped
                self._once_more(undo, problems)
            self._undo.pop()
        if stopped is not None:
            raise stopped

    def _once_more(self, undo, problems) -> None:
        try:
            self._give_back(undo, problems)
        except BaseException:
            problems.refused.append(undo.place.binding.path)

    def _give_back(self, undo, problems) -> None:
        now = undo.place.get()
        # Someone may have written here meanwhile: only what is still ours is taken back.
        if now is self.new:
            undo.restore(problems)
        elif now is undo.value:
            undo.place.settle(undo.state)
        elif (heir := problems.heir(undo.place, self.new)) is not None:
            heir.value, heir.state = undo.value, undo.state
            problems.inherited.append(undo.place.binding.path)
        else:
            problems.foreign.append(undo.place.binding.path)

    def _left_over(self) -> tuple[Binding, ...]:
        if self._how[0] == "scan":
            return self._since(scan_modules(self.new))
        if is_shared(self.new):
            return ()
        # Nothing is left over, as a rule: only where something is, garbage is told from it.
        found = self._since(find_holders(self.new, tidy=False))
        return found and self._since(find_holders_beside(self.new))

    def _since(self, places) -> tuple[Binding, ...]:
        # What another block that is open has written, it gives back itself.
        known = self._before.union(undo.place.key for one in _ACTIVE for undo in one._undo)
        return tuple(place.binding for place in places if place.key not in known)


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


class Problems(Own):
    """The places that could not simply be given back, by cause."""

    def __init__(self):
        self.inherited: list[str] = []
        self.foreign: list[str] = []
        self.refused: list[str] = []
        # A block that was entered later and left later found our replacement in its places; it
        # inherits what belongs there, and gives it back in our stead.
        self._heirs: dict | None = None

    def heir(self, place, value):
        """Return the record of a later rebinding that will put `value` back into this place."""
        if self._heirs is None:
            self._heirs = {}
            for later in _ACTIVE:
                for undo in later._undo:
                    self._heirs.setdefault(undo.place.key, Shelf()).append(undo)
        heirs = self._heirs.get(place.key, ())
        return next((undo for undo in heirs if undo.value is value), None)

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


def leftover_words(rows) -> str:
    """Return how many places hold the replacement since the block, by kind."""
    found = ", ".join(f"{kind}: {count}" for kind, count in _tally(row.kind for row in rows))
    places = counted(len(rows), "place")
    return f"after the block, the replacement is left over in {places} ({found})"


def _tally(words) -> list[tuple[str, int]]:
    """Return each word with how often it comes, in the order of the first."""
    seen = {}
    for word in words:
        seen[word] = seen.get(word, 0) + 1
    return list(seen.items())


def _left(row: Binding, why: str) -> Binding:
    return Binding(row.kind, row.owner, row.name, row.scan, False, why)


def left_words(left) -> str:
    """Return how many places were left alone, and why: `3 left (2: a tuple cannot be changed)`."""
    told = "; ".join(f"{count}: {why}" for why, count in _tally(row.reason for row in left))
    return f"{len(left)} left ({told})" if left else "0 left"
