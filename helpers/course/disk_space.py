"""The disk -> whether it has room for an install."""

import contextlib
import os
import shutil
import sys
from pathlib import Path

from helpers.course import checkout
from helpers.course.terminal import CommandRefused

# On Linux, installed and downloaded: with the CPU build of PyTorch, and with CUDA.
GIGABYTES_NEEDED = {"cpu": 4, "cuda": 9}
# Settings of pip and uv that name another index.
INDEX_SETTINGS = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_FIND_LINKS",
)


def refuse_full_disk() -> None:
    """Refuse to start an install that the disk has no room for."""
    free = shutil.disk_usage(checkout.ROOT).free / checkout.GIGABYTE
    kind = "cpu" if cpu_build_offered() else "cuda"
    need = GIGABYTES_NEEDED[kind]
    if checkout.VENV.is_dir():  # what its packages share with an installer's cache is there already
        need = 1 + size_of(checkout.VENV) / checkout.GIGABYTE
    # An interrupted install goes on with what it has.
    need = max(need - size_of(checkout.NEW) / checkout.GIGABYTE, 1)
    if free < need:
        smaller = " (4 GB without CUDA, see docs/installing.md)" if kind == "cuda" else ""
        raise CommandRefused(
            f"The disk is too full: {free:.1f} GB are free, but the install needs about "
            f"{need:.0f} GB{smaller}; free some space and run the same command again."
        )


def cpu_build_offered() -> bool:
    """Guess whether PyTorch comes without CUDA: on Linux only if another index may have that."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in INDEX_SETTINGS)


def size_of(folder: Path) -> int:
    """Return the bytes of all files of a folder that have no other name, as in a cache."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                status = os.lstat(os.path.join(place, name))
                if status.st_nlink == 1:
                    total += status.st_size
    return total
