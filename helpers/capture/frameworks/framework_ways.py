"""A plain function and its arguments -> the same call behind tf.function and torch.compile.

Each framework is given a copy of the function, of which it has kept nothing yet: Dynamo keeps what
it compiles with the code object. Numbers and arrays become tensors.
"""

import random
from collections import namedtuple
from importlib import import_module
from types import FunctionType

from ...internals import torch_private
from ...safety import missing_parts
from ...safety.arguments import is_exactly
from ..text import tensors
from ..text.error import error_message
from ..torch.guard_tree import copied
from .executed_ops import is_tensor

PLAIN, TRACED, COMPILED = "plain", "tf.function", "torch.compile"
# A call that can be made: `function` is the copy behind `fn`. `lacks`: why it cannot.
Prepared = namedtuple("Prepared", "fn function args kwargs lacks", defaults=("",))


def prepared_calls(fn: FunctionType, args: tuple, kwargs: dict) -> dict[str, Prepared]:
    """Return way -> the call that it makes; both frameworks are imported now."""
    found = {}
    for way, load in ((COMPILED, _load_torch), (TRACED, _load_tensorflow)):  # Dynamo comes first
        try:
            wrap, convert = load()
            copy = copied(fn)
            given = tuple(_as_tensor(value, convert) for value in args)
            named = {name: _as_tensor(value, convert) for name, value in kwargs.items()}
            found[way] = Prepared(wrap(copy), copy, given, named)
        except Exception as error:  # an installation may be broken in any way, a dtype unknown
            lacks = missing_parts.sentence(error) or error_message(error)
            found[way] = Prepared(fn, fn, args, kwargs, lacks)
    return {way: found[way] for way in (TRACED, COMPILED)}


def _load_torch():
    torch_private.refuse_late_dynamo()
    import_module("torch._dynamo")
    torch = import_module("torch")
    return lambda fn: torch.compile(fn, backend="eager"), torch.tensor


def _load_tensorflow():
    state = random.getstate()
    try:
        tf = import_module("tensorflow")
    finally:
        random.setstate(state)  # an import of TensorFlow draws numbers
    return tf.function, tf.constant


def _as_tensor(value, convert):
    import numpy as np

    if is_exactly(value, int, float, complex):
        return convert(value)
    if tensors.is_tensor(value):
        value = value.detach().cpu().numpy()
    elif not is_tensor(value) and not isinstance(value, (np.ndarray, np.number)):
        return value
    return convert(np.array(value))
