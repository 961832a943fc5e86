"""A function that torch.compile was given -> its cache entries, its frame's locals, a copy of it.

The entries hang on the function's code object (torch/csrc/dynamo/extra_state.cpp).
"""

import functools
import inspect
import re
from types import CodeType, FunctionType, MethodType

from helpers.internals import torch_private


def entries(code: CodeType) -> list:
    """Return the live cache entries of a code object, in the order in which they were compiled."""
    live = [e for e in torch_private.cache_entries(code) if hasattr(e.guard_manager, "root")]
    return sorted(live, key=lambda entry: _compiled_as(entry.compile_id))


def _compiled_as(compile_id) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", str(compile_id)))


def own_signature(fn: FunctionType) -> inspect.Signature:
    """Return the signature of the code itself: no `__wrapped__` and no `__signature__` is asked."""
    bare = FunctionType(fn.__code__, {}, "bare", fn.__defaults__, fn.__closure__)
    bare.__kwdefaults__ = fn.__kwdefaults__
    return inspect.signature(bare)


def frame_locals(fn, args, kwargs) -> dict:
    """Return what a frame of `fn` would see as its locals at the start: arguments, closure."""
    bound = own_signature(fn).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments) | closure_values(fn)


def closure_values(fn) -> dict:
    """Return what the closure of a function holds now, by name; an empty cell is left out."""
    seen = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            seen[name] = cell.cell_contents
        except ValueError:
            continue
    return seen


def accepts(entry, seen: dict) -> bool:
    """Return whether a cache entry's guards all hold for these locals, as torch says."""
    return bool(entry.guard_manager.root.check(seen))


def copied(fn):
    """Return a function or a method as a copy with a code object of its own: an empty cache."""
    if type(fn) is MethodType:
        return MethodType(copied(fn.__func__), fn.__self__)
    code = fn.__code__.replace()
    made = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__kwdefaults__ = fn.__kwdefaults__
    functools.update_wrapper(made, fn, updated=())
    made.__dict__ = {name: fn.__dict__[name] for name in ("__wrapped__",) if name in fn.__dict__}
    return made
