"""In a child: what it is asked to run -> what came of it, told in a file of its own.

Nothing that is printed, by whatever thread and however late, is taken for a result. Run as a
script, with the folder that holds the request; standard library only.
"""

import contextlib
import json
import os
import site
import sys
import tempfile
import traceback
from collections.abc import Iterator
from types import ModuleType

MOST = 20_000  # characters of an error
PLACE = "COURSE_CHILD_TELLS"  # in the environment of a child: its number, and the folder
REQUEST, TOLD, WORK, TEMPORARY, HOME = "request.json", "told", "work", "temporary", "home"
PLAIN = (str, int, float, bool, type(None))
MOST_VALUES = 2_000_000  # of an argument or a result
MOST_BITS = 14_000  # of an int: Python writes no more than 4,300 digits


class Channel:
    """The file in which a child tells its starter, a line each; a copy of the child is silent."""

    def __init__(self, folder: str):
        self._path, self._teller = os.path.join(folder, TOLD), os.getpid()

    def tell(self, **words) -> None:
        """Add a line. The file is open only so long: nobody can close it or write garbage to it."""
        if os.getpid() == self._teller:
            line = json.dumps(words).encode() + b"\n"
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
            handle = os.open(self._path, flags, 0o600)
            try:
                os.write(handle, line)
            finally:
                os.close(handle)


def channel() -> Channel:
    """Return the channel of the child that this is."""
    return Channel(os.environ[PLACE])


def settle(folder: str) -> Channel:
    """Make this process the child of a folder: work, home and temporary files are inside.

    Caches stay where they are, and so do the packages that its user has installed. What it prints
    is UTF-8 whatever the locale says, as in a kernel.
    """
    # Not `reconfigure`: in a forked child these streams were made for another file.
    sys.stdout, sys.stderr = _writing_to(1), _writing_to(2, buffering=1)
    os.chdir(os.path.join(folder, WORK))
    kept = {
        "XDG_CACHE_HOME": os.path.join(os.path.expanduser("~"), ".cache"),
        "PYTHONUSERBASE": site.USER_BASE or "",
    }
    for name, place in kept.items():
        if os.path.isabs(place) and not os.environ.get(name):
            os.environ[name] = place
    os.environ["HOME" if os.name == "posix" else "USERPROFILE"] = os.path.join(folder, HOME)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = os.path.join(folder, TEMPORARY)
    tempfile.tempdir = None
    os.environ[PLACE] = folder
    return Channel(folder)


def _writing_to(handle: int, buffering: int = -1):
    return open(handle, "w", buffering, encoding="utf-8", errors="backslashreplace", closefd=False)


def run_source(source: str, space: dict, told: Channel) -> int:
    """Run source; tell its uncaught exception, return the exit code that Python gives for it."""
    code, error = 0, ""
    try:
        exec(compile(source, "<child>", "exec"), space)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        code = code if -(2**31) <= code < 2**31 else -1  # as Python does
    except BaseException as raised:
        code, error = 1, words_of(raised)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    told.tell(error=error)
    return code & 0xFF


def run_function(source: str, name: str, args: list, told: Channel) -> None:
    """Call the function that source defines, and tell its result, or why there is none."""
    space = {"__name__": "apart"}
    try:
        exec(compile(source, "<apart>", "exec"), space)
        result = space[name](*args)
    except SystemExit as leaving:
        told.tell(raised=f"it left by {words_of(leaving)} instead of returning")
    except BaseException as raised:
        told.tell(raised=words_of(raised))
    else:
        fault = why_not_json(result)
        told.tell(fault=fault) if fault else told.tell(result=result)


def words_of(raised: BaseException) -> str:
    """Return an exception's lines as Python prints them, without its traceback."""
    try:
        lines = "".join(traceback.format_exception_only(type(raised), raised)).strip()
    except BaseException:
        lines = _kind(raised)
    return lines if len(lines) <= MOST else f"{lines[:MOST]} … ({len(lines) - MOST:,} more)"


def why_not_json(value: object) -> str:
    """Return why a value does not come through JSON as it is, in words; "" if it does."""
    return _fault(value, 0, iter(range(MOST_VALUES)))


def _fault(value: object, depth: int, left: Iterator[int]) -> str:
    # JSON writes what two places share twice: sixty lists of the next one twice would never end.
    if next(left, None) is None:
        return f"what comes to more than {MOST_VALUES:,} values when it is written out"
    if type(value) is int and value.bit_length() > MOST_BITS:
        return "an int of thousands of digits"
    if type(value) in PLAIN:
        return ""
    if depth > 100:
        return "what holds itself, or is nested more than 100 deep"
    if type(value) is dict:
        odd = next((key for key in value if type(key) is not str), None)
        if odd is not None or None in value:
            return f"a dict with a key of type {_kind(odd)}"
        value = list(value.values())
    if type(value) not in (list, tuple):
        return f"a value of type {_kind(value)}"
    for one in value:
        if why := _fault(one, depth + 1, left):
            return why
    return ""


def _kind(value: object) -> str:
    """Return the name of a type, short and printable; no code of the type is run."""
    name = type.__dict__["__name__"].__get__(type(value))[:60]
    return "".join(c if c.isprintable() else "�" for c in name)


def main() -> None:
    """Do what the request in the folder asks; the folder is the one argument."""
    folder = sys.argv[1]
    with open(os.path.join(folder, REQUEST), encoding="utf-8") as file:
        request = json.load(file)
    told = settle(folder)
    sys.argv[:] = ["-c"]
    sys.path[:] = [*request["path"], *(one for one in sys.path if one not in request["path"])]
    if "name" in request:
        run_function(request["source"], request["name"], request["args"], told)
        os._exit(0)  # what it left running does not count
    main_module = ModuleType("__main__")
    sys.modules["__main__"] = main_module
    sys.exit(run_source(request["source"], vars(main_module), told))


if __name__ == "__main__":
    main()
