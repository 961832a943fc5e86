"""What a call or an attribute does while tracing: compute it, record it, go inside, or break.

Mirrors call_function and var_getattr of torch/_dynamo/variables/.
"""

import inspect
import operator
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType

import torch

from helpers.mini.dynamo import allowed, state
from helpers.mini.dynamo.code import decoded
from helpers.mini.dynamo.spaces import Spaces
from helpers.mini.dynamo.values import (
    Break,
    Items,
    Known,
    Loop,
    Method,
    Refuse,
    Tensor,
    is_immutable,
)

DEEPEST = 12  # calls inside calls that are traced
UNSUPPORTED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
UNSUPPORTED |= inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
CHAINS = (torch.nn.Sequential, torch.nn.ModuleList)


def unsupported(code) -> str:
    """Return why functions with this code are not traced; nothing if they may be."""
    if code.co_flags & UNSUPPORTED:
        return "it takes *args or **kwargs, or is a generator or coroutine"
    if code.co_exceptiontable:
        return "it has a try, a with, or another block that handles exceptions"
    return "it makes a function that shares its variables" if code.co_cellvars else ""


class Calls:
    """The part of the interpreter that calls and looks up attributes."""

    def call(self, fn, args: list, kwargs: dict):
        """Return the symbolic result of a call. Break says what is to run for real instead."""
        resolve = self.trace.resolve
        args = [resolve(a) for a in args]
        kwargs = {name: resolve(value) for name, value in kwargs.items()}
        mark = self.trace.mark()
        try:
            return self._call(fn, args, kwargs)
        except Break as why:
            self.trace.undo(mark)
            raise Break(str(why), fn, args, kwargs) from None

    def _call(self, fn, args, kwargs):
        if isinstance(fn, Method):
            return self._call_method(fn, args, kwargs)
        if not isinstance(fn, Known):
            raise Break("what is called is not known")
        f, kind = fn.value, type(fn.value)
        if allowed.reads_frames(f):
            raise Refuse(f"{f.__name__} looks at the frame that calls it")
        special = SPECIAL.get(id(f))
        if special and not kwargs and (result := special(self, args)) is not None:
            return result
        plain = all(map(_plain, (*args, *kwargs.values())))
        if plain and allowed.may_fold(f):
            return self._folded(f, args, kwargs)
        if allowed.may_record(f) and self._is_torchs(f, args):
            return self._record(f, args, kwargs)
        if kind is MethodType:
            raise Break("a bound method from outside is called")
        if kind is FunctionType:
            return self.inline(f, fn.source, args, kwargs)
        if isinstance(f, torch.nn.Module) and fn.source:
            return self._call_module(fn, args, kwargs)
        raise Break(f"{_name_of(f)} is no function that a graph can hold")

    def _is_torchs(self, f, args) -> bool:
        """An operator is torch's business only where it meets a tensor."""
        own = f in allowed.OPERATORS.values() or getattr(f, "__module__", "") in (
            *("_operator", "builtins"),
        )
        return not own or any(isinstance(a, Tensor) for a in args)

    def _record(self, f, args, kwargs):
        for name, value in kwargs.items():
            if name in ("out", "inplace") and not (isinstance(value, Known) and not value.value):
                raise Break(f"{_name_of(f)} works in place ({name}=)")
        return self.trace.record(f, *args, **kwargs)

    def _folded(self, f, args, kwargs):
        try:
            result = f(*(a.value for a in args), **{k: v.value for k, v in kwargs.items()})
        except Exception as error:
            raise Break(f"{_name_of(f)} raises {type(error).__name__}") from None
        if type(result) is list:
            return Items(list, [Known(item) for item in result])
        if not is_immutable(result):
            raise Break(f"{_name_of(f)} returns what may change")
        return Known(result)

    def _call_method(self, method, args, kwargs):
        owner, name = self.trace.resolve(method.owner), method.name
        if isinstance(owner, Tensor):
            if name in allowed.ABOUT and all(map(_plain, args)) and not kwargs:
                value = getattr(owner.fake, name)(*(a.value for a in args))
                return Known(value)
            if name not in allowed.TENSOR_METHODS:
                raise Break(f".{name} is no method that a graph can hold")
            return self._record(name, [owner, *args], kwargs)
        if not isinstance(owner, Known):
            raise Break(f".{name} of a {owner.kind.__name__}")
        if _plain(owner) and all(map(_plain, (*args, *kwargs.values()))):
            return self._folded(getattr(owner.value, name), args, kwargs)
        function = inspect.getattr_static(type(owner.value), name, None)
        if type(function) is not FunctionType or not owner.source:
            raise Break(f".{name} is no method in Python")
        kind = self.trace.name(type(owner.value), f"class_{type(owner.value).__name__}")
        self.trace.guard(f"type({owner.source}) is {kind}")
        return self.inline(function, f"{kind}.{name}", [owner, *args], kwargs)

    def _call_module(self, fn, args, kwargs):
        module, source = fn.value, fn.source
        if not state.hookless(module):
            raise Break("a module with hooks, or with a call of its own, is called")
        self.trace.guard(f"hookless({source})")
        return self._call_method(Method(fn, "forward"), args, kwargs)

    def inline(self, f, source: str, args, kwargs):
        """Trace a Python function as part of this frame; Break if anything in it cannot be."""
        code = f.__code__
        why = unsupported(code)
        if why or self.depth >= DEEPEST or "__signature__" in f.__dict__:
            raise Break(why or "too many calls inside calls")
        source = source or self.trace.name(f, f"the_{f.__name__}")
        named = self.trace.name(code, f"code_of_{f.__name__}")
        self.trace.guard(f"{source}.__code__ is {named}")
        local = self._bound(f, source, args, kwargs)
        inner = type(self)(self.trace, decoded(code), local, Spaces(f), depth=self.depth + 1)
        try:
            return inner.run()
        except (Break, Refuse) as reason:
            raise Break(f"inside {f.__name__}: {reason}") from None

    def _bound(self, f, source, args, kwargs) -> dict:
        signature = inspect.signature(f, follow_wrapped=False)
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:
            raise Break("the arguments do not fit") from None
        code = f.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults = dict(
            enumerate(f.__defaults__ or (), code.co_argcount - len(f.__defaults__ or ()))
        )
        local = dict(bound)
        for at, name in enumerate(names):
            if name in local:
                continue
            by_name = at >= code.co_argcount
            value = f.__kwdefaults__[name] if by_name else defaults[at]
            index = at - min(defaults, default=0)
            place = f"__kwdefaults__[{name!r}]" if by_name else f"__defaults__[{index}]"
            if not by_name:
                self.trace.guard(f"len({source}.__defaults__) == {len(defaults)}")
            local[name] = self.trace.take(value, f"{source}.{place}")
        return local

    # --- attributes

    def get_attribute(self, owner, name: str):
        """Return the symbolic value of an attribute; Break where looking it up runs code."""
        if isinstance(owner, Tensor):
            return self._attribute_of_tensor(owner, name)
        if isinstance(owner, Items):
            fields = [f for f in dir(owner.kind) if not f.startswith("_")]
            if owner.node is not None and name in fields and hasattr(owner.kind, "n_fields"):
                return owner.items[_field(owner.kind, name, len(owner.items))]
            return Method(owner, name)
        if not isinstance(owner, Known):
            raise Break(f".{name} of what is not known")
        if is_immutable(owner.value):
            value = getattr(owner.value, name)
            return Known(value) if is_immutable(value) else Method(owner, name)
        if not owner.source:
            raise Break(f".{name} of an object without a place")
        if isinstance(owner.value, ModuleType):
            return self._attribute_of_import(owner, name)
        return self._attribute_of_object(owner, name)

    def _attribute_of_tensor(self, owner, name):
        if name in allowed.ALIASES:
            return self.trace.record(getattr, owner, Known(name))
        if name in allowed.ATTRIBUTES or (name == "requires_grad" and owner.source):
            return Known(getattr(owner.fake, name))
        if isinstance(getattr(owner.fake, name, None), (BuiltinMethodType, MethodType)):
            return Method(owner, name)
        raise Break(f".{name} of a tensor is not known while tracing")

    def _attribute_of_import(self, owner, name):
        found = vars(owner.value)
        if name not in found:
            raise Break(f"{owner.value.__name__} makes its {name} when asked")
        return self.trace.take(found[name], f"{owner.source}.{name}")

    def _attribute_of_object(self, owner, name):
        value, kind, source = owner.value, type(owner.value), owner.source
        module = isinstance(value, torch.nn.Module)
        usual = kind.__getattribute__ is object.__getattribute__ and (
            kind.__getattr__ is torch.nn.Module.__getattr__
            if module
            else not hasattr(kind, "__getattr__")
        )
        if not usual or isinstance(value, type):
            raise Break(f"looking up .{name} may run any code")
        on_class = inspect.getattr_static(kind, name, None)
        own = getattr(value, "__dict__", {})
        if on_class is not None and hasattr(type(on_class), "__set__"):
            raise Break(f".{name} is a property or another descriptor")
        if name in own:
            return self.trace.take(own[name], f"{source}.{name}")
        for part in ("_parameters", "_buffers", "_modules") if module else ():
            if name in own[part] and on_class is None:
                return self.trace.take(own[part][name], f"{source}.{part}[{name!r}]")
        if type(on_class) is FunctionType:
            self.trace.guard(f"{name!r} not in {source}.__dict__")
            return Method(owner, name)
        if on_class is not None and not hasattr(type(on_class), "__get__"):
            return self.trace.take(on_class, f"{source}.{name}")
        raise Break(f".{name} is no plain attribute")

    # --- truth, items

    def truth(self, value) -> bool:
        """Return bool(value) of what is no tensor; Refuse where that runs unknown code."""
        if isinstance(value, Items):
            return bool(value.items)
        if isinstance(value, Known) and is_immutable(value.value):
            return bool(value.value)
        if isinstance(value, Known):
            kind = type(value.value)
            if not hasattr(kind, "__bool__") and not hasattr(kind, "__len__"):
                return True
        raise Refuse("the truth of an object that may decide it in its own code")

    def tuple_of(self, values: list):
        """Return a tuple of symbolic values, a constant if all of them are."""
        if all(map(_plain, values)) and is_immutable(known := tuple(v.value for v in values)):
            return Known(known)
        return Items(tuple, list(values))

    def items(self, value) -> list:
        """Return the items of what can be unrolled; Refuse for the rest."""
        if isinstance(value, Items):
            return list(value.items)
        if isinstance(value, Loop):  # an iterator can be gone through once
            taken, value.items = value.items, []
            return taken
        if isinstance(value, Known) and is_immutable(value.value):
            try:
                return [Known(item) for item in value.value]
            except TypeError:
                raise Refuse("a loop over what has no items") from None
        if isinstance(value, Known) and type(value.value) in CHAINS and value.source:
            return self._layers(value)
        raise Refuse("a loop over an object that is not a tuple, a list or a range")

    def _layers(self, chain):
        source, inside = chain.source, chain.value._modules
        kind = self.trace.name(type(chain.value), f"class_{type(chain.value).__name__}")
        self.trace.guard(f"type({source}) is {kind}")
        self.trace.guard(f"tuple({source}._modules) == {tuple(inside)}")
        return [
            self.trace.take(layer, f"{source}._modules[{key!r}]") for key, layer in inside.items()
        ]


def _field(kind, name, count) -> int:
    """Return the index of a named field of what a torch function returned."""
    marked = kind([torch.tensor(i) for i in range(count)])
    return int(getattr(marked, name))


def _name_of(f) -> str:
    named = f if isinstance(f, str) else getattr(f, "__name__", None)
    return named if type(named) is str else f"a {type(f).__name__}"


def _plain(value) -> bool:
    return isinstance(value, Known) and is_immutable(value.value)


def _length(frame, args):
    if len(args) == 1 and isinstance(args[0], Items):
        return Known(len(args[0].items))
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].fake.dim():
        return Known(len(args[0].fake))
    return None


def _is_instance(frame, args):
    if len(args) == 2 and isinstance(args[0], Tensor) and isinstance(args[1], Known):
        if args[1].value is torch.Tensor:
            return Known(True)
        if args[1].value in (int, float, str, tuple, list, dict, bool):
            return Known(False)
    if len(args) == 2 and _plain(args[0]) and isinstance(args[1], Known):
        kinds = args[1].value
        if kinds in (int, float, str, bool, tuple) or kinds is torch.Tensor:
            return Known(isinstance(args[0].value, kinds))
    return None


def _item(frame, args):
    container, key = args
    if not isinstance(container, Items) or not _plain(key):
        return None
    if type(key.value) not in (int, slice, bool):
        raise Break("an item that is not asked for by a number")
    try:
        found = container.items[key.value]
    except IndexError:
        raise Break("there is no such item") from None
    if isinstance(key.value, slice):
        return Items(container.kind if container.node is None else tuple, found)
    return frame.trace.resolve(found)


def _sequence(kind):
    def make(frame, args):
        if len(args) == 1 and isinstance(args[0], (Items, Known, Loop)):
            if kind is tuple and isinstance(args[0], Items) and args[0].kind is tuple:
                return args[0]
            return (
                frame.tuple_of(frame.items(args[0]))
                if kind is tuple
                else Items(kind, list(frame.items(args[0])))
            )
        return Items(kind, []) if not args else None

    return make


def _enumerate(frame, args):
    if len(args) == 1 and not isinstance(args[0], Loop):
        pairs = enumerate(frame.items(args[0]))
        return Loop([Items(tuple, [Known(at), item]) for at, item in pairs])
    return None


def _zip(frame, args):
    if any(isinstance(a, Loop) for a in args):  # it would be asked in turns
        return None
    rows = zip(*(frame.items(a) for a in args), strict=False)
    return Loop([Items(tuple, list(row)) for row in rows])


def _reversed(frame, args):
    if len(args) == 1 and isinstance(args[0], (Items, Known)):
        return Loop(frame.items(args[0])[::-1])
    return None


SPECIAL = {
    id(len): _length,
    id(isinstance): _is_instance,
    id(operator.getitem): _item,
    id(tuple): _sequence(tuple),
    id(list): _sequence(list),
    id(enumerate): _enumerate,
    id(zip): _zip,
    id(reversed): _reversed,
}
