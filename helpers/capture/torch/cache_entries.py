"""What torch.compile made -> the Python function behind it, its cache entries, its frame's locals.

The entries hang on the function's code object (torch/csrc/dynamo/extra_state.cpp).
"""

import functools
import inspect
import re
from types import CodeType, FunctionType, MethodType

from helpers.capture.cpython.objects import instance_dict
from helpers.capture.text.function_suggestions import instead
from helpers.capture.text.value import brief
from helpers.internals import torch_private


def python_function(fn) -> FunctionType:
    """Return the Python function behind a compiled or watched one. TypeError if there is none."""
    for _ in range(10):  # watched, then compiled, then bound
        inner = torch_private.inner_function(watched(fn))
        inner = inner.__func__ if type(inner) is MethodType else inner
        if inner is fn:
            break
        fn = inner
    if type(fn) is not FunctionType:
        raise TypeError(
            f"a Python function is needed, or what torch.compile made of one, not {brief(fn)}"
            f"{instead(fn) or '; of an nn.Module, give its forward'}"
        )
    return fn


def watched(fn):
    """Return the function behind a ledger, or an exhibit of one; anything else as given."""
    if type(fn) is FunctionType:
        return fn
    inside = instance_dict(fn) or {}
    found = inside.get("compiled_function")
    if found is None:
        found = (instance_dict(inside.get("_source")) or {}).get("compiled_function")
    return found if type(found) is FunctionType else fn


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
