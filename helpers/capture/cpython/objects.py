"""An object of any class -> its dict, its name, its function or code object, or a refusal."""

from dis import get_instructions
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)

from ...safety.arguments import (
    is_exactly,
    item_of_type,
    printable,
    real_isinstance,
    real_type_name,
    static_attribute,
)
from ..text.error import instead
from ..text.value import short_repr

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # co_flags, Include/cpython/code.h
LONGEST_NAME = 80
_OF_OBJECTS = "__call__", "forward", "call"  # what runs when a program calls an object
_NAMED = FunctionType, BuiltinFunctionType, MethodDescriptorType
_POLYMORPHIC = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
_CODE_OF = {GeneratorType: "gi_code", CoroutineType: "cr_code", FrameType: "f_code"}
# co_names contains attributes' names too; only these instructions look in the globals.
_GLOBAL_LOOKUPS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
namespace = ModuleType.__dict__["__dict__"].__get__  # of a module; a lazy one is not loaded


def inherited(cls: type, name: str):
    """Return what `cls` has under `name` in its own dict or that of the nearest base, or None."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def instance_dict(thing) -> dict | None:
    """Return the dict of an instance, read through its class so that no code of its own runs."""
    getter = inherited(type(thing), "__dict__")
    kept_in_c = is_exactly(getter, GetSetDescriptorType, MemberDescriptorType)
    found = getter.__get__(thing) if kept_in_c else None
    return found if real_isinstance(found, dict) else None


def named(function) -> str:
    """Return the name of a Python function, not too long; `Scaler.__call__` with its class.

    A program calls an object with such a function by the object's name, so the function's own name
    says nothing. The `forward` of a torch module and the `call` of a Keras layer are as `__call__`.
    """
    return _named(function.__name__, function.__qualname__)


def named_code(code: CodeType) -> str:
    """Return the name of a code object, as `named` returns that of its function."""
    return _named(code.co_name, code.co_qualname)


def _named(name: str, qualified: str) -> str:
    name = qualified.rpartition("<locals>.")[2] if name in _OF_OBJECTS else name
    return printable(name, LONGEST_NAME)


def called(fn) -> str:
    """Return what a callable is called: a function's own name or a class's, else its type's.

    A partial is called by the name of its function.
    """
    if type(fn) is MethodType:
        return called(fn.__func__)
    if type(fn) is FunctionType:
        return printable(fn.__name__, LONGEST_NAME)
    if real_isinstance(fn, partial):
        return called(partial.func.__get__(fn))
    if real_isinstance(fn, type) or is_exactly(fn, *_NAMED):
        return named(fn)
    inner = compiled(fn)
    inner = _inside_tf_function(fn) if inner is None else inner
    if inner is not None:
        return called(inner)
    kept = static_attribute(fn, "__name__")
    kept = kept.__get__(fn) if type(kept) is GetSetDescriptorType else kept  # in C, as a ufunc's
    return printable(kept) if real_isinstance(kept, str) else real_type_name(fn)


def name_of(fn) -> str:
    """Return the name of a callable in a title: that of `called`, but for methods as `named`."""
    function = fn.__func__ if type(fn) is MethodType else None
    return named(function) if type(function) is FunctionType else called(fn)


def spoken(fn) -> str:
    """Return the name that users say of a function of NumPy, such as np.mean; else what `called`
    returns."""
    home = static_attribute(fn, "__module__") or vars(type(fn)).get("__module__")
    if real_isinstance(fn, type) or not real_isinstance(home, str) or home[:5] != "numpy":
        return called(fn)
    return f"np{printable(home)[5:]}.{called(fn)}"


def compiled(fn):
    """Return what torch.compile made this function or module of; None if it did not."""
    inside = instance_dict(fn) or {}
    if "get_compiler_config" not in inside:
        return None
    return dict.get(inside.get("_modules") or inside, "_orig_mod", inside.get("__wrapped__"))


def python_function(fn):
    """Return the function inside a tf.function (polymorphic_function.py), None of anything else."""
    inner = _inside_tf_function(fn)
    return inner if is_exactly(inner, FunctionType, MethodType) else None


def _inside_tf_function(fn):
    """Return what a tf.function calls, which may be a partial or an object; else None."""
    if vars(type(fn)).get("__module__") != _POLYMORPHIC:
        return None
    return (instance_dict(fn) or {}).get("_python_function")


def function_of(thing: object, verb: str) -> tuple[FunctionType, tuple]:
    """Return the function to call and what goes before its arguments (the self of a method)."""
    if type(thing) is FunctionType:
        return thing, ()
    if type(thing) is MethodType and type(thing.__func__) is FunctionType:
        return thing.__func__, (thing.__self__,)
    why = f", not {short_repr(thing)}{instead(thing)}"
    if real_isinstance(thing, type):
        why = f": {printable(thing.__name__)} is a class; pass one of its methods"
    if is_exactly(thing, type(len), type(str.upper), type(object.__init__), MethodType):
        why = f": {short_repr(thing)} is written in C and has no bytecode"
    elif callable(thing) and not real_isinstance(thing, type):
        why = f": {spoken(thing)} is compiled code ({real_type_name(thing)}) and has no bytecode"
    raise TypeError(f"{verb} needs a Python function{why}")


def code_of(thing: object, verb: str) -> CodeType:
    """Return the code object of a function, method, generator or frame; a code object as it is."""
    if type(thing) is CodeType:
        return thing
    if attribute := item_of_type(thing, _CODE_OF):
        return getattr(thing, attribute)
    return function_of(thing, verb)[0].__code__


def refuse_async(fn: FunctionType, verb: str) -> None:
    """Raise TypeError for a coroutine function: its call runs nothing that could be watched."""
    if fn.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise TypeError(
            f"{verb} runs one call to its end, and a call of {short_repr(fn)} only makes a "
            "coroutine; pass a plain function that drives the coroutine with send(None)"
        )


def names_used(code: CodeType) -> set[str]:
    """Return the names that this code and the code inside it may look up as globals."""
    inner = [one for one in code.co_consts if type(one) is CodeType]
    return set(global_lookups(code).values()).union(*map(names_used, inner))


def global_lookups(code: CodeType) -> dict[int, str]:
    """Return offset -> name of each instruction that looks a name up as a global."""
    return {i.offset: i.argval for i in get_instructions(code) if i.opname in _GLOBAL_LOOKUPS}
