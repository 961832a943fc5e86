"""What can be called -> the Python function behind it, and the arguments that it brings along.

Methods, partials, modules and objects with a `__call__` are looked through without running any code
of theirs. Mirrors `_TorchDynamoContext.__call__` in torch/_dynamo/eval_frame.py.
"""

import functools
from dataclasses import dataclass, field
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo import global_state
from helpers.mini.dynamo.classes import found
from helpers.safety.arguments import kind_of

LAYERS = 50  # a partial of a method of a partial …
TAKEN = "a Python function, or a method, a partial, a module or an object whose call is one"


class Door:
    """What is called in place of its `target`, and traces it."""


@dataclass(frozen=True)
class Behind:
    """A Python function, and what a call puts before and beside its arguments.

    `plainly` says why the target has to be called as it is, where it has to.
    """

    fn: FunctionType
    first: tuple = ()
    named: dict = field(default_factory=dict)
    plainly: str = ""


def behind(target) -> Behind:
    """Return what a call of `target` comes down to now; TypeError if that is no Python function."""
    first, named, why, at = (), {}, "", target
    for _ in range(LAYERS):
        kind = type(at)
        if kind is FunctionType:
            return Behind(at, first, named, why)
        if kind is MethodType:
            first, at = (at.__self__, *first), at.__func__
        elif kind is functools.partial:
            first, named, at = (*at.args, *first), {**at.keywords, **named}, at.func
        elif issubclass(kind, Door):
            at = at.target
        elif issubclass(kind, torch.nn.Module):
            why = why or _why_not_forward(at)
            first, at = (at, *first), found(kind, "forward")
        elif type(call := found(kind, "__call__")) is FunctionType and not issubclass(kind, type):
            first, at = (at, *first), call
        else:
            of = "" if at is target else f", which is behind this {kind_of(target)}"
            raise TypeError(f"compile needs {TAKEN}, not {kind_of(at)}{of}")
    raise TypeError(f"compile needs {TAKEN}, not one behind more than {LAYERS} others")


def _why_not_forward(module) -> str:
    if global_state.calls_forward(type(module)) and global_state.hookless(module):
        return ""
    return "a module with hooks, or with a call of its own, is called"
