"""The backend of a call -> a record for each cache entry that was made by another backend.

A backend is what `torch.compile(fn, backend=…)` names. Torch uses a cache entry only for calls with
the backend that made it, and compares the backends before it checks a guard.
"""

from collections.abc import Sequence

from ...model.guard_failures import Failure
from ..cpython.objects import read_instance_dict
from .lookup import NeedsUsersCode, is_from_torch, require_safe_operand

OTHER_BACKEND = "the backend is different"
ONLY_BACKEND = f"the guards hold, but {OTHER_BACKEND}"
UNKNOWN_BACKEND = "unknown whether the backend is the same, as only its own __eq__ could tell"


def add_backend_failures(
    failures: Sequence[tuple[Failure, ...]], backends: Sequence, backend
) -> list[tuple[Failure, ...]]:
    """Return the failures of each cache entry, with one for the backend in front if it differs.

    Parameters
    ----------
    failures : sequence of tuple of Failure
        For each entry, the guards that fail.
    backends : sequence
        For each entry, the backend that made it.
    backend : callable
        The backend of the call.
    """
    failures_with_backends = []
    pairs = zip(failures, backends, strict=True)
    for entry_number, (guard_failures, entry_backend) in enumerate(pairs, start=1):
        is_same = is_same_backend(entry_backend, backend)
        if is_same:
            failures_with_backends.append((*guard_failures,))
            continue
        if is_same is None:  # it cannot be told
            sentence = UNKNOWN_BACKEND
        elif guard_failures:
            sentence = OTHER_BACKEND
        else:  # all guards of the entry hold, so the backend is the only reason
            sentence = ONLY_BACKEND
        failure = Failure(entry=entry_number, source="", kind="BACKEND_MATCH", checks=sentence)
        failures_with_backends.append((failure, *guard_failures))
    return failures_with_backends


def is_same_backend(entry_backend, backend) -> bool | None:
    """Return whether torch takes two backends for the same.

    Return None if only the user's code can tell. Torch compares backends by `==`, which may call an
    `__eq__` of the user's.
    """
    if entry_backend is backend:
        return True
    try:
        for candidate in (entry_backend, backend):
            require_safe_operand(candidate)
            # Torch often puts an object of its own around a backend. The `__eq__` of that object
            # compares its attributes, so these must be safe to compare, too.
            if is_from_torch(type(candidate)):
                require_safe_operand(read_instance_dict(candidate))
    except NeedsUsersCode:
        return None
    return type(entry_backend) is type(backend) and entry_backend == backend
