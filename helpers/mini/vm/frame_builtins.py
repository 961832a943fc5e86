"""Builtins such as `locals()` and `super()`, rewritten for the frames of a Python-written machine.

These builtins look at the frame that calls them. CPython's own ones would find the frame of the
machine's loop, so the functions here replace them. Each gets the calling frame of the machine as
its first argument.
"""

import sys

from .instructions import NULL


def _super(frame, *args):
    """Return `super(*args)`. Without arguments, find the class and the object in the frame.

    The compiler stores the class of a method in the cell `__class__`. The object is the method's
    first parameter. The errors are CPython's.
    """
    if args:
        return super(*args)
    if not frame.code.co_argcount:
        raise RuntimeError("super(): no arguments")
    first_parameter = frame.code.co_varnames[0]
    cls = frame.value_of_slot("__class__")
    obj = frame.value_of_slot(first_parameter)
    if cls is NULL or obj is NULL:
        raise RuntimeError("super(): __class__ cell not found")
    return super(cls, obj)


def _make_evaluator(function):
    """Return a replacement for `function`, which is `eval` or `exec`.

    If the call passes no namespaces, the replacement uses the globals and locals of the calling
    frame of the machine.
    """

    def call(frame, source, *namespaces, **closure):
        return function(source, *(namespaces or (frame.globals, frame.f_locals)), **closure)

    return call


def _getframe(frame, depth=0):
    """Return the frame that is `depth` calls outside of `frame`, as `sys._getframe` does."""
    for _ in range(depth):
        frame = frame.f_back if frame is not None else None
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def _exc_info(frame):
    """Return what `sys.exc_info` returns: type, value and traceback of the handled exception."""
    error = frame.handled
    if error is None:
        return None, None, None
    return type(error), error, error.__traceback__


# Builtin -> the function that replaces it, with the calling frame as an additional first parameter.
FRAME_BUILTINS = {
    globals: lambda frame: frame.globals,
    locals: lambda frame: frame.f_locals,
    vars: lambda frame, *args: vars(*args) if args else frame.f_locals,
    dir: lambda frame, *args: dir(*args) if args else sorted(frame.f_locals),
    super: _super,
    eval: _make_evaluator(eval),
    exec: _make_evaluator(exec),
    sys._getframe: _getframe,
    sys.exc_info: _exc_info,
    sys.exception: lambda frame: frame.handled,
}
if hasattr(sys, "_getframemodulename"):  # since 3.12
    FRAME_BUILTINS[sys._getframemodulename] = lambda frame, *depth: _getframe(
        frame, *depth
    ).f_globals.get("__name__")
