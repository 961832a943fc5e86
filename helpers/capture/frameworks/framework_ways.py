"""Prepare to call a plain function in two further ways: behind `tf.function` and behind
`torch.compile`. Numbers and arrays among its arguments become tensors of the framework.

Each framework is given a copy of the function, for which it has no trace and no compiled code yet.
Dynamo, the compiler of torch, stores what it compiles with the code object.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import FunctionType
from typing import Any

from ...internals import torch_private
from ...safety import missing_parts
from ...safety.arguments import is_exactly
from ..text import tensors
from ..text.error import describe_error
from ..torch.compiled_function import copy_function
from .tensor_names import is_tensor

PLAIN = "plain"
TRACED = "tf.function"
COMPILED = "torch.compile"


@dataclass(frozen=True)
class PreparedCall:
    """One way to call a function: `fn(*args, **kwargs)`, if there is no reason against it."""

    #: The function behind tf.function or torch.compile.
    fn: Callable
    #: The copy of the learner's function that is behind `fn`.
    function: FunctionType
    #: The arguments as the framework's tensors.
    args: tuple
    kwargs: dict[str, Any]
    #: Why the call cannot be made, in a sentence; or "".
    reason: str = ""


def prepare_calls(fn: FunctionType, args: tuple, kwargs: dict) -> dict[str, PreparedCall]:
    """Return the name of a way (TRACED, COMPILED) -> the prepared call.

    Both frameworks are imported now. If one cannot be imported, its call has the reason.
    """
    # Dynamo is imported before TensorFlow: the other order ends the process on some machines.
    compiled = _prepare_call(_load_torch, fn, args, kwargs)
    traced = _prepare_call(_load_tensorflow, fn, args, kwargs)
    return {TRACED: traced, COMPILED: compiled}


def _prepare_call(load: Callable, fn: FunctionType, args: tuple, kwargs: dict) -> PreparedCall:
    """Return the call of a copy of `fn` behind one framework, or a call with a reason against it.

    `load()` imports the framework. It returns two functions: one wraps a Python function, such as
    `tf.function`, and one makes a tensor of a number or of an array of NumPy.
    """
    try:
        wrap, make_tensor = load()
        copy = copy_function(fn)
        tensor_args = tuple(_convert_argument(value, make_tensor) for value in args)
        tensor_kwargs = {
            name: _convert_argument(value, make_tensor) for name, value in kwargs.items()
        }
        return PreparedCall(wrap(copy), copy, tensor_args, tensor_kwargs)
    # An installation may be broken in any way, and a framework may not know a dtype.
    except Exception as error:
        reason = missing_parts.describe_missing_part(error) or describe_error(error)
        return PreparedCall(fn, fn, args, kwargs, reason)


def _load_torch() -> tuple[Callable, Callable]:
    """Import torch; return (function that compiles a function, function that makes a tensor)."""
    # Dynamo cannot be imported safely after TensorFlow: then this raises.
    torch_private.refuse_late_dynamo()
    import_module("torch._dynamo")
    torch = import_module("torch")

    def compile_function(function):
        """Compile a function by Dynamo alone: the backend "eager" runs the graph op by op."""
        return torch.compile(function, backend="eager")

    return compile_function, torch.tensor


def _load_tensorflow() -> tuple[Callable, Callable]:
    """Import TensorFlow; return (`tf.function`, `tf.constant`)."""
    state = random.getstate()
    try:
        tf = import_module("tensorflow")
    finally:
        # The import draws random numbers, which would change those that the program draws.
        random.setstate(state)
    return tf.function, tf.constant


def _convert_argument(value, make_tensor: Callable):
    """Return a tensor of the framework for a number, an array or any tensor; else the value.

    An array or a tensor becomes an array of NumPy first, because that is what each framework reads.
    A bool or a text stays as it is.
    """
    import numpy as np

    if is_exactly(value, int, float, complex):
        return make_tensor(value)
    if tensors.is_torch_tensor(value):
        value = value.detach().cpu().numpy()
    elif not is_tensor(value) and not isinstance(value, (np.ndarray, np.number)):
        return value
    return make_tensor(np.array(value))
