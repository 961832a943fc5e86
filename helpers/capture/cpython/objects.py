"""An object of any class -> its dict, its name, its function or code object, or one clear refusal.

What `type.__dict__["__dict__"].__get__` and its like return, a metaclass or a `__getattribute__`
cannot change (Objects/typeobject.c): no code of the object's class runs.
"""

import functools
from gc import get_referents
from opcode import opmap
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)

from helpers.capture.text.error import instead
from helpers.capture.text.value import brief, label
from helpers.safety.arguments import by_type, deadly, is_a, is_exactly, kind_of, own, printable

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # co_flags, Include/cpython/code.h
LONGEST_NAME = 80
_IMMUTABLE, _ON_HEAP, _MANAGED_DICT = 1 << 8, 1 << 9, 1 << 4
_POLYMORPHIC = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
_CODE_OF = {
    GeneratorType: "gi_code",
    CoroutineType: "cr_code",
    AsyncGeneratorType: "ag_code",
    FrameType: "f_code",
}
# The names of attributes stand in co_names too; only these instructions look in the globals. The
# argument of the first has a bit of its own below the number of the name.
_GLOBAL_LOOKUPS = {
    opmap[name]: bits
    for name, bits in (("LOAD_GLOBAL", 1), ("LOAD_NAME", 0), ("LOAD_FROM_DICT_OR_GLOBALS", 0))
    if name in opmap
}
_module_dict = ModuleType.__dict__["__dict__"].__get__
_class_dict, _class_flags, _class_mro, _class_name = (
    type.__dict__[name].__get__ for name in ("__dict__", "__flags__", "__mro__", "__name__")
)


def mro(cls) -> tuple:
    """Return the classes that `cls` inherits from; a metaclass is never asked."""
    return _class_mro(cls)


def namespace(module) -> dict:
    """Return a module's dict without a look-up that could load a lazy module."""
    return _module_dict(module)


def class_mapping(cls) -> MappingProxyType:
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
    """Return the items of a dict; a subclass is never asked, and another thread may be at work."""
    while True:
        try:
            return list(dict.items(inside))
        except RuntimeError:  # it has changed meanwhile
            continue


def part(base: type, name: str, thing):
    """Return an attribute that the built-in type `base` keeps in C; a subclass is never asked."""
    return _class_dict(base)[name].__get__(thing)


def inherited(cls, name):
    """Return what `cls` has under `name` in its own dict or that of the nearest base, or None."""
    return next((class_mapping(c)[name] for c in mro(cls) if name in class_mapping(c)), None)


def instance_dict(thing) -> dict | None:
    """Return the dict of an instance, read through its class so that no code of its own runs."""
    getter = inherited(type(thing), "__dict__")
    kept_in_c = is_exactly(getter, GetSetDescriptorType, MemberDescriptorType)
    found = getter.__get__(thing) if kept_in_c else None
    return found if is_a(found, dict) else None


def named(function) -> str:
    """Return the name of a Python function, not too long; its own class of str is not asked."""
    return printable(function.__name__, LONGEST_NAME)


def called(fn) -> str:
    """Return what a callable is called: a function's own name or a class's, else its type's."""
    if type(fn) is MethodType:
        return called(fn.__func__)
    if is_exactly(fn, FunctionType, BuiltinFunctionType, MethodDescriptorType):
        return named(fn)
    if is_a(fn, type):
        return printable(_class_name(fn), LONGEST_NAME)
    inner = compiled(fn)
    inner = python_function(fn) if inner is None else inner
    return called(inner) if inner is not None else _kept_name(fn) or kind_of(fn)


def name_of(fn) -> str:
    """Return the name that a function keeps, printable and short, or a label where it has none."""
    if type(fn) is MethodType:
        return name_of(fn.__func__)
    if is_a(fn, FunctionType, BuiltinFunctionType):
        return printable(fn.__name__)
    return _kept_name(fn) or (called(fn) if compiled(fn) is not None else printable(label(fn)))


def compiled(fn):
    """Return what torch.compile made this function or module of; None if it did not."""
    inside = instance_dict(fn) or {}
    if "get_compiler_config" not in inside:
        return None
    return dict.get(inside.get("_modules") or inside, "_orig_mod", inside.get("__wrapped__"))


def python_function(fn):
    """Return the function inside a tf.function (polymorphic_function.py), None of anything else."""
    if class_mapping(type(fn)).get("__module__") != _POLYMORPHIC:
        return None
    inner = (instance_dict(fn) or {}).get("_python_function")
    return inner if is_exactly(inner, FunctionType, MethodType) else None


def _kept_name(fn) -> str:
    """Return the name that a class, or a callable object of any kind, keeps; empty without one."""
    kept = _class_name(fn) if is_a(fn, type) else own(fn, "__name__")
    if type(kept) is GetSetDescriptorType:  # kept in C, as a ufunc's
        kept = kept.__get__(fn)
    return printable(kept) if is_a(kept, str) else ""


def function_of(thing: object, verb: str) -> tuple[FunctionType, tuple]:
    """Return the function to call and what goes before its arguments (the self of a method).

    TypeError, in one sentence, for anything that has no bytecode to run.
    """
    if type(thing) is FunctionType:
        return thing, ()
    if type(thing) is MethodType and type(thing.__func__) is FunctionType:
        return thing.__func__, (thing.__self__,)
    raise TypeError(f"{verb} needs a Python function{_why_not(thing)}")


def code_of(thing: object, verb: str) -> CodeType:
    """Return the code object of a function, method, generator or frame; a code object as it is.

    TypeError, in one sentence, for anything else.
    """
    if type(thing) is CodeType:
        return thing
    if attribute := by_type(_CODE_OF, thing):
        return getattr(thing, attribute)
    return function_of(thing, verb)[0].__code__


def can_be_called(thing: object) -> bool:
    """Return whether a call can be tried; of a partial of itself it would end the process."""
    return callable(thing) and not deadly(thing)


def refuse_async(fn: FunctionType, verb: str) -> None:
    """Raise TypeError for a coroutine function: its call runs nothing that could be watched."""
    if fn.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise TypeError(
            f"{verb} runs one call to its end, and a call of {brief(fn)} only makes a coroutine; "
            "give it a plain function that drives the coroutine with send(None)"
        )


def _why_not(thing: object) -> str:
    if is_a(thing, type):
        name = printable(_class_name(thing))
        return f": {name} is a class; give one of its methods{_such_as(thing, name)}"
    if is_exactly(thing, type(len), type(str.upper), type(object.__init__), MethodType):
        return f": {brief(thing)} is written in C and has no bytecode"
    if type(thing) is functools.partial:
        return f", not {brief(thing)}; give its `.func`"
    names = (name for name in ("__wrapped__", "__call__") if type(own(thing, name)) is FunctionType)
    inside = next((f"; give its `.{name}`" for name in names), "")
    return f", not {brief(thing)}{inside or instead(thing)}"


def _such_as(cls: type, name: str) -> str:
    """Return a method that stands in the class itself, as an example; one for others, if any is."""
    items = class_mapping(cls).items()
    names = [key for key, one in items if type(one) is FunctionType and type(key) is str]
    names.sort(key=lambda key: key.startswith("_"))
    return f", such as {name}.{printable(names[0])}" if names else ""


def names_used(code: CodeType) -> set[str]:
    """Return the names that this code and the code inside it may look up as globals."""
    inner = [one for one in code.co_consts if type(one) is CodeType]
    return set(global_lookups(code).values()).union(*map(names_used, inner))


def global_lookups(code: CodeType) -> dict[int, str]:
    """Return offset -> name of each instruction that looks a name up as a global."""
    found, high, steps = {}, 0, code.co_code
    for at, (opcode, low) in enumerate(zip(steps[::2], steps[1::2], strict=True)):
        argument = high << 8 | low
        high = argument if opcode == opmap["EXTENDED_ARG"] else 0
        if opcode in _GLOBAL_LOOKUPS:
            found[2 * at] = code.co_names[argument >> _GLOBAL_LOOKUPS[opcode]]
    return found
