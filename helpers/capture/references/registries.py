"""An object -> the places in which the interpreter itself keeps it, and that it can be asked for.

The collector sees none of them: signal handlers, tracers, the values of the current context.
"""

import contextvars
import signal
import sys
from collections.abc import Iterator

from ..text.value import short_name
from .places import Place


def find_registered(obj) -> Iterator[Place]:
    """Yield the places of the interpreter that hold `obj`."""
    for number in signal.valid_signals():
        if signal.getsignal(number) is obj:
            name = number.name if isinstance(number, signal.Signals) else number
            yield _place(signal, "signal", f"getsignal({name})")
    for reader in (sys.gettrace, sys.getprofile):
        if reader() is obj:
            yield _place(sys, "sys", f"{reader.__name__}()")
    for name, hook in zip(("firstiter", "finalizer"), sys.get_asyncgen_hooks(), strict=True):
        if hook is obj:
            yield _place(sys, "sys", f"get_asyncgen_hooks().{name}")
    for variable, value in contextvars.copy_context().items():
        if value is obj:
            name = short_name(variable.name)
            yield _place(variable, "contextvars", f"copy_context()[{name}]")


def is_part_of_context(place: Place) -> bool:
    """Return whether a place is in the tree of the current context, which is asked itself."""
    return any(owner.startswith("a hamt") for owner in place.owners)


def _place(container, owner: str, name: str) -> Place:
    place = Place("C-level holder", container, name)
    place.owners = (owner,)
    return place
