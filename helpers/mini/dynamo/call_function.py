"""What a call or an attribute does while tracing: compute it, record it, go inside, or break.

Mirrors call_function and var_getattr of torch/_dynamo/variables/.
"""

import inspect
import operator
from types import ModuleType

import torch

from helpers.mini.dynamo import trace_rules
from helpers.mini.dynamo.builder import own_name
from helpers.mini.dynamo.symbolic_values import (
    Break,
    Items,
    Known,
    Method,
    Refuse,
    Tensor,
    is_immutable,
)

UNSUPPORTED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
UNSUPPORTED |= inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def unsupported(code) -> str:
    """Return why functions with this code are not traced; nothing if they may be."""
    if code.co_flags & UNSUPPORTED:
        return "it takes *args or **kwargs, or is a generator or coroutine"
    if code.co_exceptiontable:
        return "it has a try, a with, or another block that handles exceptions"
    return "it makes a function that shares its variables" if code.co_cellvars else ""


def is_plain(value) -> bool:
    """Return whether a symbolic value is a constant that can never change."""
    return isinstance(value, Known) and is_immutable(value.value)


class Calls:
    """The part of the interpreter that calls and looks up attributes."""

    def call(self, fn, args: list, kwargs: dict):
        """Return the symbolic result of a call. Break says what is to run for real instead."""
        resolve = self.trace.resolve
        args = [resolve(a) for a in args]
        kwargs = {name: resolve(value) for name, value in kwargs.items()}
        try:
            return self._call(fn, args, kwargs)
        except Break as why:
            raise Break(str(why), fn, args, kwargs) from None

    def _call(self, fn, args, kwargs):
        if isinstance(fn, Method):
            return self._call_method(fn, args, kwargs)
        if not isinstance(fn, Known):
            raise Break("what is called is not known")
        f = fn.value
        if any(f is reader for reader in trace_rules.FRAME_READERS):
            raise Refuse(f"{own_name(f)} looks at the frame that calls it")
        special = SPECIAL.get(id(f))
        if special and not kwargs and (result := special(self, args)) is not None:
            return result
        if id(f) in trace_rules.FOLDED and all(map(is_plain, (*args, *kwargs.values()))):
            return self._fold(f, args, kwargs)
        pythons = getattr(f, "__module__", "") in ("_operator", "builtins")
        if id(f) in trace_rules.TORCH and (not pythons or any(isinstance(a, Tensor) for a in args)):
            return self.trace.record(f, *args, **kwargs)
        named = own_name(f) or f"a {type(f).__name__}"
        raise Break(f"{named} is no function that a graph can hold")

    def _fold(self, f, args, kwargs):
        try:
            result = f(*(a.value for a in args), **{k: v.value for k, v in kwargs.items()})
        except Exception as error:
            raise Break(f"{own_name(f) or 'it'} raises {type(error).__name__}") from None
        if not is_immutable(result):
            raise Break(f"{own_name(f) or 'it'} returns what may change")
        return Known(result)

    def _call_method(self, method, args, kwargs):
        owner, name = self.trace.resolve(method.owner), method.name
        plain = all(map(is_plain, (*args, *kwargs.values())))
        if isinstance(owner, Tensor):
            if name in trace_rules.ABOUT and plain and not kwargs:
                return Known(getattr(owner.fake, name)(*(a.value for a in args)))
            if name in trace_rules.TENSOR_METHODS:
                return self.trace.record(name, owner, *args, **kwargs)
        elif is_plain(owner) and plain:
            return self._fold(getattr(owner.value, name), args, kwargs)
        raise Break(f".{name} is no method that a graph can hold")

    # --- attributes

    def get_attribute(self, owner, name: str):
        """Return the symbolic value of an attribute; Break where looking it up runs code."""
        if isinstance(owner, Tensor) and name in trace_rules.ALIASES:
            return self.trace.record(getattr, owner, Known(name))
        if isinstance(owner, Tensor) and name in trace_rules.ATTRIBUTES:
            return Known(getattr(owner.fake, name))
        kind = torch.Tensor if isinstance(owner, Tensor) else getattr(owner, "kind", None)
        if callable(getattr(kind, name, None)):  # of a tensor, a tuple or a list
            return Method(owner, name)
        if not isinstance(owner, Known):
            raise Break(f".{name} of what is not known")
        if is_immutable(owner.value):
            value = getattr(owner.value, name)
            return Known(value) if is_immutable(value) else Method(owner, name)
        if type(owner.value) is not ModuleType or name not in vars(owner.value):
            raise Break(f"looking up .{name} may run any code")
        return self.trace.take(vars(owner.value)[name], f"{owner.source}.{name}")

    # --- truth, items

    def truth(self, value) -> bool:
        """Return bool(value) of what is no tensor; Refuse where that runs unknown code."""
        if isinstance(value, Items):
            return bool(value.items)
        if not is_plain(value):
            raise Refuse("the truth of an object that may decide it in its own code")
        return bool(value.value)

    def iterate(self, value):
        """Return an iterator over the items of what can be unrolled; Refuse for the rest."""
        if isinstance(value, Items):
            return iter(value.items)
        if is_plain(value) and hasattr(value.value, "__iter__"):
            return map(Known, value.value)
        raise Refuse("a loop over an object that is not a tuple, a list or a range")


def _length(frame, args):
    if len(args) == 1 and isinstance(args[0], Items):
        return Known(len(args[0].items))
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].fake.dim():
        return Known(len(args[0].fake))
    return None


def _item(frame, args):
    container, key = args
    if not isinstance(container, Items) or not is_plain(key):
        return None
    try:
        found = container.items[key.value]
    except (IndexError, TypeError) as error:
        raise Break(f"the item raises {type(error).__name__}") from None
    slices = isinstance(key.value, slice)
    return Items(container.kind, found) if slices else frame.trace.resolve(found)


SPECIAL = {id(len): _length, id(operator.getitem): _item}
