"""Folders that a kernel writes to -> the user's; where those cannot be used, the run's own.

A user without a home folder, or one that only reads it, still has the same outputs: matplotlib,
IPython and the frameworks warn, or stop, where they cannot write. What is made here is removed at
the end of the run. The workers and the kernels of the run inherit the variables.
"""

import getpass
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# variable -> the folder that is used where it is not set; HOME first, as it is part of the others
FOLDERS = {
    "HOME": "~",
    "XDG_CACHE_HOME": "~/.cache",
    "MPLCONFIGDIR": "~/.config/matplotlib",
    "IPYTHONDIR": "~/.ipython",
    "JUPYTER_CONFIG_DIR": "~/.jupyter",
    "JUPYTER_DATA_DIR": "~/.local/share/jupyter",
    "JUPYTER_RUNTIME_DIR": "~/.local/share/jupyter/runtime",
    "KERAS_HOME": "~/.keras",
    "TRITON_CACHE_DIR": "~/.triton/cache",
    "TORCHINDUCTOR_CACHE_DIR": "{temporary}/torchinductor_{user}",
}


def is_usable(folder: str) -> bool:
    """Return whether this user can write in a folder, or make it."""
    path = Path(os.path.expanduser(folder))
    if not path.is_absolute():  # `~` of a user of whom the system knows no home folder
        return False
    while not os.path.lexists(path):
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)


def unusable() -> Iterator[str]:
    """Yield each variable whose folder this user cannot use, in the order of FOLDERS.

    The caller gives a variable its new folder before it asks for the next one.
    """
    try:
        user = getpass.getuser()
    except (ImportError, KeyError, OSError):  # the system has no name for this user
        user = "unknown"
    for name, default in FOLDERS.items():
        folder = os.environ.get(name)
        if not is_usable(folder or default.format(temporary=tempfile.gettempdir(), user=user)):
            yield name


@pytest.hookimpl(tryfirst=True)  # before pytest looks for its cache
def pytest_configure(config):
    """Give the run folders of its own for those that cannot be used."""
    if os.name != "posix":
        return
    patch = pytest.MonkeyPatch()
    for name in unusable():
        own = tempfile.TemporaryDirectory(prefix="course-", ignore_cleanup_errors=True)
        config.add_cleanup(own.cleanup)
        patch.setenv(name, own.name)
    config.add_cleanup(patch.undo)
    if not is_usable(str(config.rootpath)):
        ignored = "ignore:.*could not create cache path:pytest.PytestCacheWarning"
        config.addinivalue_line("filterwarnings", ignored)
