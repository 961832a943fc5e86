"""A plain function and its arguments -> the same call behind tf.function and torch.compile.

Each framework is given a copy of the function, for which it has no trace and no cache entry yet:
Dynamo stores what it compiles with the code object. Numbers and arrays become tensors.
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
    """Return TRACED and COMPILED -> the call of that way; both frameworks are imported now."""
    # Dynamo is imported before TensorFlow: the other order ends the process on some machines.
    compiled = _prepare_call(_load_torch, fn, args, kwargs)
    traced = _prepare_call(_load_tensorflow, fn, args, kwargs)
    return {TRACED: traced, COMPILED: compiled}


def _prepare_call(load: Callable, fn: FunctionType, args: tuple, kwargs: dict) -> PreparedCall:
    """Return the call of a copy of `fn` behind one framework, or why it cannot be made.

    `load` imports the framework; it returns a function that wraps a function, and one that makes a
    tensor of a number or an array of NumPy.
    """
    try:
        wrap, make_tensor = load()
        copy = copy_function(fn)
        tensor_args = tuple(_convert_argument(value, make_tensor) for value in args)
        tensor_kwargs = {
            name: _convert_argument(value, make_tensor) for name, value in kwargs.items()
        }
        return PreparedCall(wrap(copy), copy, tensor_args, tensor_kwargs)
    except Exception as error:  # an installation may be broken in any way, a dtype unknown
        reason = missing_parts.sentence(error) or describe_error(error)
        return PreparedCall(fn, fn, args, kwargs, reason)


def _load_torch() -> tuple[Callable, Callable]:
    """Import torch and Dynamo; return what compiles a function, and what makes a tensor."""
    torch_private.refuse_late_dynamo()
    import_module("torch._dynamo")
    torch = import_module("torch")

    def compile_function(function):
        """Return a function behind Dynamo alone: the eager backend compiles nothing."""
        return torch.compile(function, backend="eager")

    return compile_function, torch.tensor


def _load_tensorflow() -> tuple[Callable, Callable]:
    """Import TensorFlow; return what makes a tf.function, and what makes a tensor."""
    state = random.getstate()
    try:
        tf = import_module("tensorflow")
    finally:
        random.setstate(state)  # an import of TensorFlow draws numbers
    return tf.function, tf.constant


def _convert_argument(value, make_tensor: Callable):
    """Return a tensor of the framework for a number, an array or a tensor; else the value."""
    import numpy as np

    if is_exactly(value, int, float, complex):
        return make_tensor(value)
    if tensors.is_torch_tensor(value):  # of torch
        value = value.detach().cpu().numpy()
    elif not is_tensor(value) and not isinstance(value, (np.ndarray, np.number)):
        return value
    return make_tensor(np.array(value))
