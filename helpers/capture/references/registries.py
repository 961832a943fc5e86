"""Find an object in the registries of the interpreter: signal handlers, the tracer and the profiler
of the thread, hooks of async generators, and the values of context variables. The garbage collector
sees none of them. Each is reported as a Place, whose name is the call that returns the object.
"""

import contextvars
import signal
import sys
from collections.abc import Iterator

from ..text.value import format_name
from .places import Place


def find_registered(obj: object) -> Iterator[Place]:
    """Yield a Place for each registry of the interpreter that has `obj`.

    Its name is the call that returns the object, such as `signal.getsignal(SIGINT)`.
    """
    for number in signal.valid_signals():
        if signal.getsignal(number) is obj:
            # A real-time signal has a number and no name.
            name = number.name if isinstance(number, signal.Signals) else number
            yield _build_place(signal, owner="signal", name=f"getsignal({name})")

    for reader in (sys.gettrace, sys.getprofile):
        if reader() is obj:
            yield _build_place(sys, owner="sys", name=f"{reader.__name__}()")

    for name, hook in zip(("firstiter", "finalizer"), sys.get_asyncgen_hooks(), strict=True):
        if hook is obj:
            yield _build_place(sys, owner="sys", name=f"get_asyncgen_hooks().{name}")

    for variable, value in contextvars.copy_context().items():
        if value is obj:
            name = f"copy_context()[{format_name(variable.name)}]"
            yield _build_place(variable, owner="contextvars", name=name)


def is_part_of_context(place: Place) -> bool:
    """Return whether a place is in the tree in which CPython stores the values of a context.

    The nodes of this tree have types like `hamt` (Python/hamt.c). Such a place is left out of
    tables, because `find_registered` reports the same value by the name of its context variable.
    """
    return any(owner.startswith("a hamt") for owner in place.owners)


def _build_place(container: object, owner: str, name: str) -> Place:
    """Return a place in C; `owner` and `name` together are the call that reads it."""
    place = Place("C-level holder", container, name)
    place.owners = (owner,)
    return place
