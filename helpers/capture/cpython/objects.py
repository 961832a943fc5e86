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
from ..text.error import suggest_function_of_module
from ..text.value import short_repr

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200  # co_flags, Include/cpython/code.h
LONGEST_NAME = 80
_CALL_METHODS = "__call__", "forward", "call"  # what runs when a program calls an object
_TYPES_WITH_NAME = FunctionType, BuiltinFunctionType, MethodDescriptorType
# The module of the class of every tf.function.
_POLYMORPHIC = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
# Type of an object -> its attribute with the code object that it runs.
_CODE_ATTRIBUTES = {GeneratorType: "gi_code", CoroutineType: "cr_code", FrameType: "f_code"}
# co_names contains attributes' names too; only these instructions look in the globals.
_GLOBAL_LOOKUPS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
# Returns the dict of a module. `module.__dict__` would load a lazy one.
read_namespace = ModuleType.__dict__["__dict__"].__get__


def find_inherited(cls: type, name: str):
    """Return what `cls` has under `name` in its own dict or that of the nearest base, or None."""
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def read_instance_dict(thing) -> dict | None:
    """Return the dict of an instance, None if it has none.

    It is read through the class, so that no `__getattribute__` of the object runs.
    """
    getter = find_inherited(type(thing), "__dict__")
    if not is_exactly(getter, GetSetDescriptorType, MemberDescriptorType):
        return None  # a property in Python, which would run
    attributes = getter.__get__(thing)
    return attributes if real_isinstance(attributes, dict) else None


def read_function_name(function) -> str:
    """Return the name of a Python function, not too long; `Scaler.__call__` with its class.

    A program calls an object with such a function by the object's name, so the function's own name
    says nothing. The `forward` of a torch module and the `call` of a Keras layer are as `__call__`.
    """
    return _format_name(function.__name__, function.__qualname__)


def read_code_name(code: CodeType) -> str:
    """Return the name of a code object, as `named` returns that of its function."""
    return _format_name(code.co_name, code.co_qualname)


def _format_name(name: str, qualified_name: str) -> str:
    """Return a name; that of a method which runs when an object is called, with its class."""
    if name in _CALL_METHODS:
        # Without the functions in which the class was defined.
        name = qualified_name.rpartition("<locals>.")[2]
    return printable(name, LONGEST_NAME)


def read_callable_name(fn) -> str:
    """Return the name of any callable: its own or that of its class.

    A method and a partial have the name of their function, and what torch.compile or tf.function
    made has the name of what it was made of.
    """
    if type(fn) is MethodType:
        return read_callable_name(fn.__func__)
    if type(fn) is FunctionType:
        return printable(fn.__name__, LONGEST_NAME)
    if real_isinstance(fn, partial):
        return read_callable_name(partial.func.__get__(fn))
    if real_isinstance(fn, type) or is_exactly(fn, *_TYPES_WITH_NAME):
        return read_function_name(fn)
    inner = read_compiled_original(fn)
    if inner is None:
        inner = _read_inside_tf_function(fn)
    if inner is not None:
        return read_callable_name(inner)
    name = static_attribute(fn, "__name__")
    if type(name) is GetSetDescriptorType:  # a ufunc of NumPy keeps its name in C
        name = name.__get__(fn)
    return printable(name) if real_isinstance(name, str) else real_type_name(fn)


def read_title_name(fn) -> str:
    """Return the name of a callable for a title: that of `called`; of a method, that of `named`."""
    if type(fn) is MethodType and type(fn.__func__) is FunctionType:
        return read_function_name(fn.__func__)
    return read_callable_name(fn)


def read_spoken_name(fn) -> str:
    """Return the name of a callable as users write it: `np.mean` for a function of NumPy.

    Any other callable has the name that `called` returns.
    """
    module_name = static_attribute(fn, "__module__") or vars(type(fn)).get("__module__")
    is_of_numpy = real_isinstance(module_name, str) and module_name[:5] == "numpy"
    if real_isinstance(fn, type) or not is_of_numpy:
        return read_callable_name(fn)
    return f"np{printable(module_name)[5:]}.{read_callable_name(fn)}"


def read_compiled_original(fn):
    """Return the function or module that torch.compile compiled; None if `fn` is not compiled."""
    attributes = read_instance_dict(fn) or {}
    if "get_compiler_config" not in attributes:
        return None
    # A module keeps the original among its modules, a function has it as what it wraps.
    modules = attributes.get("_modules") or attributes
    return dict.get(modules, "_orig_mod", attributes.get("__wrapped__"))


def read_traced_function(fn):
    """Return the function inside a tf.function (polymorphic_function.py), None of anything else."""
    inner = _read_inside_tf_function(fn)
    return inner if is_exactly(inner, FunctionType, MethodType) else None


def _read_inside_tf_function(fn):
    """Return what a tf.function calls, which may be a partial or an object; else None."""
    if vars(type(fn)).get("__module__") != _POLYMORPHIC:
        return None
    return (read_instance_dict(fn) or {}).get("_python_function")


def require_python_function(thing: object, verb: str) -> tuple[FunctionType, tuple]:
    """Return the Python function to call, and the arguments that come before those of the call.

    These are the self of a method, and none for a function. TypeError says why `thing` is neither;
    `verb` is named in it.
    """
    if type(thing) is FunctionType:
        return thing, ()
    if type(thing) is MethodType and type(thing.__func__) is FunctionType:
        return thing.__func__, (thing.__self__,)
    raise TypeError(f"{verb} needs a Python function{_describe_misfit(thing)}")


def _describe_misfit(thing: object) -> str:
    """Say what an object is that is no Python function; the words end a sentence."""
    if is_exactly(thing, type(len), type(str.upper), type(object.__init__), MethodType):
        return f": {short_repr(thing)} is written in C and has no bytecode"
    if real_isinstance(thing, type):
        return f": {printable(thing.__name__)} is a class; pass one of its methods"
    if callable(thing):
        name = read_spoken_name(thing)
        return f": {name} is compiled code ({real_type_name(thing)}) and has no bytecode"
    return f", not {short_repr(thing)}{suggest_function_of_module(thing)}"


def require_code(thing: object, verb: str) -> CodeType:
    """Return the code object of a function, method, generator or frame; a code object as it is."""
    if type(thing) is CodeType:
        return thing
    attribute = item_of_type(thing, _CODE_ATTRIBUTES)
    if attribute:
        return getattr(thing, attribute)
    function, _ = require_python_function(thing, verb)
    return function.__code__


def refuse_async(fn: FunctionType, verb: str) -> None:
    """Raise TypeError for a coroutine function: its call runs nothing that could be watched."""
    if fn.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise TypeError(
            f"{verb} runs one call to its end, and a call of {short_repr(fn)} only makes a "
            "coroutine; pass a plain function that drives the coroutine with send(None)"
        )


def list_global_names(code: CodeType) -> set[str]:
    """Return the names that this code and the code inside it may look up as globals."""
    names = set(find_global_lookups(code).values())
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= list_global_names(constant)
    return names


def find_global_lookups(code: CodeType) -> dict[int, str]:
    """Return offset -> name of each instruction that looks a name up as a global."""
    return {
        instruction.offset: instruction.argval
        for instruction in get_instructions(code)
        if instruction.opname in _GLOBAL_LOOKUPS
    }
