"""A small Dynamo: bytecode runs on symbolic values, and becomes a graph with guards before it.

`compile(fn, backend=None)`, also `@compile`, or `with hooked(backend, only=[fn])`. Read it in this
order: symbolic_values, parts (the five decisive ones), symbolic_convert, variables, trace_rules,
builder (where guards are made), output_graph, resume_execution, convert_frame, eval_frame.

Nothing of it is imported before a name is asked for, since all of it imports torch.
"""

import importlib

_HOMES = {
    "eval_frame": ("Compiled", "compile", "eager", "entry_for", "hooked"),
    "parts": ("OPERATORS", "PARTS", "Parts", "written"),
    "resume_execution": ("Code",),
    "symbolic_values": ("Known", "Tensor"),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str):
    """Return what this package offers under a name; its module is imported now."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
