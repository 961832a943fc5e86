"""Find out by the history of git whether a learner's file is a past version of the course's file.
If the learner has not cloned the course, or if git fails, nothing is known about any file.
"""

import hashlib
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from helpers.course import authorship
from helpers.course.fresh import every_fresh

PATIENCE_SECONDS = 6  # for all questions to git together
AT_ONCE = 16  # how many versions of a notebook are in memory at the same time
# How a learner's file can be like a past version.
SAME = "same"  # all bytes are those of a copy of that version
RAN = "ran"  # only what an author writes is the same, because the learner has run the notebook


def past_versions(root: Path, folder: str, files: dict[str, bytes]) -> dict[str, str]:
    """Return file name -> SAME or RAN, for the files that are past versions of the course's files.

    A file that is missing in the result may have been edited by the learner.

    Parameters
    ----------
    root
        The folder of the course.
    folder
        The name of the folder in it that has the course's files.
    files
        File name -> content of the learner's file.
    """
    if not files or not (root / ".git").exists():
        return {}
    states_by_name = {}
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        git = _Git(root)
        blobs_by_name = git.versions(folder)
        # All blobs are searched, not only those of the file's own name: if two files have the same
        # content, git lists the blob under one of the two names.
        every_blob = set().union(*blobs_by_name.values())
        for name, data in files.items():
            if _blob_name(data, every_blob) in every_blob:
                states_by_name[name] = SAME
        # A copy of a notebook differs from the course's file, so its content is compared.
        for name, data in files.items():
            if name in states_by_name:
                continue
            state = _compare_with_versions(name, data, git.read(blobs_by_name.get(name, [])))
            if state:
                states_by_name[name] = state
    return states_by_name


def _compare_with_versions(name: str, data: bytes, versions: Iterable[bytes]) -> str:
    """Return SAME or RAN for the first version that a learner's notebook is like; "" if none is.

    `data` is the content of the learner's file, and `versions` are those of the past versions. For
    a file that is not a notebook, return "".
    """
    if not authorship.is_notebook(name):
        return ""
    written = authorship.written(data, name)
    probes = authorship.probes(data)
    for version in versions:
        # Almost all other versions lack one of these lines. To look for them is cheaper than to
        # read JSON.
        if not all(probe in version for probe in probes):
            continue
        if authorship.written(version, name) == written:
            return SAME if data in every_fresh(version) else RAN
    return ""


def _blob_name(data: bytes, blob_names: Iterable[str]) -> str:
    """Return the name that git gives to a file with this content, which is a hash in hexadecimal.

    `blob_names` are such names from the same repository. Their length says which hash git uses.
    """
    has_long_names = any(len(name) == 64 for name in blob_names)
    hash_function = hashlib.sha256 if has_long_names else hashlib.sha1
    return hash_function(b"blob %d\0" % len(data) + data).hexdigest()


class _Git:
    """Reads the history of one clone by the program git, within `PATIENCE_SECONDS`.

    git neither asks the user for a password nor fetches anything from a server.
    """

    def __init__(self, root: Path):
        """Prepare to read the clone in the folder `root`; the time begins now."""
        self._command = ["git", "-C", str(root), "-c", "core.quotePath=off"]
        self._ends = time.monotonic() + PATIENCE_SECONDS
        self._environment = {}
        for name, value in os.environ.items():
            if not name.startswith("GIT_"):  # such as GIT_DIR, which names another repository
                self._environment[name] = value
        self._environment["GIT_TERMINAL_PROMPT"] = "0"
        self._environment["GIT_NO_LAZY_FETCH"] = "1"

    def versions(self, folder: str) -> dict[str, list[str]]:
        """Return file name -> git's names of the versions of that file, the newest first.

        The file names are relative to `folder`.
        """
        blobs_by_name = {}
        output = self._ask(["rev-list", "--objects", "HEAD", "--", folder])
        for line in output.decode().splitlines():
            blob, _, path = line.partition(" ")  # "<hash> <folder>/<name>"
            if path.startswith(f"{folder}/"):
                name = path.removeprefix(f"{folder}/")
                blobs_by_name.setdefault(name, []).append(blob)
        return blobs_by_name

    def read(self, blobs: list[str]) -> Iterator[bytes]:
        """Yield the content of each blob. git is asked for `AT_ONCE` of them at a time."""
        for start in range(0, len(blobs), AT_ONCE):
            request = "".join(f"{blob}\n" for blob in blobs[start : start + AT_ONCE])
            answer = BytesIO(self._ask(["cat-file", "--batch"], request.encode()))
            while line := answer.readline():
                # "<hash> blob <size>", then the content and the end of a line. For a blob that git
                # lacks the line has two words, which is a ValueError.
                _, _, size = line.decode().split()
                yield answer.read(int(size))
                answer.read(1)

    def _ask(self, arguments: list[str], request: bytes = b"") -> bytes:
        """Return what a git command prints; `request` is its standard input.

        Raise subprocess.SubprocessError if git fails, or if the time for all questions is over.
        """
        process = subprocess.run(
            [*self._command, *arguments],
            input=request,
            capture_output=True,
            check=True,
            env=self._environment,
            timeout=self._ends - time.monotonic(),
        )
        return process.stdout
