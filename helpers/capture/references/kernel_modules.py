"""A running kernel's own modules -> a builtin as it was, while all others see its replacement.

The kernel's threads call builtins at any moment: the IOPub thread of ipykernel/iostream.py sends
what is printed, through zmq, tornado and asyncio. An error in there ends the thread, and with it
the kernel's answers. A name in a module's dict is found before the builtin, so the modules that
these threads run in get one of that name, for as long as the builtin is another one. They are the
standard library's, and those of the packages that ipykernel requires.
"""

import builtins
import re
import sys
import types
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata

from helpers.capture.cpython.objects import class_mapping, namespace
from helpers.capture.references.heap import Shelf, listed_modules
from helpers.capture.references.named_places import ModuleName
from helpers.safety.arguments import is_a
from helpers.safety.original_builtins import BUILTINS, Own

__builtins__ = BUILTINS

REASON = "the kernel's own machinery relies on it"
OWN = frozenset(
    ("IPython", "asyncio", "comm", "ipykernel", "jupyter_client", "selectors", "threading")
    + ("tornado", "traitlets", "zmq")
)
WRITES = frozenset(("json",))  # what the kernel writes its messages with
# Imported by the kernel when it first sends much (zmq's thread) or first shows an error.
LATE = ("zmq.utils.garbage", "stack_data", "executing.executing", "pygments.formatters.terminal256")

# Looked up in the frame's builtins alone (Python/ceval.c: import_name, LOAD_BUILD_CLASS).
NO_SHIELD = frozenset(("__import__", "__build_class__"))

_BUILTINS = vars(builtins)
_SHIELDS = Shelf()


class Shield(Own):
    """One builtin, and the dicts of the modules that have it under its name meanwhile."""

    __slots__ = ("name", "old", "spaces", "keys")

    def __init__(self, name: str, old, spaces):
        self.name, self.old, self.spaces = name, old, Shelf(spaces)
        self.keys = frozenset(map(id, spaces))


def is_machinery(home: dict) -> bool:
    """Return whether this is the dict of one of the own modules of a kernel that runs here."""
    return _is_of(home, OWN) and _kernel_runs()


def is_run_by_the_kernel(home: dict) -> bool:
    """Return whether other code in this module's functions would end the answers of a kernel."""
    return _is_of(home, OWN | WRITES) and _kernel_runs()


def cannot_be_shielded(place) -> bool:
    """Return whether the kernel that runs here would meet a replacement at this place."""
    return _is_builtin(place) and place.name in NO_SHIELD and _kernel_runs()


def shield(places) -> int:
    """Give the kernel's modules each builtin among these places; return how many modules keep it.

    Nothing is to be done where no kernel runs.
    """
    names = [place.name for place in places if _is_builtin(place)]
    if not names or not _kernel_runs():
        return 0
    for late in LATE:  # they would come without a shield
        with suppress(ImportError):
            import_module(late)
    every = [namespace(module) for _, module in listed_modules().values()]
    spaces = [space for space in every if _is_of(space, _serving())]
    for name in names:
        if all(one.name != name for one in _SHIELDS):
            one = Shield(name, _BUILTINS[name], [space for space in spaces if name not in space])
            _SHIELDS.append(one)
            for space in one.spaces:
                space[name] = one.old
    return len(spaces)


@cache
def _serving() -> frozenset:
    """Return the packages that a kernel runs in: the standard library, and what ipykernel needs."""
    needed, waiting = set(), ["ipykernel"]
    while waiting:
        name = re.split(r"[^\w.-]", waiting.pop(), maxsplit=1)[0].lower().replace("_", "-")
        with suppress(metadata.PackageNotFoundError):
            if name not in needed:
                waiting += [r for r in metadata.requires(name) or () if "extra ==" not in r]
                needed.add(name)
    known = metadata.packages_distributions().items()
    found = {p for p, dists in known if any(d.lower().replace("_", "-") in needed for d in dists)}
    return sys.stdlib_module_names | OWN | found


def unshield() -> None:
    """Take the names away again of those builtins that are back."""
    for one in list(_SHIELDS):
        if _BUILTINS.get(one.name) is one.old:
            for space in one.spaces:
                if space.get(one.name) is one.old:
                    del space[one.name]
            _SHIELDS.remove(one)


def is_shield(place) -> bool:
    """Return whether a place is one that a shield has made."""
    key, name = id(place.container), place.name
    return any(key in one.keys and name == one.name for one in _SHIELDS)


def _is_builtin(place) -> bool:
    return type(place) is ModuleName and place.module is builtins


def _is_of(home: dict, packages: frozenset) -> bool:
    name = dict.get(home, "__name__")
    return type(name) is str and name.partition(".")[0] in packages


def _kernel_runs() -> bool:
    module = sys.modules.get("ipykernel.kernelapp")
    if not is_a(module, types.ModuleType):
        return False
    app = dict.get(namespace(module), "IPKernelApp")
    return is_a(app, type) and class_mapping(app).get("_instance") is not None
