"""Replace an object by another one in every *place* that refers to it, inside a `with` block. A
place is one reference, such as the global name `app.op` or the item `table['add']`. At the end of
the block each place refers to the old object again, except where the program has written to it.
"""

import types
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import _lru_cache_wrapper, partial
from gc import get_objects

from ...model.phrase import format_names
from ...model.reference_records import Binding
from ...safety.arguments import is_exactly, printable, real_isinstance
from ...safety.restoring import HiddenFromSearch, speaks_to_users
from ..cpython.objects import list_global_names, read_instance_dict
from ..text.source import format_place
from ..text.value import format_label
from .holder_search import find_holders, scan_modules
from .loaded_modules import find_singledispatch_functions
from .owner_names import describe_object
from .place_patterns import find_choice_reason, require_matches, require_patterns
from .places import HiddenList, Place
from .places_in_attributes import is_immutable_type
from .replacement_needs import Needs, find_needs

UNSEEN = "; variables of running calls are not counted, and caches keep the results that they have"
MOST_NAMED = 3  # places or caches that a sentence names
MOST_ROWS = 12  # that a rebinding prints
SEARCHES = ("thorough", "scan")
# Why a place is left alone.
NEEDED_BY_OLD = "the old object refers to itself there"
NEEDED_BY_NEW = "the replacement itself needs it"
_SHARED_TYPES = (
    *(int, str, bytes, float, complex, tuple, frozenset, range, slice, bool),
    *(type(None), type(...), type(NotImplemented)),
)  # of values that the interpreter makes once for all


def rebind_everywhere(
    old: object,
    new: object,
    *,
    search: str = "thorough",
    keep: Iterable[str] | str = (),
    only: Iterable[str] | str = (),
) -> "Rebinding":
    """Return a context manager that replaces `old` with `new` wherever a search finds `old`.

    Nothing is searched before the block is entered.

    Parameters
    ----------
    old, new : object
        The object, and its replacement.
    search : {"thorough", "scan"}
        "thorough" asks the garbage collector; "scan" looks only at global names of modules.
    keep : str or iterable of str
        Dotted paths, or patterns such as `app.*`, of places that stay as they are.
    only : str or iterable of str
        Paths or patterns of the places to rebind; empty for all.

    Raises
    ------
    TypeError, ValueError
        If an argument is wrong, or if the interpreter needs `old` as it is.
    """
    _refuse_objects(old, new)
    if search not in SEARCHES:
        raise ValueError(f'search must be "thorough" or "scan", not {format_label(search)}')
    return Rebinding(
        old,
        new,
        search,
        keep=require_patterns(keep, "keep"),
        only=require_patterns(only, "only"),
    )


def _refuse_objects(old: object, new: object) -> None:
    """Raise TypeError or ValueError if `old` must not be replaced, or not by `new`.

    A value that the interpreter shares, such as 3 or None, is everywhere in the data of programs.
    It is no replacement either: at the end of the block, a place with None may be one to which the
    program itself has written None.
    """
    subject = describe_object(old)
    if old is new:
        raise ValueError(f"{subject} cannot be replaced by itself; pass a different object")
    if is_exactly(old, *_SHARED_TYPES):
        raise ValueError(f"{subject} is a value that the interpreter shares")
    if real_isinstance(old, types.ModuleType):
        raise TypeError(f"{subject} is a module; rebind names inside it")
    if real_isinstance(old, type) and is_immutable_type(old):
        raise TypeError(f"{subject} is built in, and relied on")
    if callable(old) and not callable(new):
        raise TypeError(f"{subject} can be called, but {describe_object(new)} cannot")
    if is_exactly(new, *_SHARED_TYPES):
        raise ValueError(f"{subject} cannot become {describe_object(new)}, which is shared")


class Rebinding(HiddenFromSearch):
    """A context manager that replaces one object by another everywhere, and restores it.

    Attributes
    ----------
    old, new : object
        The object, and its replacement.
    changed : tuple of Binding
        The places that the block rebinds.
    left : tuple of Binding
        The places that the block leaves alone, each with the reason.
    kept : tuple of Binding
        Places of `changed` that were not restored, because the program wrote to them in the block.
    """

    __slots__ = (
        "old",
        "new",
        "changed",
        "left",
        "kept",
        "_search",
        "_keep",
        "_only",
        "_caches",
        "_undo",
    )

    def __init__(
        self,
        old: object,
        new: object,
        search: str,
        keep: tuple[str, ...],
        only: tuple[str, ...],
    ):
        """Prepare to replace `old` with `new`; nothing is searched or changed yet.

        `search` is one of SEARCHES. `keep` and `only` are patterns of paths.
        """
        self.old = old
        self.new = new
        self._search = search
        self._keep = keep
        self._only = only
        # Filled in when the block begins: the places that are rebound, and those that are not.
        self.changed: tuple[Binding, ...] = ()
        self.left: tuple[Binding, ...] = ()
        # Filled in when the block ends: places that the program itself has changed.
        self.kept: tuple[Binding, ...] = ()
        #: The names of functions whose lru_cache has results of `old`.
        self._caches: tuple[str, ...] = ()
        #: The places to restore, in the order in which they were written; empty outside the block.
        self._undo = HiddenList()

    def __repr__(self) -> str:
        """Return a line of counts, and a line for each place; one sentence before the block."""
        if not self.changed:  # the block has not been entered yet
            old = _describe_with_place(self.old)
            return f"{old} will be replaced by {_describe_with_place(self.new)}."
        rows = [f"  {row.path}" for row in self.changed]
        rows += [f"  {row.path} (left: {row.reason})" for row in self.left]
        lines = [self._describe_counts(), *rows[:MOST_ROWS]]
        if len(rows) > MOST_ROWS:
            hidden_count = len(rows) - MOST_ROWS
            lines.append(f"  … {hidden_count} more; `.changed` and `.left` contain all")
        if self.kept:
            paths = format_names([row.path for row in self.kept], MOST_NAMED)
            lines.append(f"Your code changed {paths} in the block. That was left as it is.")
        return "\n".join(lines)

    def _describe_counts(self) -> str:
        """Return the sentence on how many places were rebound, and why others were left."""
        changed_count = len(self.changed)
        left_count = len(self.left)
        reason_counts = Counter(row.reason for row in self.left)
        reasons = "; ".join(f"{count}: {reason}" for reason, count in reason_counts.items())
        left = f"{left_count} left ({reasons})" if reasons else f"{left_count} left"
        caches = ""
        if self._caches:
            caches = f" (an lru_cache on {format_names(self._caches, MOST_NAMED)})"
        total = changed_count + left_count
        subject = _describe_with_place(self.old)
        return f"{subject}: {changed_count} of {total} places rebound, {left}{UNSEEN}{caches}."

    # An error of this method shows only frames of the learner, and names the verb.
    @partial(speaks_to_users, name="rebind_everywhere")
    def __enter__(self) -> "Rebinding":
        """Find the places, and make each refer to the new object.

        If Python refuses one of the writes, the places before it are restored, and the error is
        raised.
        """
        if self._undo:
            raise RuntimeError("this rebinding is already active; make another one to nest it")
        places_to_write = self._choose_places()
        self.kept = ()
        try:
            for place in places_to_write:
                # Recorded before the write: if Ctrl-C comes in between, the place is restored, too.
                self._undo.append(place)
                place.put(self.new)
        except BaseException as error:
            # Half a rebinding is worse than none: two callers would run two functions.
            self._restore()
            error.add_note(f"in {place.binding.path}; every place refers to the original again")
            raise
        return self

    def __exit__(self, kind, error, trace) -> None:
        """Restore the old object, except where the program has written something else."""
        if not self._undo:
            raise RuntimeError("this rebinding is not active: never entered, or already left")
        self._restore()

    def _choose_places(self) -> HiddenList:
        """Return the places to write; fill in `changed`, `left` and `_caches`.

        ValueError says that there is no place to write, or that a pattern of `keep` or `only`
        matches no place.
        """
        # A cache of singledispatch may refer to the old object, and would answer with it.
        _clear_dispatch_caches()
        places = scan_modules(self.old) if self._search == "scan" else find_holders(self.old)
        if not places:
            description = describe_object(self.old)
            raise ValueError(f"no visible place holds {description}; pass an object with a name")
        require_matches((*self._keep, *self._only), places)

        needs = find_needs(self.new, self.old)
        own_part_ids = _list_own_part_ids(self.old)
        places_to_write = HiddenList()
        changed: list[Binding] = []
        left: list[Binding] = []
        for place in places:
            # The first reason to leave a place alone counts. "" says that there is none.
            reason = place.reason
            reason = reason or find_choice_reason(place, self._keep, self._only)
            reason = reason or _find_need_reason(place, own_part_ids, needs)
            if reason:
                left.append(place.build_binding(reason))
            else:
                places_to_write.append(place)
                changed.append(place.binding)
        self.changed = tuple(changed)
        self.left = tuple(left)
        self._caches = _find_filled_caches(self.old)

        if not places_to_write:
            reasons = format_names([f"{row.path} ({row.reason})" for row in left], MOST_NAMED)
            description = describe_object(self.old)
            raise ValueError(f"no place that holds {description} can be rebound: {reasons}")
        return places_to_write

    def _restore(self) -> None:
        """Restore all written places in reverse order; fill in `kept`.

        A place is restored only if it still refers to the new object.
        """
        kept: list[Binding] = []
        while self._undo:
            place = self._undo[-1]
            # If the program has moved the new object to another index of its list, find it there.
            place.update_position(self.new, self._undo[:-1])
            is_restored = False
            if place.get() is self.new:
                with suppress(Exception):  # an error here must not stop the restoring of others
                    place.put(self.old)
                    is_restored = True
            # The program may have restored the old object itself; then nothing was kept.
            if not is_restored and place.get() is not self.old:
                kept.append(place.binding)
            # Removed after the write: if Ctrl-C comes in between, the place is restored again.
            self._undo.pop()
        self.kept = tuple(reversed(kept))  # in the order in which the places were written
        _clear_dispatch_caches()


def _clear_dispatch_caches() -> None:
    """Empty the caches of all functions of `functools.singledispatch`.

    Such a cache has the results of look-ups in a registry, and fills itself again when needed.
    """
    for function in find_singledispatch_functions():
        function._clear_cache()


def _find_need_reason(place: Place, own_part_ids: set[int], needs: Needs) -> str:
    """Return why the old object or the replacement needs a place as it is; "" if neither does.

    `own_part_ids` are the ids of the old object and its parts, such as its `__dict__`. `needs` says
    through which places the replacement reaches the old object.
    """
    if id(place.container) in own_part_ids:
        return NEEDED_BY_OLD
    if needs.includes(place):
        return NEEDED_BY_NEW
    return ""


def _list_own_part_ids(old: object) -> set[int]:
    """Return the ids of an object and of the parts through which it may refer to itself.

    A recursive inner function, for example, refers to itself in a cell of its closure.
    """
    ids = {id(old), id(read_instance_dict(old))}
    if type(old) is types.FunctionType:
        ids.add(id(old.__kwdefaults__))
        ids.update(id(cell) for cell in old.__closure__ or ())
    return ids


def _find_filled_caches(old: object) -> tuple[str, ...]:
    """Return the names of the functions with an lru_cache that may hold results of `old`.

    Such a function is `old`, or uses a global name that refers to `old`. Caches without results are
    left out.
    """
    # `_lru_cache_wrapper` is the type of what `functools.lru_cache` returns.
    wrappers = [value for value in get_objects() if type(value) is _lru_cache_wrapper]
    names = set()
    for wrapper in wrappers:
        if not wrapper.cache_info().currsize:
            continue
        function = wrapper.__wrapped__
        if type(function) is not types.FunctionType:
            continue  # a callable in C uses no global names
        global_names = function.__globals__
        used_values = [global_names.get(name) for name in list_global_names(function.__code__)]
        if function is old or any(value is old for value in used_values):
            module_name = printable(function.__module__)
            names.add(f"{module_name}.{printable(function.__qualname__)}")
    return tuple(sorted(names))


def _describe_with_place(obj: object) -> str:
    """Return a few words for an object; of a Python function with its place, as "(app.py:3)"."""
    description = describe_object(obj)
    if type(obj) is not types.FunctionType:
        return description
    place = format_place(obj.__code__)
    return f"{description} ({place})" if place else description
