"""A cache entry and the locals of a call -> which of the entry's guards the call fails.

Torch checks the guards in order, and stops at the first that fails. Torch's own answer says which
guard that is. The other guards are then asked one by one, except those that would run the user's
code.
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

# In a frame of torch's own wrapper, the sources that say what the wrapper calls.
SOURCES_OF_WRAPPED = ("L['fn']", "L['fn'].__self__", "L['fn'].__func__.__code__")
# tensor 'x' dtype mismatch. expected Float, actual Double
TENSOR_MISMATCH = re.compile(r"tensor '(.*?)' (.*)", re.DOTALL)
# 0/1: …, before torch's reason for a recompile
ENTRY_NUMBER = re.compile(r"^\d+/\d+: ")


# ------------------------------------------------------------------ all guards of a call


def find_first_failure(number: int, entry, fn: FunctionType, frame_locals: dict) -> Failure | None:
    """Return the guard that torch finds failing first, or None if all guards hold.

    Parameters
    ----------
    number : int
        The number of the cache entry, from 1, for the record.
    entry : torch's cache entry
        The entry whose guards are asked.
    fn : function
        The function that Dynamo starts with.
    frame_locals : dict
        The locals of the call, by name.
    """
    scope = {"L": frame_locals, "G": fn.__globals__}
    failures = EntryCheck(number, entry, scope).list_failures(only_first=True)
    return failures[0] if failures else None


def list_failures(
    entries: Sequence, global_values: dict, frame_locals: dict
) -> list[tuple[Failure, ...]]:
    """Return for each cache entry the guards that fail, the one that torch finds first in front.

    `global_values` and `frame_locals` are the globals and the locals of the call, by name.
    """
    scope = {"L": frame_locals, "G": global_values}
    return [
        EntryCheck(number, entry, scope).list_failures()
        for number, entry in enumerate(entries, start=1)
    ]


def list_failing_guards(
    number: int, entry, fn: FunctionType, frame_locals: dict
) -> tuple[Guard, ...]:
    """Return every guard of cache entry `number` that fails, each asked by itself.

    `fn` is the function that Dynamo starts with, and `frame_locals` are the locals of the call.
    """
    answer = entry.guard_manager.root.check_verbose(frame_locals)
    if answer.result:
        return ()
    scope = {"L": frame_locals, "G": fn.__globals__}
    torchs_text = " ".join(answer.verbose_code_parts)
    guards = [
        leaf.to_record(number)
        for leaf in list_leaf_guards(entry)
        if is_failing(leaf, scope, torchs_text)
    ]
    return tuple(dict.fromkeys(guards))  # a guard between two values hangs on both


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
    """Return whether the guards of a cache entry accept what torch's wrapper calls."""
    for leaf in list_leaf_guards(entry):
        if leaf.source in SOURCES_OF_WRAPPED and is_failing(leaf, scope):
            return False
    return True


def explain_recompile(
    entries: Sequence, frame, torchs_reasons: Sequence[str] = (), backend=MISSING
) -> tuple[str, ...]:
    """Return in lines which guards of the cache entries make Dynamo compile a frame once more.

    Parameters
    ----------
    entries : sequence
        The cache entries that Dynamo has tried.
    frame : frame
        The frame that Dynamo compiles.
    torchs_reasons : sequence of str
        What torch says itself. It is quoted where nothing else can be said.
    backend : callable
        The backend of this call; MISSING if it is not known.
    """
    lines = explain_failures(_list_frame_failures(entries, frame, backend))
    if not lines:
        # The first line of each reason; what follows is how to see more of it.
        reasons = [ENTRY_NUMBER.sub("", reason).split("\n")[0] for reason in torchs_reasons]
        lines = tuple(dict.fromkeys(quote_torch(reason) for reason in reasons))
    if not compiled_functions.is_inline_wrapper(frame.f_code):
        return lines
    return tuple(use_users_names_of_frame(line, frame.f_code, frame.f_locals) for line in lines)


def _list_frame_failures(entries: Sequence, frame, backend) -> list[tuple[Failure, ...]]:
    """Return for each live cache entry why it refuses a frame; empty if that cannot be said."""
    live_entries = select_live_entries(entries)
    scope = {"L": frame.f_locals, "G": frame.f_globals}
    try:
        if any(would_run_users_code(entry, scope) for entry in live_entries):
            return []
        failures = list_failures(live_entries, scope["G"], scope["L"])
        if failures and backend is not MISSING:
            backends = [entry.backend for entry in live_entries]
            failures = add_backend_failures(failures, backends, backend)
    except Exception:  # a value of the user's that raises where it is looked at
        return []
    return failures


# ------------------------------------------------------------------ one cache entry


class EntryCheck:
    """One cache entry, checked for one call."""

    def __init__(self, number: int, entry, scope: dict):
        """Ask torch whether an entry accepts a call.

        Parameters
        ----------
        number : int
            The number of the cache entry, from 1, for the records.
        entry : torch's cache entry
            The entry whose guards are asked.
        scope : dict
            `L` and `G`, the locals and globals of the call.
        """
        self._number = number
        self._entry = entry
        self._scope = scope
        #: what torch says: `result`, and the texts of the guard that fails first
        self._answer = entry.guard_manager.root.check_verbose(scope["L"])

    def list_failures(self, only_first: bool = False) -> tuple[Failure, ...]:
        """Return the guards that fail, the one that torch finds first in front.

        The tuple is empty if the entry accepts the call. With `only_first`, the other guards are
        not asked.
        """
        if self._answer.result:
            return ()
        leaves = list_leaf_guards(self._entry)
        reason = self._find_reason()
        first_leaf = self._find_first_leaf(leaves, reason.part)
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

        A guard on several sizes has several parts. The first that does not hold is the reason.
        """
        parts = list(self._answer.verbose_code_parts) or [""]
        failed_parts = (part for part in parts if evaluate_part(part, self._scope) is False)
        part = next(failed_parts, parts[0])
        match = TENSOR_MISMATCH.match(part)
        if match:
            return TorchsReason(part=part, mismatch=remove_ids(match[2]))
        return TorchsReason(part=part)

    def _find_first_leaf(self, leaves: list[LeafGuard], part: str) -> LeafGuard | None:
        """Return the guard of which torch says `part`, or None if a node refuses the call."""
        match = TENSOR_MISMATCH.match(part)
        if match:
            return _find_tensor_leaf(leaves, match[1])
        for leaf in leaves:
            if part in leaf.parts:
                return leaf
        failing_leaves = (leaf for leaf in leaves if is_failing(leaf, self._scope, part))
        return next(failing_leaves, None)

    def _list_other_failures(
        self, leaves: list[LeafGuard], first_leaf: LeafGuard | None, reason: TorchsReason
    ) -> list[Failure]:
        """Return the failures besides the first: of other leaves, and of nodes for dicts."""
        failures = []
        refused_sources = set()
        if first_leaf is not None:
            refused_sources.add(first_leaf.source)
        for leaf in leaves:
            if leaf != first_leaf and is_failing(leaf, self._scope, reason.part):
                failures += build_leaf_failures(self._number, leaf, self._scope, TorchsReason())
                refused_sources.add(leaf.source)
        failures += list_dict_failures(self._number, self._entry, self._scope, refused_sources)
        return failures


def _find_tensor_leaf(leaves: list[LeafGuard], name: str) -> LeafGuard | None:
    """Return the guard on the tensor that torch names in a mismatch, or None."""
    # Torch writes a local without `L`.
    source = format_source(f"L['{name}']" if name.isidentifier() else name)
    for leaf in leaves:
        if leaf.kind == TENSOR_MATCH and format_source(leaf.source) == source:
            return leaf
    return None
