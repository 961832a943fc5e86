"""What a call or an attribute of symbolic values does: compute it, record it, or break.

Mirrors call_function and var_getattr of torch/_dynamo/variables/.
"""

import operator
from types import ModuleType

import torch

from . import trace_rules
from .builder import own_name
from .symbolic_values import Break, Items, Known, Method, Refuse, Tensor, is_immutable


def is_plain(value) -> bool:
    """Return whether a symbolic value is a constant that can never change."""
    return isinstance(value, Known) and is_immutable(value.value)


def are_plain(args: list, kwargs: dict) -> bool:
    """Return whether all arguments are constants that can never change."""
    return all(is_plain(value) for value in (*args, *kwargs.values()))


def call(trace, fn, args: list, kwargs: dict):
    """Return the symbolic result of a call of symbolic values: fold it, or record it.

    Break is raised if neither can be done, and says what is to run for real.
    """
    args = [trace.resolve(value) for value in args]
    kwargs = {name: trace.resolve(value) for name, value in kwargs.items()}
    try:
        if isinstance(fn, Method):
            return _call_method(trace, fn, args, kwargs)
        if not isinstance(fn, Known):  # such as a tensor, or an item of a list
            raise Break("the called object is not known")
        return _call_function(trace, fn.value, args, kwargs)
    except Break as why:  # it came from deeper, and does not say which call runs for real
        raise Break(str(why), fn, args, kwargs) from None


def _call_function(trace, function, args, kwargs):
    """Return the symbolic result of a call of an object that is known now."""
    if any(function is reader for reader in trace_rules.FRAME_READERS):
        raise Refuse(f"{own_name(function)} looks at the frame that calls it")

    if function is len and len(args) == 1:
        length = _length(args[0])
        if length is not None:
            return length
    if function is operator.getitem and len(args) == 2:
        container, key = args
        if isinstance(container, Items) and is_plain(key):
            return _item(trace, container, key.value)
    if id(function) in trace_rules.FOLDED and are_plain(args, kwargs):
        return _fold(function, args, kwargs)
    if id(function) in trace_rules.TORCH:
        # Python's own operators belong in a graph only if a tensor is among the arguments.
        is_pythons = getattr(function, "__module__", "") in ("_operator", "builtins")
        if not is_pythons or any(isinstance(value, Tensor) for value in args):
            return trace.record(function, *args, **kwargs)

    name = own_name(function) or f"a {type(function).__name__}"
    raise Break(f"{name} is not a function that a graph can contain")


def _length(value):
    """Return the length of a list, a tuple or a tensor as a Known; None if it is not known now."""
    if isinstance(value, Items):
        return Known(len(value.items))
    if isinstance(value, Tensor) and value.fake.dim():  # a tensor without dimensions has none
        return Known(len(value.fake))
    return None


def _item(trace, container, key):
    """Return the symbolic value of `container[key]`, where `key` is an int or a slice."""
    try:
        item = container.items[key]
    except (IndexError, TypeError) as error:
        raise Break(f"the item raises {type(error).__name__}") from None
    if isinstance(key, slice):
        return Items(container.kind, item)
    return trace.resolve(item)


def _fold(function, args, kwargs):
    """Return the result of a call of constants as a Known: as a compiler folds them, it runs now.

    Break is raised if the call raises an error, or returns what may change later.
    """
    values = [value.value for value in args]
    keywords = {name: value.value for name, value in kwargs.items()}
    try:
        result = function(*values, **keywords)
    except Exception as error:
        raise Break(f"{own_name(function) or 'it'} raises {type(error).__name__}") from None
    if not is_immutable(result):
        raise Break(f"{own_name(function) or 'it'} returns a value that may change")
    return Known(result)


def _call_method(trace, method, args, kwargs):
    """Return the symbolic result of a call of a Method: of a tensor, or of a constant."""
    owner = trace.resolve(method.owner)
    name = method.name
    if isinstance(owner, Tensor):
        if name in trace_rules.ABOUT and not kwargs and are_plain(args, kwargs):
            values = [value.value for value in args]  # a fake knows its size, too
            return Known(getattr(owner.fake, name)(*values))
        if name in trace_rules.TENSOR_METHODS:
            return trace.record(name, owner, *args, **kwargs)
    elif is_plain(owner) and are_plain(args, kwargs):
        bound_method = getattr(owner.value, name)
        return _fold(bound_method, args, kwargs)
    raise Break(f".{name} is not a method that a graph can contain")


def get_attribute(trace, owner, name: str):
    """Return the symbolic value of an attribute; Break where looking it up runs code."""
    if isinstance(owner, Tensor) and name in trace_rules.ALIASES:
        return trace.record(getattr, owner, Known(name))
    if isinstance(owner, Tensor) and name in trace_rules.ATTRIBUTES:
        return Known(getattr(owner.fake, name))

    # Only Items has a `kind`; None, for all else, has no methods that are asked for here.
    kind = torch.Tensor if isinstance(owner, Tensor) else getattr(owner, "kind", None)
    if callable(getattr(kind, name, None)):  # of a tensor, a tuple or a list
        return Method(owner, name)
    if not isinstance(owner, Known):
        raise Break(f".{name} of an unknown object")
    if is_immutable(owner.value):
        value = getattr(owner.value, name)
        return Known(value) if is_immutable(value) else Method(owner, name)
    if type(owner.value) is not ModuleType or name not in vars(owner.value):
        raise Break(f"looking up .{name} may run any code")
    return trace.take(vars(owner.value)[name], f"{owner.source}.{name}")


def truth(value) -> bool:
    """Return bool(value) of a value that is not a tensor; Refuse if that runs unknown code."""
    if isinstance(value, Items):
        return bool(value.items)
    if not is_plain(value):
        raise Refuse("the truth value of an object whose own code may decide it")
    return bool(value.value)


def iterate(value):
    """Return an iterator over the items of what can be unrolled; Refuse for the rest."""
    if isinstance(value, Items):
        return iter(value.items)
    if is_plain(value) and hasattr(value.value, "__iter__"):
        return map(Known, value.value)
    raise Refuse("a loop over an object that is not a tuple, a list or a range")
