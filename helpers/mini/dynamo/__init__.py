"""A small Dynamo: bytecode runs on symbolic values, and becomes a graph with guards before it.

`compile(fn, backend=None)`, also `@compile`, or `with hooked(backend, only=[fn])`. Read it in this
order: values, parts (the five decisive parts), interpreter, calls, tracing, output, resume,
compiling, entries, functions, doors. Guards that `==` would not do for: constants, classes. What
else can be compiled than a function: callables, others, hooking.

Nothing of it is imported before a name is asked for: `torch_private` lives here too, and whoever
imports that must not import torch.
"""

import importlib

_HOMES = {
    "code": ("Code",),
    "doors": ("Compiled", "compile", "eager", "entry_for", "hooked"),
    "parts": ("OPERATORS", "PARTS", "Parts", "written"),
    "values": ("Known", "Tensor"),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str):
    """Return a name of one of the modules, which is imported now."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
