"""OpError: the one exception of this package; its sentence names op, blob and file.

The original mostly aborted the process (CHECK in C++) or raised a bare AssertionError.
"""

from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from types import FunctionType

from helpers.safety.arguments import printable, real_type_name
from helpers.safety.missing_parts import OneSentence

_PLAIN = (str, int, float, bool, type(None))


class OpError(Exception):
    """What was wrong with an op, a kernel or a job, and what would be right.

    `stage` says when it was found: "load", "define", "build", "infer", "backward" or "run".
    """

    def __init__(self, message, stage=None):
        super().__init__(message)
        self.stage = stage


class NoCompiler(OneSentence, OpError):
    """There is no C++ compiler for a definition in C++."""


@contextmanager
def stage(name):
    """Give errors from inside the block their stage, unless they have one."""
    try:
        yield
    except OpError as error:
        error.stage = error.stage or name
        raise


def need(ok, message):
    """Raise OpError with the message unless ok."""
    if not ok:
        raise OpError(message)


def listed(names):
    """Return names in quotes: '"in", "out"'; 'nothing' for none."""
    return ", ".join(f'"{name}"' for name in names) or "nothing"


def shown(value):
    """Return a short text for any object: no address, no code of its own is run."""
    kind = type(value)
    if kind in (tuple, list) and not all(type(item) in _PLAIN for item in value[:60]):
        return f"a {kind.__name__}"
    if kind in (*_PLAIN, tuple, list):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    name = value.__name__ if kind in (type, FunctionType) else ""
    return f"{real_type_name(value)} {printable(name)}".rstrip()


def place(path):
    """Return a file's name with its folder's, which is the same on every machine; "" for none."""
    return f"{Path(path).parent.name}/{Path(path).name}" if path else ""


def in_file(words, path):
    """Return words about what stands in a file, with its place in brackets."""
    return f"{words} ({place(path)})" if path else words


def raised(error, file=None):
    """Say an exception in one line, with the line of `file` where it came up."""
    line = _line_in(error, str(file)) if file else None
    where = f"{place(file)}, line {line}: " if line else ""
    return f"{where}{real_type_name(error)}: {printable(str(error), 300)}".rstrip(": ")


def _line_in(error, file):
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    frames = walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == file]
    return lines[-1] if lines else None
