"""Builtins that look at the frame they are called from -> the same, looking at the machine's frame.

They are C functions, so they would find the machine's own frame and speak of its variables.
"""

import builtins
import operator
import sys
import types
import typing
import warnings

from helpers.mini.vm import suspended, warning
from helpers.mini.vm.values import NULL

FEATURES = 0x1FF0000  # The bits of co_flags that `from __future__ import …` sets.


def _globals(frame):
    return frame.globals


def _locals(frame):
    return frame.namespace()


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
    if "__class__" not in frame.cells:
        raise RuntimeError("super(): __class__ cell not found")
    cls, first = map(frame.value_of_slot, ("__class__", frame.code.co_varnames[0]))
    if cls is NULL:
        raise RuntimeError("super(): empty __class__ cell")
    if first is NULL:
        raise RuntimeError("super(): arg[0] deleted")
    return super(cls, first)


def _eval(frame, source, *spaces):
    return _run(frame, eval, "eval", source, spaces)


def _exec(frame, source, *spaces, **closure):
    if closure:
        return exec(source, *spaces, **closure)
    _run(frame, exec, "exec", source, spaces)
    return None


def _run(frame, native, mode, source, spaces):
    """Compile where needed, then run in the machine; CPython refuses what it would refuse."""
    space, names = (*spaces, None, None)[:2]
    if space is None:
        space, names = frame.globals, frame.namespace() if names is None else names
    if names is None:
        names = space
    if type(space) is not dict or not hasattr(type(names), "__getitem__"):
        return native(source, *spaces)
    if isinstance(source, (str, bytes)):
        flags = frame.code.co_flags & FEATURES
        text = source.lstrip(" \t" if isinstance(source, str) else b" \t")
        source = compile(text if mode == "eval" else source, "<string>", mode, flags, True)
    if not isinstance(source, types.CodeType) or source.co_freevars:
        return native(source, space, names)
    space.setdefault("__builtins__", frame.builtins)
    return frame.run_code(source, space, names)


def _getframe(frame, *args):
    if len(args) > 1 or not all(hasattr(type(depth), "__index__") for depth in args):
        return sys._getframe(*args)  # CPython says what is wrong
    return _frame_at(frame, operator.index(args[0]) if args else 0)


def _frame_at(frame, depth):
    if depth < 0:
        return frame
    while depth and hasattr(frame, "thread") and frame.back is not None:
        frame, depth = frame.back, depth - 1
    if depth and hasattr(frame, "thread"):
        frame, depth = frame.f_back, depth - 1
    while depth and frame is not None:
        frame, depth = frame.f_back, depth - 1
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def _getframemodulename(frame, depth=0):
    try:
        return _getframe(frame, depth).f_globals.get("__name__")
    except ValueError:
        return None


def _exc_info(frame):
    error = frame.handling.topmost()
    return (type(error), error, error.__traceback__) if error is not None else (None, None, None)


def _exception(frame):
    return frame.handling.topmost()


def _build_class(frame, body, name, *bases, **keywords):
    """Mirror `builtin___build_class__` in CPython's `Python/bltinmodule.c`."""
    resolved = types.resolve_bases(bases)
    meta = keywords.pop("metaclass", None)
    if meta is None:
        meta = type(resolved[0]) if resolved else type
    if isinstance(meta, type):
        meta = _most_derived(meta, resolved)
    prepare = getattr(meta, "__prepare__", None)
    names = frame.call(prepare, name, resolved, **keywords) if prepare else {}
    if not hasattr(type(names), "__getitem__"):
        shown = meta.__name__ if isinstance(meta, type) else "<metaclass>"
        kind = type(names).__name__
        raise TypeError(f"{shown}.__prepare__() must return a mapping, not {kind}")
    cell = frame.run_code(body.__code__, body.__globals__, names, body.__closure__ or ())
    if resolved is not bases:
        names["__orig_bases__"] = bases
    cls = frame.call(meta, name, resolved, names, **keywords)
    if type(cell) is types.CellType and isinstance(cls, type):
        _check_class_cell(cell, cls, name)
    return cls


def _most_derived(meta, bases):
    """Return the metaclass that fits all bases: `_PyType_CalculateMetaclass`, and no more.

    `types.prepare_class` would call `__prepare__`, which is to be called once.
    """
    for base in bases:
        if issubclass(meta, type(base)):
            continue
        if not issubclass(type(base), meta):
            raise TypeError(
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) "
                "subclass of the metaclasses of all its bases"
            )
        meta = type(base)
    return meta


def _getattr(frame, *args):
    """Answer for a generator of this machine; an exact name of one of its attributes."""
    if len(args) in (2, 3) and suspended.shows(*args[:2]):
        return suspended.shown(*args[:2])
    return getattr(*args)


def _type_variable(make):
    """Return what makes a TypeVar and tells it the module it was made in (3.12: in C)."""

    def made(frame, *args, **kwargs):
        variable = make(*args, **kwargs)
        variable.__module__ = frame.globals.get("__name__")
        return variable

    return made


def _check_class_cell(cell, cls, name):
    try:
        found = cell.cell_contents
    except ValueError:
        raise RuntimeError(
            f"__class__ not set defining {name!r} as {cls!r}. "
            "Was __classcell__ propagated to type.__new__?"
        ) from None
    if found is not cls:
        raise TypeError(f"__class__ set to {found!r} defining {name!r} as {cls!r}")


ASKERS = {
    **{globals: _globals, locals: _locals, vars: _vars, dir: _dir, super: _super},
    **{eval: _eval, exec: _exec, builtins.__build_class__: _build_class},
    **{sys._getframe: _getframe, sys.exc_info: _exc_info},
    **{getattr: _getattr, warnings.warn: warning.warn},
}
if sys.version_info >= (3, 12):
    for _kind in (typing.TypeVar, typing.ParamSpec, typing.TypeVarTuple):
        ASKERS[_kind] = _type_variable(_kind)
for _name, _asker in (("exception", _exception), ("_getframemodulename", _getframemodulename)):
    if hasattr(sys, _name):
        ASKERS[getattr(sys, _name)] = _asker
