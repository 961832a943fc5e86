"""An object of any class -> its type, dict and parts as C keeps them; no code of its class runs.

What `type.__dict__["__dict__"].__get__` and its like return, a metaclass or a `__getattribute__`
cannot change (Objects/typeobject.c); so nothing that is looked at here can lie or raise.
"""

import types
from gc import get_referents

from helpers.safety.arguments import is_a, is_exactly
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

_module_dict = types.ModuleType.__dict__["__dict__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_class_flags = type.__dict__["__flags__"].__get__
_class_mro = type.__dict__["__mro__"].__get__
_IMMUTABLE, _ON_HEAP, _MANAGED_DICT = 1 << 8, 1 << 9, 1 << 4


def mro(cls) -> tuple:
    """Return the classes that `cls` inherits from; a metaclass is never asked."""
    return _class_mro(cls)


def namespace(module) -> dict:
    """Return a module's dict without a look-up that could load a lazy module."""
    return _module_dict(module)


def class_mapping(cls) -> types.MappingProxyType:
    """Return `vars(cls)`; a metaclass is never asked."""
    return _class_dict(cls)


def class_namespace(cls) -> dict:
    """Return the dict behind `vars(cls)`, which shows only a read-only view of it."""
    return get_referents(_class_dict(cls))[0]


def is_immutable(cls) -> bool:
    """Return whether CPython refuses `cls.name = value` for every name."""
    flags = _class_flags(cls)
    return bool(flags & _IMMUTABLE) or not flags & _ON_HEAP


def has_inline_values(cls) -> bool:
    """Return whether instances may keep their attributes without a dict (3.11 and later)."""
    return bool(_class_flags(cls) & _MANAGED_DICT)


def static_owner(inside: dict):
    """Return the static type whose dict this is, None for others; the collector skips them."""
    waiting, met = [object], set()
    while waiting:
        cls = waiting.pop()
        if id(cls) not in met and not _class_flags(cls) & _ON_HEAP:
            if class_namespace(cls) is inside:
                return cls
            met.add(id(cls))
            waiting.extend(type.__subclasses__(cls))
    return None


def pairs(inside: dict) -> list[tuple]:
    """Return the items of a dict: a subclass is never asked, and another thread may be at work.

    `dict.copy` would call the `keys` of a subclass that has an `__iter__` of its own
    (`dict_merge`, Objects/dictobject.c).
    """
    while True:
        try:
            return list(dict.items(inside) if type(inside) is not dict else inside.copy().items())
        except RuntimeError:  # it has changed meanwhile
            continue


def part(base: type, name: str, thing):
    """Return an attribute that the built-in type `base` keeps in C; a subclass is never asked."""
    return _class_dict(base)[name].__get__(thing)


def inherited(cls, name):
    """Return what `cls` has under `name` in its own dict or that of the nearest base."""
    return next(class_mapping(c)[name] for c in mro(cls) if name in class_mapping(c))


def instance_dict(thing) -> dict | None:
    """Return the dict of an instance, read through its class so that no code of its own runs."""
    for cls in mro(type(thing)):
        getter = _class_dict(cls).get("__dict__")
        if getter is not None:
            return _plain_dict(getter, thing)
    return None


def _plain_dict(getter, thing) -> dict | None:
    if not is_exactly(getter, types.GetSetDescriptorType, types.MemberDescriptorType):
        return None
    found = getter.__get__(thing)
    return found if is_a(found, dict) else None
