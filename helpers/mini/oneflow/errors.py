"""OpError: the one exception of this package; its sentence names op, blob and file.

The original mostly aborted the process (CHECK in C++) or raised a bare AssertionError.
"""

from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from ...safety.arguments import printable, real_type_name
from ...safety.missing_parts import OneSentence


class OpError(Exception):
    """What was wrong with an op, a kernel or a job, and what would be right.

    `stage` says when it was found: "load", "define", "build", "infer", "backward" or "run".
    """

    def __init__(self, message, stage=None):
        """Say `message`; without a stage, the block of `stage` around it gives one."""
        super().__init__(message)
        self.stage = stage


class NoCompiler(OneSentence, OpError):
    """There is no C++ compiler for a definition in C++."""


@contextmanager
def stage(name):
    """Give errors from inside the block, or the function, their stage, unless they have one."""
    try:
        yield
    except OpError as error:
        error.stage = error.stage or name
        raise


def need(ok, message):
    """Raise OpError with the message unless ok."""
    if not ok:
        raise OpError(message)


def lookup(table, kind, key, owner=""):
    """Return the value of a name, or of a (name, index); OpError says what the owner has."""
    if key in table:
        return table[key]
    if isinstance(key, tuple):
        name, index = key
        shown = f'("{name}", {index})'
    else:
        shown = f'"{key}"'
    names = [known[0] if isinstance(known, tuple) else known for known in table]
    raise OpError(f"{owner}has no {kind} {shown}; it has {listed(names)}")


def listed(names, none="nothing"):
    """Return names in quotes: '"in", "out"'."""
    return ", ".join(f'"{name}"' for name in names) or none


def place(path):
    """Return a file's name with its folder's, which is the same on every machine; "" for none."""
    if not path:
        return ""
    file = Path(path)
    return f"{file.parent.name}/{file.name}"


def in_file(text, path):
    """Return a text about something in a file, with its place in brackets."""
    return f"{text} ({place(path)})" if path else text


def raised(error, file=None):
    """Say an exception in one line, with the line of `file` where it came up."""
    frames = walk_tb(error.__traceback__)
    lines = [number for frame, number in frames if frame.f_code.co_filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines = [error.lineno]
    where = f"{place(file)}, line {lines[-1]}: " if lines else ""
    return f"{where}{real_type_name(error)}: {printable(str(error), 300)}".rstrip(": ")
