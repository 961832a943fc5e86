"""A frame that Dynamo compiles -> a name that the user knows, such as `Net.forward (net.py:3)`.

The user does not know each frame. Dynamo cannot start with some callables, such as the modules of
torch itself. Torch puts one wrapper around each of them, and Dynamo compiles a frame of the
wrapper:

    def inner(*args, **kwargs):
        return fn(*args, **kwargs)

Here `inner`, `args` and `fn` are replaced by the names of what `fn` is.
"""

import inspect
import re
from collections.abc import Callable
from types import CodeType, FunctionType

from ...internals import compiled_functions
from ...safety.arguments import real_type_name
from .dynamo_messages import format_file_line, split_resume_name
from .frame_arguments import read_closure

WRAPPERS_POSITION = re.compile(r"\bargs\[(\d+)\]")  # args[0]
WRAPPERS_KEYWORD = re.compile(r"\bkwargs\['(\w+)'\]")  # kwargs['scale']
WRAPPED_SELF = re.compile(r"\bfn\.__self__\b")  # fn.__self__.weight
WRAPPED_ITSELF = re.compile(r"\bfn(?=\.)")  # fn.weight


def describe_code(code: CodeType) -> str:
    """Return the name of a code object, with its file and line: `step (train.py:12)`.

    A resume function gives `step, resumed (train.py:14)`, with the line where it continues.
    """
    name, resumed_line = split_resume_name(code.co_name)
    place = format_file_line(code.co_filename, resumed_line or code.co_firstlineno)
    if resumed_line:
        return f"{name}, resumed{place}"
    return f"{name}{place}"


def describe_frame(code: CodeType, frame_locals: dict) -> str:
    """Return the name of a frame with its file and line: `Net.forward (net.py:3)`.

    `code` is the code object of the frame, and `frame_locals` are its locals by name.
    """
    wrapped_callable = _find_callable_in_frame(code, frame_locals)
    name = _name_callable(wrapped_callable)
    if name:  # the frame is one of torch's wrapper
        return f"{name}{_format_place(wrapped_callable)}"
    if "self" in frame_locals:
        return f"{real_type_name(frame_locals['self'])}.{describe_code(code)}"
    return describe_code(code)


def name_wrapped_callable(fn: FunctionType) -> str:
    """Return the name of what torch's wrapper `fn` calls, such as `Linear`.

    Return "" if `fn` is no such wrapper.
    """
    return _name_callable(_find_callable_in_wrapper(fn))


def use_users_names(sentence: str, fn: FunctionType) -> str:
    """Return a sentence with the user's names in place of those in torch's wrapper `fn`.

    `args[0] is None` becomes `x is None`, if `x` is the first parameter of what the wrapper calls.
    If `fn` is no such wrapper, the sentence is returned unchanged.
    """
    return _replace_names(sentence, _find_callable_in_wrapper(fn))


def use_users_names_of_frame(sentence: str, code: CodeType, frame_locals: dict) -> str:
    """Return a sentence about a frame, with the user's names as in `use_users_names`.

    `code` is the code object of the frame, and `frame_locals` are its locals by name. A sentence
    about a frame that is not of torch's wrapper is returned unchanged.
    """
    return _replace_names(sentence, _find_callable_in_frame(code, frame_locals))


def _find_callable_in_wrapper(fn: FunctionType):
    """Return the callable inside torch's wrapper, or None if `fn` is no such wrapper."""
    if not compiled_functions.is_inline_wrapper(fn.__code__):
        return None
    return read_closure(fn).get("fn")


def _find_callable_in_frame(code: CodeType, frame_locals: dict):
    """Return the callable that a frame of torch's wrapper calls, or None for another frame."""
    if not compiled_functions.is_inline_wrapper(code):
        return None
    return frame_locals.get("fn")


def _name_callable(wrapped_callable) -> str:
    """Return a short name for a callable; "" for None.

    A function and a class have their own names. A method has the name of its object's class, such
    as `Linear` for `layer.forward`.
    """
    if wrapped_callable is None:
        return ""
    if type(wrapped_callable) is FunctionType:
        return wrapped_callable.__name__

    owner = getattr(wrapped_callable, "__self__", None)
    # The `__self__` of a builtin function, such as len, is the module `builtins`.
    has_no_object = owner is None or inspect.ismodule(owner)
    if type(wrapped_callable) is type or has_no_object:
        return getattr(wrapped_callable, "__name__", "") or real_type_name(wrapped_callable)
    return real_type_name(owner)


def _format_place(wrapped_callable: Callable) -> str:
    """Return ` (file:line)` of a callable, or of a module's `forward`; "" if it is written in C."""
    function = getattr(type(wrapped_callable), "forward", wrapped_callable)
    users_code = getattr(inspect.unwrap(function), "__code__", None)
    if not users_code:
        return ""
    return format_file_line(users_code.co_filename, users_code.co_firstlineno)


def _replace_names(sentence: str, wrapped_callable: Callable | None) -> str:
    """Replace `args[0]`, `kwargs['n']` and `fn` in a sentence with names of the wrapped callable.

    None for the callable leaves the sentence unchanged.
    """
    if wrapped_callable is None:
        return sentence
    names = _list_parameters(wrapped_callable)

    def find_name(match: re.Match) -> str:
        """Return the name of the parameter for a match of `args[0]`; the same text if none fits."""
        position = int(match[1])
        return names[position] if position < len(names) else match[0]

    sentence = WRAPPERS_POSITION.sub(find_name, sentence)
    sentence = WRAPPERS_KEYWORD.sub(r"\1", sentence)
    sentence = WRAPPED_SELF.sub("self", sentence)
    # In a module, `fn` is what its `forward` calls self. For another callable, `it` must do.
    own_name = "self" if hasattr(wrapped_callable, "forward") else "it"
    return WRAPPED_ITSELF.sub(own_name, sentence)


def _list_parameters(wrapped_callable: Callable) -> list[str]:
    """Return the names of the parameters of a callable or of a module's `forward`."""
    function = getattr(wrapped_callable, "forward", wrapped_callable)
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a function written in C may have no signature
        return []
