"""The functions whose bytecode is stored for several versions of Python; plain enough for 3.8."""

import inspect
import linecache
import types

TEXT, NAME = "def foo(x=5, y=7):\n    return x + y\n", "<a module of one def>"
linecache.cache[NAME] = len(TEXT), None, TEXT.splitlines(True), NAME


def add(x, y):
    """Return a sum: the source document's first function."""
    return x + y


def current(x, y):
    """Return a sum and the running frame: its second one."""
    result = x + y
    frame = inspect.currentframe()
    return result, frame


def shout(word):
    """Call a method."""
    return word.upper()


def total(numbers):
    """Loop, compare, add."""
    t = 0
    for n in numbers:
        if n > 2:
            t += n
    return t


def ordered(words):
    """Call with a keyword."""
    return sorted(words, key=len)


def guarded(x):
    """Catch an exception."""
    try:
        return 1 // x
    except ZeroDivisionError:
        return None


# A module's code, in the form of a function, so that it is listed like the others.
module = types.FunctionType(compile(TEXT, NAME, "exec"), {}, "module")

PROGRAMS = (add, current, shout, total, ordered, guarded, module)
