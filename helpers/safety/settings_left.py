"""The settings of before -> which of them somebody else's code has changed and left, in words.

Settings of a whole process, of Python and of those frameworks that are loaded, that `whole` does
not put back: nobody sees them in a result, and everything that runs later does.
"""

import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS


class Setting(NamedTuple):
    """One setting: what sets it, as a learner would write it; how it is read and put back."""

    called: str
    read: Callable[[], object]
    put: Callable[[object], None]


def read() -> dict[str, object]:
    """Return the settings by name; a framework's only where it is loaded."""
    return {setting.called: setting.read() for setting in _settings()}


def left(before: dict[str, object]) -> str:
    """Put each setting back that is another one now; say which was the first, or nothing."""
    words = ""
    for name, get, put in _settings():
        if name in before and (now := get()) != before[name]:
            words = words or f"your code left {name} at {now!r}; it was {before[name]!r} before"
            put(before[name])
    return words


def _settings() -> list[Setting]:
    found = [
        Setting("sys.setrecursionlimit", sys.getrecursionlimit, sys.setrecursionlimit),
        Setting("the working directory", _directory, os.chdir),
    ]
    if numpy := _loaded("numpy", "seterr"):
        found.append(Setting("np.seterr", numpy.geterr, lambda was: numpy.seterr(**was)))
    if torch := _loaded("torch", "compile"):
        read, put = torch.get_default_dtype, torch.set_default_dtype
        found.append(Setting("torch.set_default_dtype", read, put))
    if frames := _loaded("torch._dynamo.eval_frame", "_stance"):
        put = sys.modules["torch"].compiler.set_stance
        found.append(Setting("torch.compiler.set_stance", lambda: frames._stance.stance, put))
    if tensorflow := _loaded("tensorflow", "config"):
        config = tensorflow.config
        read, put = config.functions_run_eagerly, config.run_functions_eagerly
        found.append(Setting("tf.config.run_functions_eagerly", read, put))
    return found


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return ""


def _loaded(module: str, name: str):
    """Return a module that somebody has imported to its end already, or None."""
    found = sys.modules.get(module)
    return found if hasattr(found, name) else None
