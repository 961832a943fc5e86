"""Check that the disk has room for an install of the course's packages."""

import contextlib
import os
import shutil
import sys
from pathlib import Path

from helpers.course import checkout
from helpers.course.terminal import CommandRefused

# Gigabytes for downloads and installed packages on Linux, by the build of PyTorch.
GIGABYTES_NEEDED = {"cpu": 4, "cuda": 9}
# Variables by which pip and uv use another package index.
INDEX_SETTINGS = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_FIND_LINKS",
)


def refuse_full_disk() -> None:
    """Raise CommandRefused if the disk has no room for an install."""
    free = shutil.disk_usage(checkout.ROOT).free / checkout.GIGABYTE
    kind = "cpu" if cpu_build_offered() else "cuda"
    need = GIGABYTES_NEEDED[kind]
    # A new environment needs as much as the present one, and a gigabyte for downloads. Files that
    # are shared with the installer's cache need no further room.
    if checkout.VENV.is_dir():
        need = 1 + size_of(checkout.VENV) / checkout.GIGABYTE
    # An interrupted install has some of the packages already.
    need = max(need - size_of(checkout.NEW) / checkout.GIGABYTE, 1)
    if free < need:
        smaller = " (4 GB without CUDA, see docs/installing.md)" if kind == "cuda" else ""
        raise CommandRefused(
            f"The disk is too full: {free:.1f} GB are free, but the install needs about "
            f"{need:.0f} GB{smaller}; free some space and run the same command again."
        )


def cpu_build_offered() -> bool:
    """Guess whether the installer gets the CPU build of PyTorch, and not the larger CUDA build.

    On Linux the usual index has only the CUDA build. Another index may have the CPU build.
    """
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in INDEX_SETTINGS)


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder, without files that are hard-linked elsewhere.

    An installer hard-links the files in its cache, so such files need no room of their own.
    """
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                status = os.lstat(os.path.join(parent, name))
                if status.st_nlink == 1:
                    total += status.st_size
    return total
