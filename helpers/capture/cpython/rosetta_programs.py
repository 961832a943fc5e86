"""The functions whose bytecode is stored for several versions of Python; plain enough for 3.8."""

import inspect
import linecache
import types

TEXT, NAME = "def foo(x=5, y=7):\n    return x + y\n", "<a module of one def>"
linecache.cache[NAME] = len(TEXT), None, TEXT.splitlines(True), NAME


def add(x, y):
    """Return the sum of two values."""
    return x + y


def current(x, y):
    """Return the sum of two values, and the frame that runs this function."""
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


# A function whose code is that of a whole module, so that it can be listed like the others.
module = types.FunctionType(compile(TEXT, NAME, "exec"), {}, "module")

PROGRAMS = (add, current, shout, total, ordered, guarded, module)
