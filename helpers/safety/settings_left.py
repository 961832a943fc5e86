"""The settings of before -> which of them somebody else's code has changed and left, in words.

They are of a whole process: nobody sees them in a result, and everything that runs later does.
"""

import sys

from helpers.safety.imported import module
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.settings import SETTINGS
from helpers.safety.settings.setting import UNREAD, Setting

__builtins__ = BUILTINS

NAMES = (
    "the working folder",
    "NumPy's handling of errors",
    "torch's default dtype",
    "whether tf.functions run eagerly",
)


def _stance():
    frames = module("torch._dynamo.eval_frame")
    return UNREAD if frames is None else frames._stance.stance


def _put_stance(was: str) -> None:
    module("torch").compiler.set_stance(was)


_NAMED = {setting.name: setting for setting in SETTINGS}
WATCHED = (
    Setting("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    *(_NAMED[name] for name in NAMES),
    Setting("the stance of torch.compile", _stance, _put_stance),
)


def read() -> dict[str, object]:
    """Return the settings by name; those of a framework that is not loaded are `UNREAD`."""
    return {setting.name: _read(setting) for setting in WATCHED}


def left(before: dict[str, object]) -> str:
    """Put each setting back that is another one now; say which was the first, or nothing."""
    words = ""
    for setting in WATCHED:
        was = before[setting.name]
        if was is not UNREAD and _read(setting) != was:
            words = words or f"your code changed {setting.name}, and left it so; it is put back"
            setting.put(was)
    return words


def _read(setting: Setting):
    try:
        return setting.read()
    except AttributeError:  # its module is loaded in part
        return UNREAD
