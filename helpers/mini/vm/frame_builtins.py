"""Builtins that look at the frame that calls them, for the frames of the machine.

CPython's own would find the frame of the machine's loop, so functions of ours replace them. Each
gets the calling frame first.
"""

import sys

from .instructions import NULL


def _super(frame, *args):
    """Return `super(*args)`; without arguments, what `super()` means in a method's frame."""
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


def _evaluator(function):
    """Return `eval` or `exec` with the variables of the calling frame where none are given."""

    def call(frame, source, *spaces, **closure):
        return function(source, *(spaces or (frame.globals, frame.f_locals)), **closure)

    return call


def _getframe(frame, depth=0):
    """Return the frame so many calls below the calling one, as `sys._getframe` does."""
    for _ in range(depth):
        frame = frame.f_back if frame is not None else None
    if frame is None:
        raise ValueError("call stack is not deep enough")
    return frame


def _exc_info(frame):
    """Return type, value and traceback of what is being handled, as `sys.exc_info` does."""
    error = frame.handled
    if error is None:
        return None, None, None
    return type(error), error, error.__traceback__


FRAME_BUILTINS = {
    globals: lambda frame: frame.globals,
    locals: lambda frame: frame.f_locals,
    vars: lambda frame, *args: vars(*args) if args else frame.f_locals,
    dir: lambda frame, *args: dir(*args) if args else sorted(frame.f_locals),
    super: _super,
    eval: _evaluator(eval),
    exec: _evaluator(exec),
    sys._getframe: _getframe,
    sys.exc_info: _exc_info,
    sys.exception: lambda frame: frame.handled,
}
if hasattr(sys, "_getframemodulename"):  # since 3.12
    FRAME_BUILTINS[sys._getframemodulename] = lambda frame, *depth: _getframe(
        frame, *depth
    ).f_globals.get("__name__")
