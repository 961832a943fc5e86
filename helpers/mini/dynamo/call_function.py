"""What a call or an attribute does while tracing: compute it, record it, go inside, or break.

Mirrors call_function and var_getattr of torch/_dynamo/variables/.
"""

import inspect
import operator
from itertools import islice
from types import FunctionType, MethodDescriptorType, MethodType, ModuleType

import torch

from helpers.mini.dynamo import trace_rules
from helpers.mini.dynamo.builder import (
    MISSING,
    Spaces,
    calls_forward,
    found,
    hookless,
    module_getattr,
    own_name,
)
from helpers.mini.dynamo.resume_execution import decoded
from helpers.mini.dynamo.symbolic_values import (
    Break,
    Items,
    Known,
    Loop,
    Method,
    Refuse,
    Tensor,
    is_immutable,
)
from helpers.safety.arguments import printable

DEEPEST = 12  # calls inside calls that are traced
UNSUPPORTED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
UNSUPPORTED |= inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
LONGEST = 20_000  # items of a loop that is unrolled
ASKED = (torch.Tensor, int, float, str, tuple, list, dict, bool)  # of isinstance
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
        if trace_rules.reads_frames(f):
            raise Refuse(f"{own_name(f)} looks at the frame that calls it")
        special = SPECIAL.get(id(f))
        if special and not kwargs and (result := special(self, args)) is not None:
            return result
        plain = all(map(is_plain, (*args, *kwargs.values())))
        if plain and trace_rules.may_fold(f):
            return self._folded(f, args, kwargs)
        if trace_rules.may_record(f) and self._is_torchs(f, args):
            return self._record(f, args, kwargs)
        if kind is MethodType:
            raise Break("a bound method from outside is called")
        if kind is FunctionType:
            return self.inline(f, fn.source, args, kwargs)
        if issubclass(kind, torch.nn.Module) and fn.source:
            return self._call_module(fn, args, kwargs)
        raise Break(f"{_name_of(f)} is no function that a graph can hold")

    def _is_torchs(self, f, args) -> bool:
        own = getattr(f, "__module__", "") in ("_operator", "builtins")
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
        if type(result) is list and all(map(is_immutable, result)):
            return Items(list, [Known(item) for item in result])
        if not is_immutable(result):
            raise Break(f"{_name_of(f)} returns what may change")
        return Known(result)

    def _call_method(self, method, args, kwargs):
        owner, name = self.trace.resolve(method.owner), method.name
        if isinstance(owner, Tensor):
            if name in trace_rules.ABOUT and all(map(is_plain, args)) and not kwargs:
                return Known(getattr(owner.fake, name)(*(a.value for a in args)))
            if name not in trace_rules.TENSOR_METHODS:
                raise Break(f".{name} is no method that a graph can hold")
            return self._record(name, [owner, *args], kwargs)
        if not isinstance(owner, Known):
            raise Break(f".{name} of a {owner.kind.__name__}")
        kind = type(owner.value)
        if is_plain(owner) and all(map(is_plain, (*args, *kwargs.values()))):
            if kind.__module__ == "torch" and kind is not torch.Size:
                raise Break(f".{name} of a {kind.__name__} may change the state of torch")
            return self._folded(getattr(owner.value, name), args, kwargs)
        function = found(kind, name)
        if type(function) is not FunctionType or not owner.source:
            raise Break(f".{name} is no method in Python")
        named = self.trace.name(function, f"the_{name}")
        self.trace.guard(f"{owner.source}.{name}.__func__ is {named}")
        return self.inline(function, named, [owner, *args], kwargs)

    def _call_module(self, fn, args, kwargs):
        module, source = fn.value, fn.source
        self.trace.class_of(source, type(module))
        if not calls_forward(type(module)) or not hookless(module):
            raise Break("a module with hooks, or with a call of its own, is called")
        self.trace.guard(f"hookless({source})")
        return self._call_method(Method(fn, "forward"), args, kwargs)

    def inline(self, f, source: str, args, kwargs):
        """Trace a Python function as part of this frame; Break if anything in it cannot be."""
        code = f.__code__
        why = unsupported(code)
        if why or self.depth >= DEEPEST:
            raise Break(why or "too many calls inside calls")
        source = source or self.trace.name(f, f"the_{f.__name__}")
        named = self.trace.name(code, f"code_of_{f.__name__}")
        self.trace.guard(f"{source}.__code__ is {named}")
        local = self._bound(f, source, args, kwargs)
        inner = type(self)(self.trace, decoded(code), local, Spaces(f), depth=self.depth + 1)
        try:
            return inner.run()
        except (Break, Refuse) as reason:
            raise Break(f"inside {printable(f.__name__)}: {reason}") from None

    def _bound(self, f, source, args, kwargs) -> dict:
        """Return the parameters by name; what a default gives is guarded where it lies."""
        code = f.__code__
        try:
            signature = inspect.Signature.from_callable(f, follow_wrapped=False)
            local = dict(signature.bind(*args, **kwargs).arguments)
        except TypeError:
            raise Break("the arguments do not fit") from None
        first = code.co_argcount - len(f.__defaults__ or ())
        for at, name in enumerate(signature.parameters):
            if name not in local:
                by_place = at < code.co_argcount
                kind, key = ("__defaults__", at - first) if by_place else ("__kwdefaults__", name)
                defaults = getattr(f, kind)
                self.trace.guard(f"{source}.{kind} is {self.trace.name(defaults, 'defaults')}")
                local[name] = self.trace.take(defaults[key], f"{source}.{kind}[{key!r}]")
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
            if found(owner.kind, name) is MISSING:
                raise Break(f"a {owner.kind.__name__} has no {name}")
            return Method(owner, name)
        if not isinstance(owner, Known):
            raise Break(f".{name} of what is not known")
        if is_immutable(owner.value):
            value = getattr(owner.value, name)
            return Known(value) if is_immutable(value) else Method(owner, name)
        if not owner.source:
            raise Break(f".{name} of an object without a place")
        if type(owner.value) is ModuleType:
            return self._attribute_of_import(owner, name)
        return self._attribute_of_object(owner, name)

    def _attribute_of_tensor(self, owner, name):
        if name in trace_rules.ALIASES:
            return self.trace.record(getattr, owner, Known(name))
        if name in trace_rules.ATTRIBUTES or (name == "requires_grad" and owner.source):
            return Known(getattr(owner.fake, name))
        if type(found(type(owner.fake), name)) in (FunctionType, MethodDescriptorType):
            return Method(owner, name)
        raise Break(f".{name} of a tensor is not known while tracing")

    def _attribute_of_import(self, owner, name):
        source, space = owner.source, vars(owner.value)
        if name not in space or found(ModuleType, name) is not MISSING:
            raise Break(f"{owner.value.__name__} makes its {name} when asked")
        self.trace.class_of(source, ModuleType)
        self.trace.guard(f"{name!r} in {source}.__dict__")
        return self.trace.take(space[name], f"{source}.{name}")

    def _attribute_of_object(self, owner, name):
        """Return what an attribute holds, guarded by reading it again, or a method's name."""
        value, kind = owner.value, type(owner.value)
        module, on_class = issubclass(kind, torch.nn.Module), found(kind, name)
        plain = found(kind, "__getattribute__") is found(object, "__getattribute__")
        hook = module_getattr if module else MISSING
        if isinstance(value, type) or not plain or found(kind, "__getattr__") is not hook:
            raise Break(f"looking up .{name} may run any code")
        if type(on_class) is FunctionType and name not in getattr(value, "__dict__", ()):
            return Method(owner, name)
        if hasattr(type(on_class), "__set__") or (
            hasattr(type(on_class), "__get__") and type(on_class) is not FunctionType
        ):
            raise Break(f".{name} is a property or another descriptor")
        if not hasattr(value, name):
            raise Break(f".{name} is no plain attribute")
        self.trace.class_of(owner.source, kind)
        return self.trace.take(getattr(value, name), f"{owner.source}.{name}")

    # --- truth, items

    def truth(self, value) -> bool:
        """Return bool(value) of what is no tensor; Refuse where that runs unknown code."""
        if isinstance(value, Items):
            return bool(value.items)
        if isinstance(value, Known) and is_immutable(value.value):
            return bool(value.value)
        if isinstance(value, Known):
            kind = type(value.value)
            if found(kind, "__bool__") is MISSING and found(kind, "__len__") is MISSING:
                if value.source:
                    self.trace.class_of(value.source, kind)
                return True
        raise Refuse("the truth of an object that may decide it in its own code")

    def tuple_of(self, values: list):
        """Return a tuple of symbolic values, a constant if all of them are."""
        if all(map(is_plain, values)) and is_immutable(known := tuple(v.value for v in values)):
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
                items = [Known(item) for item in islice(value.value, LONGEST + 1)]
            except TypeError:
                raise Refuse("a loop over what has no items") from None
            if len(items) > LONGEST:
                raise Refuse(f"a loop over more than {LONGEST} items is too long to unroll")
            return items
        if isinstance(value, Known) and type(value.value) in CHAINS and value.source:
            return self._layers(value)
        raise Refuse("a loop over an object that is not a tuple, a list or a range")

    def _layers(self, chain):
        source, inside = chain.source, chain.value._modules
        self.trace.class_of(source, type(chain.value))
        self.trace.guard(f"tuple({source}._modules) == {tuple(inside)}")
        return [
            self.trace.take(layer, f"{source}._modules[{key!r}]") for key, layer in inside.items()
        ]


def _field(kind, name, count) -> int:
    marked = kind([torch.tensor(i) for i in range(count)])
    return int(getattr(marked, name))


def _name_of(f) -> str:
    return f if type(f) is str else own_name(f) or f"a {type(f).__name__}"


def is_plain(value) -> bool:
    """Return whether a symbolic value is a constant that can never change."""
    return isinstance(value, Known) and is_immutable(value.value)


def _length(frame, args):
    if len(args) == 1 and isinstance(args[0], Items):
        return Known(len(args[0].items))
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].fake.dim():
        return Known(len(args[0].fake))
    return None


def _is_instance(frame, args):
    thing, kinds = args
    known = isinstance(kinds, Known) and any(kinds.value is kind for kind in ASKED)
    if known and isinstance(thing, Tensor):
        return Known(issubclass(torch.Tensor, kinds.value))
    return Known(isinstance(thing.value, kinds.value)) if known and is_plain(thing) else None


def _item(frame, args):
    container, key = args
    if not isinstance(container, Items) or not is_plain(key):
        return None
    if type(key.value) not in (int, slice, bool):
        raise Break("an item that is not asked for by a number")
    try:
        items = container.items[key.value]
    except IndexError:
        raise Break("there is no such item") from None
    if isinstance(key.value, slice):
        if container.kind is tuple and container.node is None and items == container.items:
            return container  # Python gives the tuple itself
        return Items(container.kind if container.node is None else tuple, items)
    return frame.trace.resolve(items)


def _tuple(frame, args):
    same = args and isinstance(args[0], Items) and args[0].kind is tuple
    return args[0] if same else _sequence(frame, args, tuple)


def _list(frame, args):
    return _sequence(frame, args, list)


def _sequence(frame, args, kind):
    if not args:
        return Items(kind, [])
    if not isinstance(args[0], (Items, Known, Loop)):
        return None
    items = frame.items(args[0])
    return frame.tuple_of(items) if kind is tuple else Items(list, items)


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


SPECIAL = {
    id(len): _length,
    id(isinstance): _is_instance,
    id(operator.getitem): _item,
    id(tuple): _tuple,
    id(list): _list,
    id(enumerate): _enumerate,
    id(zip): _zip,
}
