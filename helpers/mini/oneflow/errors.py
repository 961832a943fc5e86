"""OpError, the only exception of this package, and functions that make its messages.

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
        """Keep the message. If `stage` is None, the function `stage` below sets it later."""
        super().__init__(message)
        self.stage = stage


class NoCompiler(OneSentence, OpError):
    """There is no C++ compiler for a definition in C++."""


@contextmanager
def stage(name):
    """Set the `stage` of an OpError that leaves the block, unless it has one already.

    Use it as `with stage("run"):` or as the decorator `@stage("run")`.
    """
    try:
        yield
    except OpError as error:
        error.stage = error.stage or name
        raise


def require(ok, message):
    """Raise OpError with the message unless ok."""
    if not ok:
        raise OpError(message)


def get_by_name(table, kind, key, owner=""):
    """Return `table[key]`, or raise OpError with the names that the table has.

    A key is a name or (name, index). `kind` and `owner` are words for the message, such as "input"
    and 'op type "relu" '.
    """
    if key in table:
        return table[key]
    if isinstance(key, tuple):
        name, index = key
        shown = f'("{name}", {index})'
    else:
        shown = f'"{key}"'
    names = [entry[0] if isinstance(entry, tuple) else entry for entry in table]
    raise OpError(f"{owner}has no {kind} {shown}; it has {quote_names(names)}")


def quote_names(names, none="nothing"):
    """Return names in quotes, joined by commas: '"in", "out"'; `none` if there are no names."""
    return ", ".join(f'"{name}"' for name in names) or none


def short_path(path):
    """Return the end of a path, "relu/relu_op_def.py"; "" if there is no path.

    The end is the same on every machine, so messages and stored outputs are too.
    """
    if not path:
        return ""
    file = Path(path)
    return f"{file.parent.name}/{file.name}"


def add_file(text, path):
    """Return `text` with the file in brackets: "forward() (relu/relu_py_kernel.py)"."""
    return f"{text} ({short_path(path)})" if path else text


def describe_exception(error, file=None):
    """Return an exception as one line: "relu/relu_py_kernel.py, line 5: ValueError: …".

    The line is the last one of `file` in the traceback. Without one, the result begins with the
    type.
    """
    frames = walk_tb(error.__traceback__)
    lines = [number for frame, number in frames if frame.f_code.co_filename == str(file)]
    # A file that does not compile has no frame; the error itself knows the line.
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines = [error.lineno]
    location = f"{short_path(file)}, line {lines[-1]}: " if lines else ""
    return f"{location}{real_type_name(error)}: {printable(str(error), 300)}".rstrip(": ")
