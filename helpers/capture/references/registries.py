"""An object -> the places in which the interpreter itself keeps it, and that it can be asked for.

The collector sees none of them: signal handlers, tracers, the values of the current context.
"""

import contextvars
import signal
import sys
from collections.abc import Iterator

from ..text.value import format_name
from .places import Place


def find_registered(obj: object) -> Iterator[Place]:
    """Yield the places of the interpreter that hold `obj`."""
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
    """Return whether a place is in the tree that has the values of the current context.

    Its nodes are of the types `hamt…` (Python/hamt.c). `find_registered` asks the context itself.
    """
    return any(owner.startswith("a hamt") for owner in place.owners)


def _build_place(container: object, owner: str, name: str) -> Place:
    """Return a place in C; `owner` and `name` together are the call that reads it."""
    place = Place("C-level holder", container, name)
    place.owners = (owner,)
    return place
