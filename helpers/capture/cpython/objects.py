"""Read an object's dict, its name, or its function or code object, without running its own code.
A user may pass any object to a verb, that is, to a public function such as `show_bytecode`: a
method, a tf.function, a lazy module. A TypeError in one clear sentence refuses what it cannot use.
"""

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
# Methods that run when a program calls an object, a torch module or a Keras layer.
_CALL_METHODS = "__call__", "forward", "call"
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
    """Return the attribute `name` of a class or of its nearest base that has it, or None.

    The attribute is returned as it is stored: a property, for example, is not run.
    """
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def read_instance_dict(thing) -> dict | None:
    """Return the `__dict__` of an object, None if the object has none.

    It is not read as `thing.__dict__`, because this may run a `__getattribute__` of the class.
    """
    getter = find_inherited(type(thing), "__dict__")
    if not is_exactly(getter, GetSetDescriptorType, MemberDescriptorType):
        return None  # there is no `__dict__`, or a class defines it as a property, which would run
    attributes = getter.__get__(thing)
    return attributes if real_isinstance(attributes, dict) else None


def read_function_name(function) -> str:
    """Return the name of a Python function, cut to `LONGEST_NAME` characters.

    The name of a `__call__` says little, so it has the class before it: `Scaler.__call__`. So have
    the `forward` of a torch module and the `call` of a Keras layer.
    """
    return _format_name(function.__name__, function.__qualname__)


def read_code_name(code: CodeType) -> str:
    """Return the name of a code object, in the form of `read_function_name`."""
    return _format_name(code.co_name, code.co_qualname)


def _format_name(name: str, qualified_name: str) -> str:
    """Return `name`, or `Class.name` for a method that runs when an object is called."""
    if name in _CALL_METHODS:
        # `make.<locals>.Scaler.__call__` -> `Scaler.__call__`
        name = qualified_name.rpartition("<locals>.")[2]
    return printable(name, LONGEST_NAME)


def read_callable_name(fn) -> str:
    """Return the name of any callable, for a sentence to the user.

    A method or a partial has the name of its function. A result of torch.compile or tf.function has
    the name of the function that was compiled. An object without a name has the name of its class.
    """
    if type(fn) is MethodType:
        return read_callable_name(fn.__func__)
    if type(fn) is FunctionType:
        return printable(fn.__name__, LONGEST_NAME)
    if real_isinstance(fn, partial):
        # As `fn.func`, but an attribute of a derived class is not run.
        return read_callable_name(partial.func.__get__(fn))
    if real_isinstance(fn, type) or is_exactly(fn, *_TYPES_WITH_NAME):
        return read_function_name(fn)
    compiled_function = read_compiled_original(fn)
    if compiled_function is None:
        compiled_function = _read_inside_tf_function(fn)
    if compiled_function is not None:
        return read_callable_name(compiled_function)
    name = static_attribute(fn, "__name__")
    if type(name) is GetSetDescriptorType:  # a ufunc of NumPy keeps its name in C
        name = name.__get__(fn)
    return printable(name) if real_isinstance(name, str) else real_type_name(fn)


def read_title_name(fn) -> str:
    """Return the name of a callable for a title.

    It is that of `read_callable_name`, but a method `__call__` has its class: `Scaler.__call__`.
    """
    if type(fn) is MethodType and type(fn.__func__) is FunctionType:
        return read_function_name(fn.__func__)
    return read_callable_name(fn)


def read_spoken_name(fn) -> str:
    """Return the name of a callable as users write it: `np.mean` for a function of NumPy.

    Any other callable has the name that `read_callable_name` returns.
    """
    module_name = static_attribute(fn, "__module__") or vars(type(fn)).get("__module__")
    is_of_numpy = real_isinstance(module_name, str) and module_name.startswith("numpy")
    # A class has its own name, also one of NumPy.
    if real_isinstance(fn, type) or not is_of_numpy:
        return read_callable_name(fn)
    path_in_numpy = printable(module_name).removeprefix("numpy")  # "" or such as ".linalg"
    return f"np{path_in_numpy}.{read_callable_name(fn)}"


def read_compiled_original(fn):
    """Return the function or module that torch.compile compiled; None if `fn` is not compiled."""
    attributes = read_instance_dict(fn) or {}
    if "get_compiler_config" not in attributes:  # torch.compile sets it on each of its results
        return None
    # A compiled module has the original in `_modules["_orig_mod"]`, a function in `__wrapped__`.
    modules = attributes.get("_modules") or attributes
    return dict.get(modules, "_orig_mod", attributes.get("__wrapped__"))


def read_traced_function(fn):
    """Return the Python function or method that a tf.function traces; None for anything else.

    It is also None if the tf.function was made of another object, such as a partial.
    """
    inner = _read_inside_tf_function(fn)
    return inner if is_exactly(inner, FunctionType, MethodType) else None


def _read_inside_tf_function(fn):
    """Return the callable from which a tf.function was made; None if `fn` is no tf.function.

    TensorFlow keeps it in the attribute `_python_function` (polymorphic_function.py).
    """
    if vars(type(fn)).get("__module__") != _POLYMORPHIC:
        return None
    return (read_instance_dict(fn) or {}).get("_python_function")


def require_python_function(thing: object, verb: str) -> tuple[FunctionType, tuple]:
    """Return a function or method as (Python function, arguments to pass before all others).

    The second item is `(self,)` for a method, and `()` for a function. Raise TypeError if `thing`
    is neither; the error mentions `verb`, the name of the public function, and what `thing` is.
    """
    if type(thing) is FunctionType:
        return thing, ()
    if type(thing) is MethodType and type(thing.__func__) is FunctionType:
        return thing.__func__, (thing.__self__,)
    raise TypeError(f"{verb} needs a Python function{_describe_misfit(thing)}")


def _describe_misfit(thing: object) -> str:
    """Return what an object is that is no Python function, as the end of an error's sentence."""
    # The types of functions and methods in C, and a method whose function is one in C.
    if is_exactly(thing, type(len), type(str.upper), type(object.__init__), MethodType):
        return f": {short_repr(thing)} is written in C and has no bytecode"
    if real_isinstance(thing, type):
        return f": {printable(thing.__name__)} is a class; pass one of its methods"
    if callable(thing):
        name = read_spoken_name(thing)
        return f": {name} is compiled code ({real_type_name(thing)}) and has no bytecode"
    return f", not {short_repr(thing)}{suggest_function_of_module(thing)}"


def require_code(thing: object, verb: str) -> CodeType:
    """Return the code object of a function, method, generator, coroutine or frame.

    A code object is returned as it is. TypeError, which mentions `verb`, is raised for anything
    else.
    """
    if type(thing) is CodeType:
        return thing
    attribute_name = item_of_type(thing, _CODE_ATTRIBUTES)  # None for another type
    if attribute_name:
        return getattr(thing, attribute_name)
    function, _ = require_python_function(thing, verb)
    return function.__code__


def refuse_async(fn: FunctionType, verb: str) -> None:
    """Raise TypeError for a coroutine function, because a call only makes a coroutine.

    `verb` is the name of the public function, which the error mentions.
    """
    if fn.__code__.co_flags & (COROUTINE | ASYNC_GENERATOR):
        raise TypeError(
            f"{verb} runs one call to its end, and a call of {short_repr(fn)} only makes a "
            "coroutine; pass a plain function that drives the coroutine with send(None)"
        )


def list_global_names(code: CodeType) -> set[str]:
    """Return the names that a code object, and the code of functions in it, look up as globals."""
    names = set(find_global_lookups(code).values())
    for constant in code.co_consts:
        if type(constant) is CodeType:
            names |= list_global_names(constant)
    return names


def find_global_lookups(code: CodeType) -> dict[int, str]:
    """Return offset of an instruction that looks up a global -> the name that it looks up."""
    return {
        instruction.offset: instruction.argval
        for instruction in get_instructions(code)
        if instruction.opname in _GLOBAL_LOOKUPS
    }
