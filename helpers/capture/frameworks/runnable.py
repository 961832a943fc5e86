"""Check that an object can be run as a function, before a verb sets its recorders. A *verb* is a
public function of this package, such as `watch_call`, which runs a function of the learner's.
"""

from types import FunctionType

from ..cpython.objects import refuse_async
from ..cpython.unwrapping import find_called_function
from ..text.error import suggest_function_of_module
from ..text.value import short_repr


def require_runnable(fn, verb: str, args: tuple = ()) -> FunctionType | None:
    """Return the Python function inside `fn`, None if there is none, as in a function in C.

    `fn` may be a function, a method, or an object that wraps a function. TypeError says that `fn`
    cannot be called, or that a call would only make a coroutine. `verb` is the name of the public
    function, for the message. `args` are the arguments with which `fn` will be called.
    """
    if not callable(fn):
        needed = f"{verb} needs a function and its arguments, not {short_repr(fn)}"
        raise TypeError(f"{needed}{suggest_function_of_module(fn)}")
    function = find_called_function(fn, args)
    if function is not None:
        refuse_async(function, verb)
    return function
