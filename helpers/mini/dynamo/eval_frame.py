"""The two doors: a decorator, and a frame hook. Mirrors torch/_dynamo/eval_frame.py."""

import functools
from types import FunctionType

import torch

from helpers.mini.dynamo.cache_entry import Entry
from helpers.mini.dynamo.callables import behind
from helpers.mini.dynamo.compiled_function import Compiled, eager
from helpers.mini.dynamo.compiled_objects import CompiledCall, CompiledModule
from helpers.mini.dynamo.convert_frame import frame_of
from helpers.mini.dynamo.hooked_frames import hooked
from helpers.mini.dynamo.steps import PARTS, Parts
from helpers.safety.arguments import kind_of, printable

__all__ = ["Compiled", "compile", "eager", "entry_for", "hooked"]


def compile(fn=None, backend=None, parts=PARTS):
    """Return `fn`, traced when it is called; also `@compile` and `@compile(backend=...)`.

    `fn`: a Python function, or a method, a partial, a module (the result is a module, too) or an
    object whose `__call__` is one. `backend(graph_module, example_inputs)` returns what runs
    instead of the graph. TypeError for anything else.
    """
    if backend is not None and not callable(backend):
        raise TypeError(f"backend must be something to call, not {kind_of(backend)}")
    if type(parts) is not Parts:
        raise TypeError(f"parts must be the five parts, such as PARTS, not {kind_of(parts)}")
    if fn is None:
        return functools.partial(compile, backend=backend, parts=parts)
    backend, kind = backend or eager, type(fn)
    if kind is FunctionType:
        return Compiled(frame_of(fn), backend, parts)
    if kind is Compiled:
        return compile(fn.fn, backend, parts)
    if kind in (staticmethod, classmethod):
        return kind(compile(fn.__func__, backend, parts))
    if kind in (CompiledCall, CompiledModule):
        return compile(fn.target, backend, parts)
    behind(fn)
    door = CompiledModule if issubclass(kind, torch.nn.Module) else CompiledCall
    return door(fn, backend, parts)


def entry_for(fn, *values) -> Entry:
    """Return the cache entry that a call of `fn` with these values makes.

    `fn` is a Python function, and `values` has one for each of its parameters.
    """
    compiled = Compiled(frame_of(fn), eager)
    names = compiled._frame.parameters
    if len(values) != len(names):
        raise TypeError(
            f"{printable(fn.__name__)} has {len(names)} parameters, and {len(values)} were given"
        )
    compiled.ready(values)
    return compiled.entries[0]
