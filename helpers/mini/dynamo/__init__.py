"""A small Dynamo: bytecode runs on symbolic values, and becomes a graph with guards before it.

`compile(fn, backend=None)`, also `@compile`, or `with hooked(backend, only=[fn])`. Read it in this
order: symbolic_values, steps (the five decisive ones), symbolic_convert, variables, builder (where
guards are made), output_graph, codegen, resume_execution, convert_frame, cache_entry,
compiled_function, eval_frame. Guards that `==` would not do for: constant_guards, classes. What
else can be compiled than a function: callables, compiled_objects, hooked_frames.

Nothing of it is imported before a name is asked for, since all of it imports torch.
"""

import importlib

_HOMES = {
    "code": ("Code",),
    "eval_frame": ("Compiled", "compile", "eager", "entry_for", "hooked"),
    "steps": ("OPERATORS", "PARTS", "Parts", "written"),
    "symbolic_values": ("Known", "Tensor"),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str):
    """Return a name of one of the modules, which is imported now."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
