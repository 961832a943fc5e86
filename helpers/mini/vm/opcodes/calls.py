"""Calls, and the making of functions and classes."""

from types import CellType, FunctionType, MethodType

from helpers.mini.vm.opcodes.registry import constant, opcode
from helpers.mini.vm.values import NULL


@opcode("KW_NAMES", argument=constant)
def kw_names(frame, names):
    """[] → []: the next call's last arguments have these names"""
    frame.kw_names = names


@opcode("PRECALL")
def precall(frame, count):
    """[NULL, method, …] → [function, self, …]: 3.11 unpacks a bound method before the call"""
    stack = frame.stack
    method = stack[-count - 1]
    if stack[-count - 2] is NULL and type(method) is MethodType:
        stack[-count - 2 : -count or None] = ()
        position = len(stack) - count
        stack[position:position] = (method.__func__, method.__self__)


@opcode("CALL")
def call(frame, count):
    """[function, self or NULL, arguments …] → [value], or the frame of a Python function"""
    stack = frame.stack
    arguments = stack[-count:] if count else []
    names, frame.kw_names = frame.kw_names, ()
    if names:
        return _call_by_name(frame, count, arguments, names)
    first, second = stack[-count - 2], stack[-count - 1]
    del stack[-count - 2 :]
    return _go(frame, first, second, arguments, {})


@opcode("CALL_KW")
def call_kw(frame, count):
    """[function, self or NULL, arguments …, names] → [value], or a frame"""
    names = frame.stack.pop()
    return _call_by_name(frame, count, frame.stack[-count:], names)


def _call_by_name(frame, count, arguments, names):
    positional = count - len(names)
    kwargs = dict(zip(names, arguments[positional:], strict=True))
    first, second = frame.stack[-count - 2], frame.stack[-count - 1]
    del frame.stack[-count - 2 :]
    return _go(frame, first, second, arguments[:positional], kwargs)


@opcode("CALL_FUNCTION_EX")
def call_function_ex(frame, flags):
    """[function and NULL, iterable] or [… , iterable, mapping] → [value], or a frame"""
    stack = frame.stack
    kwargs = stack.pop() if flags & 1 else {}
    arguments = stack.pop()
    second, first = stack.pop(), stack.pop()
    function = second if first is NULL else first
    if not hasattr(type(arguments), "__iter__") or not hasattr(kwargs, "keys"):
        function(*arguments, **kwargs)  # One of them cannot be unpacked: CPython says which.
    return _go(frame, first, second, list(arguments), dict(kwargs))


def _go(frame, first, second, arguments, kwargs):
    """Call: the callable is the half that is not NULL, or else the first one with a self."""
    if first is NULL:
        function = second
    else:
        function = first
        if second is not NULL:
            arguments.insert(0, second)
    machine = frame.machine
    entered = machine.enter(function, arguments, kwargs)
    if entered is None:
        frame.stack.append(machine.call_native(function, arguments, kwargs))
    return entered


@opcode("DICT_MERGE")
def dict_merge(frame, depth):
    """[function …, dict, …, mapping] → [function …, dict, …]: keyword arguments, no key twice"""
    more = frame.stack.pop()
    known = frame.stack[-depth]
    if not hasattr(more, "keys") or any(key in known for key in more.keys()):  # noqa: SIM118
        _function_below(frame.stack, depth)(**known, **more)  # CPython says what is wrong.
    known.update(more)


def _function_below(stack, depth):
    """Return the callable of a call whose keywords are merged: below them and the arguments."""
    lower, upper = stack[-depth - 3], stack[-depth - 2]
    return upper if lower is NULL or upper is not NULL else lower


DEFAULTS, KEYWORD_DEFAULTS, ANNOTATIONS, CLOSURE = 1, 2, 4, 8


@opcode("MAKE_FUNCTION")
def make_function(frame, flags):
    """[the attributes that the flags name …, code] → [function]"""
    code = frame.stack.pop()
    flags = flags or 0
    parts = {flag: frame.stack.pop() for flag in (8, 4, 2, 1) if flags & flag}
    closure = parts.pop(CLOSURE, None) or tuple(CellType() for _ in code.co_freevars)
    function = FunctionType(code, frame.globals, None, None, closure)
    for flag, value in parts.items():
        _give(function, flag, value)
    frame.stack.append(function)


@opcode("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(frame, flag):
    """[value, function] → [function]: 3.13 gives the attributes one by one"""
    function, value = frame.stack.pop(), frame.stack.pop()
    if flag == CLOSURE:  # The attribute is read-only, so the function is made once more.
        old = function
        function = FunctionType(old.__code__, old.__globals__, None, old.__defaults__, value)
        function.__kwdefaults__, function.__annotations__ = old.__kwdefaults__, old.__annotations__
    else:
        _give(function, flag, value)
    frame.stack.append(function)


def _give(function, flag, value):
    if flag == DEFAULTS:
        function.__defaults__ = value
    elif flag == KEYWORD_DEFAULTS:
        function.__kwdefaults__ = value
    elif flag == ANNOTATIONS:
        flat = isinstance(value, tuple)
        pairs = zip(value[::2], value[1::2], strict=True) if flat else value.items()
        function.__annotations__ = dict(pairs)


@opcode("LOAD_BUILD_CLASS")
def load_build_class(frame, _):
    """[] → [__build_class__]"""
    try:
        frame.stack.append(frame.builtins["__build_class__"])
    except KeyError:
        raise NameError("__build_class__ not found") from None
