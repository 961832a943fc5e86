"""A callable and its arguments -> a frame to run, or a value where C code does the work.

Python functions, methods, classes with a Python `__init__` and objects with a Python `__call__` run
in the machine. What C code calls back by itself (the key of `sorted`, an operator's method, a
`__new__`, a property) is run by CPython: it never asks us. Builtins that look at the frame they are
called from would find the machine's own; in place of them stand functions that look at the
machine's frame.
"""

import builtins
import inspect
import sys
import types
from types import BuiltinFunctionType, FunctionType, MethodType

from helpers.mini.vm.instructions import NULL, Unsupported
from helpers.safety.arguments import printable

ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
STAR, STAR_STAR = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS


def enter(caller, function, args, kwargs):
    """Return a new frame for a call of Python code, its parameters bound; None for all else."""
    while type(function) is MethodType:
        function, args = function.__func__, (function.__self__, *args)
    if type(function) is not FunctionType:
        if type(function) is BuiltinFunctionType:
            return None
        if isinstance(function, type):
            return _enter_init(caller, function, args, kwargs)
        call = type(function).__call__ if callable(function) else None
        python = type(call) is FunctionType
        return enter(caller, call, (function, *args), kwargs) if python else None
    code, space = function.__code__, function.__globals__
    flags = code.co_flags
    if flags & ASYNC:
        name = printable(code.co_qualname)
        raise Unsupported(f"this machine runs no async code, and {name} is async")
    # Code of a module or a class has no fast locals: a function of it works on its globals.
    names = None if flags & inspect.CO_OPTIMIZED else space
    local = _bound(function, code, args, kwargs)
    frame = caller.frame(code, space, names, function.__closure__ or (), local)
    if flags & inspect.CO_GENERATOR:
        frame.titles = function.__name__, function.__qualname__
    if frame.depth > sys.getrecursionlimit():
        raise RecursionError("maximum recursion depth exceeded")
    return frame


def _enter_init(caller, cls, args, kwargs):
    """Return the frame of a Python `__init__`, its instance made; None for every rarer way."""
    if type(cls).__call__ is not type.__call__ or cls.__new__ is not object.__new__:
        return None
    init = cls.__init__
    if type(init) is not FunctionType:
        return None
    obj = cls.__new__(cls, *args, **kwargs)
    frame = enter(caller, init, (obj, *args), kwargs)
    frame.making = obj
    return frame


def _bound(function, code, args, kwargs) -> dict:
    """Return the parameters with their values; where they do not fit, CPython says so."""
    names, flags = code.co_varnames, code.co_flags
    last = code.co_argcount + code.co_kwonlyargcount
    if len(args) == last == code.co_argcount and not kwargs and not flags & (STAR | STAR_STAR):
        return dict(zip(names, args, strict=False))
    fast = [NULL] * (last + bool(flags & STAR) + bool(flags & STAR_STAR))
    if not _bind(fast, function, code, args, kwargs):
        function(*args, **kwargs)
        raise Unsupported(f"the arguments of {printable(code.co_qualname)} could not be bound")
    return dict(zip(names, fast, strict=False))


def _bind(fast: list, function, code, args, kwargs) -> bool:
    """Fill the parameters' slots; False if the arguments do not fit the signature."""
    count, given, flags = code.co_argcount, len(args), code.co_flags
    last, names = count + code.co_kwonlyargcount, code.co_varnames
    fast[: min(given, count)] = args[:count]
    rest = {} if flags & STAR_STAR else None
    if flags & STAR:
        fast[last] = tuple(args[count:])
    elif given > count:
        return False
    if flags & STAR_STAR:
        fast[last + bool(flags & STAR)] = rest
    for name, value in kwargs.items():
        if name in names[code.co_posonlyargcount : last]:
            slot = names.index(name, code.co_posonlyargcount, last)
            if fast[slot] is not NULL:
                return False
            fast[slot] = value
        elif rest is None or not isinstance(name, str):
            return False
        else:
            rest[name] = value
    defaults = function.__defaults__ or ()
    usual = dict(enumerate(defaults, count - len(defaults)))
    for slot in range(last):
        if fast[slot] is NULL:
            by_name = (function.__kwdefaults__ or {}) if slot >= count else {}
            fast[slot] = usual.get(slot, NULL) if slot < count else by_name.get(names[slot], NULL)
    return all(value is not NULL for value in fast[:last])


def call_native(caller, function, args, kwargs):
    """Call what is no Python function. Builtins that look at their caller see this machine's."""
    kind = type(function)
    if kind is BuiltinFunctionType or kind is type:
        asker = ASKERS.get(function)
        if asker is not None:
            return asker(caller, *args, **kwargs)
    return function(*args, **kwargs)


# --- builtins that look at the frame that calls them


def _vars(frame, *args):
    return vars(*args) if args else frame.namespace()


def _dir(frame, *args):
    return dir(*args) if args else sorted(frame.namespace())


def _super(frame, *args):
    """Find the class and the first argument where the compiler left them."""
    if args:
        return super(*args)
    if not frame.code.co_argcount:
        raise RuntimeError("super(): no arguments")
    cls, first = map(frame.value_of_slot, ("__class__", frame.code.co_varnames[0]))
    if cls is NULL or first is NULL:
        raise RuntimeError("super(): __class__ cell not found")
    return super(cls, first)


def _eval(frame, source, *spaces):
    return eval(source, *(spaces or (frame.globals, frame.namespace())))


def _exec(frame, source, *spaces, **closure):
    exec(source, *(spaces or (frame.globals, frame.namespace())), **closure)


def _getframe(frame, depth=0):
    for _ in range(max(depth, 0)):
        if frame is not None:
            frame = frame.f_back
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def _module_name(frame, depth=0):
    try:
        return _getframe(frame, depth).f_globals.get("__name__")
    except ValueError:
        return None


def _exc_info(frame):
    error = frame.handling.topmost()
    return (type(error), error, error.__traceback__) if error is not None else (None, None, None)


def _build_class(frame, body, name, *bases, **keywords):
    """Mirror `builtin___build_class__` in CPython's `Python/bltinmodule.c`."""
    resolved = types.resolve_bases(bases)
    meta, names, keywords = types.prepare_class(name, resolved, keywords)
    frame.run_code(body.__code__, body.__globals__, names, body.__closure__ or ())
    if resolved is not bases:
        names["__orig_bases__"] = bases
    return frame.call(meta, name, resolved, names, **keywords)


ASKERS = {
    **{globals: lambda frame: frame.globals, locals: lambda frame: frame.namespace()},
    **{vars: _vars, dir: _dir, super: _super, eval: _eval, exec: _exec},
    **{builtins.__build_class__: _build_class, sys._getframe: _getframe, sys.exc_info: _exc_info},
}
for _name, _asker in {
    "exception": lambda frame: frame.handling.topmost(),
    "_getframemodulename": _module_name,
}.items():
    if hasattr(sys, _name):
        ASKERS[getattr(sys, _name)] = _asker
