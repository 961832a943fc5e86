"""The backend of a call and those of cache entries -> which entries torch refuses because of it.

Torch compares the backend before it checks a guard: an entry is for the backend that made it.
"""

from collections.abc import Sequence

from ...model.guard_failures import Failure
from ..cpython.objects import read_instance_dict
from .lookup import NeedsUsersCode, is_from_torch, require_plain

OTHER_BACKEND = "the backend is different"
ONLY_BACKEND = f"the guards hold, but {OTHER_BACKEND}"
UNKNOWN_BACKEND = "unknown whether the backend is the same, as only its own __eq__ could tell"


def add_backend_failures(
    failures: Sequence[tuple[Failure, ...]], backends: Sequence, backend
) -> list[tuple[Failure, ...]]:
    """Return the failures of each cache entry, with another backend in front of the guards.

    Parameters
    ----------
    failures : sequence of tuple of Failure
        For each entry, the guards that fail.
    backends : sequence
        For each entry, the backend that made it.
    backend : callable
        The backend of the call.
    """
    found = []
    pairs = zip(failures, backends, strict=True)
    for number, (guard_failures, entry_backend) in enumerate(pairs, start=1):
        is_same = is_same_backend(entry_backend, backend)
        if is_same:
            found.append((*guard_failures,))
            continue
        if is_same is None:
            sentence = UNKNOWN_BACKEND
        else:
            sentence = OTHER_BACKEND if guard_failures else ONLY_BACKEND
        failure = Failure(entry=number, source="", kind="BACKEND_MATCH", checks=sentence)
        found.append((failure, *guard_failures))
    return found


def is_same_backend(entry_backend, backend) -> bool | None:
    """Return whether torch takes two backends for the same; None if only user code can tell.

    Torch compares them by `==`, which may be an `__eq__` of the user's.
    """
    if entry_backend is backend:
        return True
    try:
        for candidate in (entry_backend, backend):
            require_plain(candidate)
            # An object of torch's is often around the backend. It compares what it contains.
            if is_from_torch(type(candidate)):
                require_plain(read_instance_dict(candidate))
    except NeedsUsersCode:
        return None
    return type(entry_backend) is type(backend) and entry_backend == backend
