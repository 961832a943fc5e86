"""Calls and attributes of symbolic values: computed now, recorded in the graph, or a graph break.
A symbolic value is a Known (an object that is known while tracing, such as a constant), a Tensor
(a graph node, with a *fake* tensor that has a shape but no numbers), a SequenceVariable (a list or
tuple of symbolic values) or a MethodVariable. `trace` is the `output_graph.Tracing` of the frame.
GraphBreak ends the graph: Python runs one call, and tracing goes on after it. SkipFrame gives up
tracing: the whole function runs as plain Python.

Mirrors call_function and var_getattr of torch/_dynamo/variables/.
"""

import operator
from types import ModuleType

import torch

from . import trace_rules
from .builder import name_of_callable
from .symbolic_values import (
    GraphBreak,
    Known,
    MethodVariable,
    SequenceVariable,
    SkipFrame,
    Tensor,
    is_immutable,
)


def is_constant(value) -> bool:
    """Return whether a symbolic value is a constant that can never change."""
    return isinstance(value, Known) and is_immutable(value.value)


def are_constants(args: list, kwargs: dict) -> bool:
    """Return whether all arguments are constants that can never change."""
    return all(is_constant(value) for value in (*args, *kwargs.values()))


def call(trace, fn, args: list, kwargs: dict):
    """Return the symbolic result of the call `fn(*args, **kwargs)` of symbolic values.

    A call of constants is computed now. A call with tensors is recorded in the graph. If neither
    can be done, a GraphBreak is raised that contains the call, for Python to run.
    """
    args = [trace.resolve(value) for value in args]
    kwargs = {name: trace.resolve(value) for name, value in kwargs.items()}
    try:
        if isinstance(fn, MethodVariable):
            return _call_method(trace, fn, args, kwargs)
        if not isinstance(fn, Known):  # such as a call of a tensor
            raise GraphBreak("the called object is not known")
        return _call_function(trace, fn.value, args, kwargs)
    except GraphBreak as graph_break:  # the callees give only the reason; the call is added here
        raise GraphBreak(str(graph_break), fn, args, kwargs) from None


def _call_function(trace, function, args, kwargs):
    """Return the symbolic result of a call of `function`, a real object.

    Raise GraphBreak for a function that may not be in a graph, without the call.
    """
    if any(function is reader for reader in trace_rules.FRAME_READERS):
        raise SkipFrame(f"{name_of_callable(function)} looks at the frame that calls it")

    # `len` and indexing of a list or tuple work on the symbolic items, without a graph node.
    if function is len and len(args) == 1:
        length = _get_length(args[0])
        if length is not None:
            return length
    if function is operator.getitem and len(args) == 2:
        container, key = args
        if isinstance(container, SequenceVariable) and is_constant(key):
            return _get_item(trace, container, key.value)
    if id(function) in trace_rules.FOLDABLE and are_constants(args, kwargs):
        return _fold(function, args, kwargs)
    if id(function) in trace_rules.PURE_FUNCTIONS:
        # `torch.zeros(3)` makes a tensor, but `a + b` does so only if one of the operands is a
        # tensor.
        is_python_operator = getattr(function, "__module__", "") in ("_operator", "builtins")
        if not is_python_operator or any(isinstance(value, Tensor) for value in args):
            return trace.record(function, *args, **kwargs)

    name = name_of_callable(function) or f"a {type(function).__name__}"
    raise GraphBreak(f"{name} is not a function that a graph can contain")


def _get_length(value):
    """Return the length of a SequenceVariable or a Tensor as a Known; None for other values."""
    if isinstance(value, SequenceVariable):
        return Known(len(value.items))
    if (
        isinstance(value, Tensor) and value.fake.dim()
    ):  # `len` of a tensor without dimensions raises
        return Known(len(value.fake))
    return None


def _get_item(trace, container, key):
    """Return the symbolic value of `container[key]`, where the container is a list or tuple."""
    try:
        item = container.items[key]
    except (IndexError, TypeError) as error:
        raise GraphBreak(f"the item raises {type(error).__name__}") from None
    if isinstance(key, slice):
        return SequenceVariable(container.kind, item)
    return trace.resolve(item)


def _fold(function, args, kwargs):
    """Call `function` now with constants, and return the result as a Known (constant folding).

    GraphBreak is raised if the call raises an error, or returns an object that may change later.
    """
    values = [value.value for value in args]
    keywords = {name: value.value for name, value in kwargs.items()}
    try:
        result = function(*values, **keywords)
    except Exception as error:
        raise GraphBreak(
            f"{name_of_callable(function) or 'it'} raises {type(error).__name__}"
        ) from None
    if not is_immutable(result):
        raise GraphBreak(f"{name_of_callable(function) or 'it'} returns a value that may change")
    return Known(result)


def _call_method(trace, method, args, kwargs):
    """Return the symbolic result of a method call, such as `x.sum()` or `"a".upper()`."""
    owner = trace.resolve(method.owner)
    name = method.name
    if isinstance(owner, Tensor):
        if name in trace_rules.SHAPE_QUERIES and not kwargs and are_constants(args, kwargs):
            # Such as `x.size(0)`: the fake tensor has a shape and a dtype, so it can answer.
            values = [value.value for value in args]
            return Known(getattr(owner.fake, name)(*values))
        if name in trace_rules.TENSOR_METHODS:
            return trace.record(name, owner, *args, **kwargs)
    elif is_constant(owner) and are_constants(args, kwargs):
        bound_method = getattr(owner.value, name)
        return _fold(bound_method, args, kwargs)
    raise GraphBreak(f".{name} is not a method that a graph can contain")


def get_attribute(trace, owner, name: str):
    """Return the symbolic value of `owner.name`.

    GraphBreak is raised where the look-up in a real object could run code of its class.
    """
    if isinstance(owner, Tensor) and name in trace_rules.VIEW_ATTRIBUTES:
        return trace.record(getattr, owner, Known(name))
    if isinstance(owner, Tensor) and name in trace_rules.CONSTANT_ATTRIBUTES:
        return Known(getattr(owner.fake, name))

    # The real type that a symbolic Tensor or SequenceVariable stands for. A name that is callable
    # on this type is a method, which is looked up when it is called.
    real_type = None
    if isinstance(owner, Tensor):
        real_type = torch.Tensor
    elif isinstance(owner, SequenceVariable):
        real_type = owner.kind
    if real_type is not None and callable(getattr(real_type, name, None)):
        return MethodVariable(owner, name)
    if not isinstance(owner, Known):
        raise GraphBreak(f".{name} of an unknown object")
    if is_immutable(owner.value):  # a constant, such as a str: attributes and methods are safe
        value = getattr(owner.value, name)
        return Known(value) if is_immutable(value) else MethodVariable(owner, name)
    # In a module a name is looked up in the dict, which runs no code. Other objects may run code.
    if type(owner.value) is not ModuleType or name not in vars(owner.value):
        raise GraphBreak(f"looking up .{name} may run any code")
    return trace.wrap(vars(owner.value)[name], f"{owner.source}.{name}")


def truth(value) -> bool:
    """Return whether a symbolic value that is not a Tensor is true.

    SkipFrame is raised for an object whose class may decide that by code of its own.
    """
    if isinstance(value, SequenceVariable):
        return bool(value.items)
    if not is_constant(value):
        raise SkipFrame("the truth value of an object whose own code may decide it")
    return bool(value.value)


def iterate(value):
    """Return an iterator over the symbolic items of a list or tuple, or of a constant range.

    SkipFrame is raised for any other value, because its loop cannot be unrolled.
    """
    if isinstance(value, SequenceVariable):
        return iter(value.items)
    if is_constant(value) and hasattr(value.value, "__iter__"):
        return map(Known, value.value)
    raise SkipFrame("a loop over an object that is not a tuple, a list or a range")
