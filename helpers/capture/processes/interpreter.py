"""Source, or a function's source -> run in a Python of its own, in a folder of its own.

The folder holds the child's working folder, its home and its temporary files; it goes with it.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from helpers.safety import child_main
from helpers.safety.arguments import printable
from helpers.safety.folders import Home, temporary, write_new
from helpers.safety.interrupts import uninterrupted
from helpers.safety.processes import Ended, run

ROOT = Path(__file__).parents[3]
MOST = 50_000_000  # bytes of an answer
FATAL = "Fatal Python error: init"  # Python/pylifecycle.c, before the first line of a program


@dataclass(frozen=True)
class Reply:
    """How a child ended, and the lines that it told on its own channel, in order."""

    ended: Ended
    told: tuple[dict, ...]

    def last(self, name: str, missing=None):
        """Return what was told last under a name."""
        return next((line[name] for line in reversed(self.told) if name in line), missing)


@contextmanager
def folder_of(request: dict) -> Iterator[Home]:
    """Give a folder with a request and all that a child needs; it is gone after the block."""
    with temporary("child-") as home:
        for name in (child_main.WORK, child_main.TEMPORARY, child_main.HOME):
            (home.path / name).mkdir()
        write_new(home.path / child_main.REQUEST, json.dumps(request).encode())
        yield home


def ask(request: dict, seconds: float, env: dict | None = None) -> Reply:
    """Run a request in a new interpreter: `source`, or `source`, `name` and `args` of a function.

    The child finds the modules that this process finds. RuntimeError where no interpreter starts.
    """
    with uninterrupted(), folder_of({"path": search_path(), **request}) as home:
        command = [sys.executable, "-P", child_main.__file__, str(home.path)]
        try:
            ended = run(
                command, seconds, cwd=home.path / child_main.WORK, env=env, home=home.passport
            )
        except OSError as error:
            raise RuntimeError(f"no interpreter starts for a child: {error}".rstrip(": ")) from None
        if ended.code == 1 and FATAL in ended.err:
            raise RuntimeError(f"no interpreter starts for a child{lost_home()}")
        return Reply(ended, told_in(home))


def lost_home() -> str:
    """Return why Python itself may find no modules in a child, as the end of a sentence."""
    place = os.environ.get("PYTHONHOME")
    return "" if place is None else f": PYTHONHOME is '{printable(place)}' in os.environ"


def search_path() -> list[str]:
    """Return where this process finds modules, by places that hold in any working folder."""
    texts = [one for one in sys.path if type(one) is str]
    try:
        os.getcwd()
    except OSError:  # the folder is gone, so nothing is found in it
        texts = list(filter(os.path.isabs, texts))
    return list(dict.fromkeys([str(ROOT), *(os.path.abspath(one) for one in texts)]))


def told_in(home: Home) -> tuple[dict, ...]:
    """Return the lines that a child told; one that was cut off by its end is no line."""
    try:
        with open(home.path / child_main.TOLD, "rb") as file:
            data = file.read(MOST + 1)
    except OSError:
        return ()
    if len(data) > MOST:
        return ({"fault": f"more than {MOST // 1_000_000:,} MB"},)
    return tuple(filter(None, map(_line, data.split(b"\n"))))


def _line(data: bytes) -> dict:
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if type(found) is dict else {}
