"""A code object -> why the file that it names is not its source: that has been written anew since.

A module that was edited after its import runs as it was, and its lines now say something else.
What the file holds now is compiled and held against the code; a file that is older than this
process is not, for it cannot have changed.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from types import CodeType

from helpers.safety.arguments import printable
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

MOST_FILES = 8
# Only Dynamo gives these names, and pytest, which writes more into each `assert`.
MADE = "__compiled_fn", "__resume_at", "torch_dynamo_resume", "@py"
_COMPILED: dict[str, tuple[tuple, list[CodeType]]] = {}
_TOLD: set[tuple] = set()


def outdated(code: CodeType, lines: list[str]) -> str:
    """Return, as half a sentence, why these lines are not what the code was made from; "" if so."""
    name = str.__str__(code.co_filename)
    stamp = _stamp(name)
    if stamp is None or _is_made(code):
        return ""
    if name not in _COMPILED or _COMPILED[name][0] != stamp:
        if len(_COMPILED) >= MOST_FILES:
            _COMPILED.clear()
        _COMPILED[name] = stamp, list(_codes(name, lines))
    if any(one == code for one in _COMPILED[name][1]):
        return ""
    file, made = printable(os.path.basename(name)), printable(code.co_name)
    return f"{file} no longer holds what {made} was made from; import or reload it anew"


def _is_made(code: CodeType) -> bool:
    """Return whether somebody has made this code, or code in it, of more than the file holds."""
    names = code.co_name, *code.co_names, *code.co_varnames
    inner = (one for one in code.co_consts if type(one) is CodeType)
    return any(one.startswith(MADE) for one in names) or any(map(_is_made, inner))


def tell(code: CodeType, why: str) -> None:
    """Say on stderr, once for each version of the file, that its lines are not shown."""
    key = code.co_filename, code.co_name, _stamp(code.co_filename)
    if key not in _TOLD:
        _TOLD.add(key)
        print(f"No lines of source are shown: {why}.", file=sys.stderr)


def _stamp(name: str) -> tuple | None:
    """Return what tells two versions of a file apart; None if it is older than this process."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return None
    return (found.st_mtime_ns, found.st_size) if found.st_mtime > _started() else None


@cache
def _started() -> float:
    """Return when this process began; the beginning of time where psutil is missing."""
    try:
        import psutil
    except ImportError:
        return 0.0
    return psutil.Process().create_time()


def _codes(name: str, lines: list[str]) -> Iterator[CodeType]:
    """Yield every code object that these lines make; none if they are no program (now)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            waiting = [compile("".join(lines), name, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [one for one in code.co_consts if type(one) is CodeType]
