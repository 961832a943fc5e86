"""A cache entry and the locals of a call -> a record for each guard of the entry that fails.

Torch checks the guards of an entry in order, and stops at the first that fails. Torch's answer has
the text of that guard. The other guards are then checked one by one, except those that would run
the user's code. In most functions, `scope` is `{"L": locals, "G": globals}` of the call, because
torch's texts have the form `L['x']` and `G['RATE']`.
"""

import re
from collections.abc import Sequence
from types import FunctionType

from ...internals import compiled_functions
from ...model.guard_failures import Failure, explain_failures
from ...model.guard_records import Guard
from .backend_failures import add_backend_failures
from .cache_entries import read_cache_entries, select_live_entries
from .failure_words import TorchsReason
from .frame_arguments import read_closure
from .frame_words import use_users_names_of_frame
from .guard_leaves import LeafGuard, evaluate_part, list_leaf_guards
from .guard_side_effects import would_run_users_code
from .guard_words import (
    TENSOR_MATCH,
    format_source,
    quote_torch,
    remove_ids,
)
from .leaf_failures import build_leaf_failures, is_failing
from .lookup import MISSING
from .node_checks import build_node_failure, list_dict_failures

# Torch's own wrapper calls its variable `fn`. These are the sources that guards on it look at.
SOURCES_OF_WRAPPED = ("L['fn']", "L['fn'].__self__", "L['fn'].__func__.__code__")
# tensor 'x' dtype mismatch. expected Float, actual Double
TENSOR_MISMATCH = re.compile(r"tensor '(.*?)' (.*)", re.DOTALL)
# 0/1: …, before torch's reason for a recompile
ENTRY_NUMBER = re.compile(r"^\d+/\d+: ")


# ------------------------------------------------------------------ all guards of a call


def find_first_failure(
    entry_number: int, entry, fn: FunctionType, frame_locals: dict
) -> Failure | None:
    """Return a record of the guard that torch finds failing first, or None if all guards hold.

    Parameters
    ----------
    entry_number : int
        The number of the cache entry, from 1, for the record.
    entry : torch's cache entry
        The entry whose guards are asked.
    fn : function
        The function that Dynamo starts with.
    frame_locals : dict
        The locals of the call, by name.
    """
    scope = {"L": frame_locals, "G": fn.__globals__}
    failures = EntryCheck(entry_number, entry, scope).list_failures(only_first=True)
    return failures[0] if failures else None


def list_failures(
    entries: Sequence, global_values: dict, frame_locals: dict
) -> list[tuple[Failure, ...]]:
    """Return a tuple for each cache entry: records of its guards that fail.

    In each tuple, the guard that torch finds first is in front. The tuple of an entry that accepts
    the call is empty. `global_values` and `frame_locals` are the globals and the locals of the
    call, by name.
    """
    scope = {"L": frame_locals, "G": global_values}
    return [
        EntryCheck(entry_number, entry, scope).list_failures()
        for entry_number, entry in enumerate(entries, start=1)
    ]


def list_failing_guards(
    entry_number: int, entry, fn: FunctionType, frame_locals: dict
) -> tuple[Guard, ...]:
    """Return every guard of a cache entry that fails; an empty tuple if torch accepts the call.

    Each guard is checked by itself.

    Parameters
    ----------
    entry_number : int
        The number of the cache entry, from 1, for the records.
    entry : torch's cache entry
        The entry.
    fn : function
        The function that Dynamo starts with.
    frame_locals : dict
        The locals of the call, by name.
    """
    answer = entry.guard_manager.root.check_verbose(frame_locals)
    if answer.result:
        return ()
    scope = {"L": frame_locals, "G": fn.__globals__}
    torchs_text = " ".join(answer.verbose_code_parts)
    guards = [
        leaf.to_record(entry_number)
        for leaf in list_leaf_guards(entry)
        if is_failing(leaf, scope, torchs_text)
    ]
    # Torch lists a guard between two values once for each value. Its record is kept once.
    return tuple(dict.fromkeys(guards))


def find_entries_for(fn: FunctionType) -> list:
    """Return the live cache entries that Dynamo made for calls of `fn`.

    Torch puts the same wrapper around each callable that Dynamo cannot start with, so all of them
    share one cache. If `fn` is such a wrapper, only those entries are returned whose guards accept
    what `fn` calls: the same function, or an object of the same class.
    """
    entries = read_cache_entries(fn.__code__)
    if not compiled_functions.is_inline_wrapper(fn.__code__):
        return entries
    scope = {"L": read_closure(fn), "G": fn.__globals__}
    return [entry for entry in entries if _is_for_wrapped(entry, scope)]


def _is_for_wrapped(entry, scope: dict) -> bool:
    """Return whether the guards of a cache entry accept the callable inside torch's wrapper.

    `scope` has the wrapper's variables under `L` and its globals under `G`.
    """
    for leaf in list_leaf_guards(entry):
        if leaf.source in SOURCES_OF_WRAPPED and is_failing(leaf, scope):
            return False
    return True


def explain_recompile(
    entries: Sequence, frame, torchs_reasons: Sequence[str] = (), backend=MISSING
) -> tuple[str, ...]:
    """Return lines on the guards that refused a frame, so that Dynamo compiles it once more.

    Parameters
    ----------
    entries : sequence
        The cache entries that Dynamo has tried.
    frame : frame
        The frame that Dynamo compiles.
    torchs_reasons : sequence of str
        Torch's own texts, such as `0/1: L['n'] == 2`. They are quoted if the guards cannot be
        checked here.
    backend : callable
        The backend of this call; MISSING if it is not known.
    """
    lines = explain_failures(_list_frame_failures(entries, frame, backend))
    if not lines:
        # Only the first line of each text is quoted. The others are hints on how to log more.
        reasons = [ENTRY_NUMBER.sub("", reason).split("\n")[0] for reason in torchs_reasons]
        lines = tuple(dict.fromkeys(quote_torch(reason) for reason in reasons))
    if not compiled_functions.is_inline_wrapper(frame.f_code):
        return lines
    return tuple(use_users_names_of_frame(line, frame.f_code, frame.f_locals) for line in lines)


def _list_frame_failures(entries: Sequence, frame, backend) -> list[tuple[Failure, ...]]:
    """Return a tuple for each live cache entry: records of what makes it refuse a frame.

    The list is empty if the guards cannot be checked without running the user's code.
    """
    live_entries = select_live_entries(entries)
    scope = {"L": frame.f_locals, "G": frame.f_globals}
    try:
        if any(would_run_users_code(entry, scope) for entry in live_entries):
            return []
        failures = list_failures(live_entries, scope["G"], scope["L"])
        if failures and backend is not MISSING:
            backends = [entry.backend for entry in live_entries]
            failures = add_backend_failures(failures, backends, backend)
    except Exception:  # an object of the user's may raise when it is looked at
        return []
    return failures


# ------------------------------------------------------------------ one cache entry


class EntryCheck:
    """A check of one cache entry for one call: which guards fail, and why."""

    def __init__(self, entry_number: int, entry, scope: dict):
        """Ask torch whether an entry accepts a call, and store torch's answer.

        Parameters
        ----------
        entry_number : int
            The number of the cache entry, from 1, for the records.
        entry : torch's cache entry
            The entry whose guards are asked.
        scope : dict
            `L` and `G`, the locals and globals of the call.
        """
        self._number = entry_number
        self._entry = entry
        self._scope = scope
        #: torch's answer: `result` is whether all guards hold, and `verbose_code_parts` are the
        #: texts of the guard that fails first
        self._answer = entry.guard_manager.root.check_verbose(scope["L"])

    def list_failures(self, only_first: bool = False) -> tuple[Failure, ...]:
        """Return records of the guards that fail, the one that torch finds first in front.

        The tuple is empty if the entry accepts the call. With `only_first`, the other guards are
        not checked.
        """
        if self._answer.result:
            return ()
        leaves = list_leaf_guards(self._entry)
        reason = self._find_reason()
        first_leaf = self._find_first_leaf(leaves, reason.part)
        # Some checks are no leaf guards: a node of the tree itself checks the size of a dict.
        if first_leaf is None:
            failure = build_node_failure(self._number, reason.part, self._entry, self._scope)
            failures = [failure]
        else:
            failures = build_leaf_failures(self._number, first_leaf, self._scope, reason)
        if not only_first:
            failures += self._list_other_failures(leaves, first_leaf, reason)
        return tuple(dict.fromkeys(failures))

    def _find_reason(self) -> TorchsReason:
        """Return what torch says of the guard that fails first.

        One guard checks all sizes, and has a text for each check. Torch lists all these texts. The
        reason is the first check that does not hold.
        """
        parts = list(self._answer.verbose_code_parts) or [""]
        failed_parts = (part for part in parts if evaluate_part(part, self._scope) is False)
        part = next(failed_parts, parts[0])
        # For a tensor, torch writes a sentence instead of the text of the guard.
        match = TENSOR_MISMATCH.match(part)
        if match:
            _, mismatch = match.groups()
            return TorchsReason(part=part, mismatch=remove_ids(mismatch))
        return TorchsReason(part=part)

    def _find_first_leaf(self, leaves: list[LeafGuard], part: str) -> LeafGuard | None:
        """Return the leaf guard that torch's text `part` is about, or None if there is none."""
        match = TENSOR_MISMATCH.match(part)
        if match:
            return _find_tensor_leaf(leaves, match[1])
        for leaf in leaves:
            if part in leaf.parts:
                return leaf
        # The text is of another form. Then it is the first leaf guard that fails.
        failing_leaves = (leaf for leaf in leaves if is_failing(leaf, self._scope, part))
        return next(failing_leaves, None)

    def _list_other_failures(
        self, leaves: list[LeafGuard], first_leaf: LeafGuard | None, reason: TorchsReason
    ) -> list[Failure]:
        """Return records of all failures but the first.

        They come from the other leaf guards, and from nodes of the tree that check a dict.
        """
        failures = []
        refused_sources = set()  # such as "L['d']": torch does not look below such a value
        if first_leaf is not None:
            refused_sources.add(first_leaf.source)
        for leaf in leaves:
            if leaf != first_leaf and is_failing(leaf, self._scope, reason.part):
                failures += build_leaf_failures(self._number, leaf, self._scope, TorchsReason())
                refused_sources.add(leaf.source)
        failures += list_dict_failures(self._number, self._entry, self._scope, refused_sources)
        return failures


def _find_tensor_leaf(leaves: list[LeafGuard], name: str) -> LeafGuard | None:
    """Return the guard on a tensor, found by the tensor's name, or None.

    `name` is torch's name in a sentence on a mismatch: `x` for a local, otherwise a source such as
    `G['W']`.
    """
    source = format_source(f"L['{name}']" if name.isidentifier() else name)
    for leaf in leaves:
        if leaf.kind == TENSOR_MATCH and format_source(leaf.source) == source:
            return leaf
    return None
