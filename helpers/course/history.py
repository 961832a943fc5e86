"""A learner's file of unknown origin -> whether it is a past version of the course's.

The versions are in the history of git, where the course was cloned. Whatever fails there, as in a
download without a history, means that nothing is known.
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

PATIENCE_SECONDS = 6
AT_ONCE = 16  # versions of a notebook that are in memory together
# What a file can be of a past version.
SAME = "same"  # the bytes of a copy of it
RAN = "ran"  # only what its author wrote


def past_versions(root: Path, folder: str, files: dict[str, bytes]) -> dict[str, str]:
    """Return SAME or RAN for each file in a folder of the course that is a past version there.

    A file that is missing in the result may be the learner's own.
    """
    if not files or not (root / ".git").exists():
        return {}
    found = {}
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        git = _Git(root)
        blobs_by_name = git.versions(folder)
        # Of two files with the same bytes git lists one name.
        every_blob = set().union(*blobs_by_name.values())
        for name, data in files.items():
            if _blob_name(data, every_blob) in every_blob:
                found[name] = SAME
        for name, data in files.items():
            if name in found:
                continue
            state = _state(name, data, git.read(blobs_by_name.get(name, [])))
            if state:
                found[name] = state
    return found


def _state(name: str, data: bytes, versions: Iterable[bytes]) -> str:
    """Return SAME or RAN for the first version that a learner's notebook equals, else "".

    `data` is the notebook, and `versions` are the files of past versions.
    """
    if not authorship.is_notebook(name):
        return ""
    written = authorship.written(data, name)
    probes = authorship.probes(data)
    for version in versions:
        if not all(probe in version for probe in probes):
            continue  # cheaper than to read it as JSON
        if authorship.written(version, name) == written:
            return SAME if data in every_fresh(version) else RAN
    return ""


def _blob_name(data: bytes, others: Iterable[str]) -> str:
    """Return git's name of a file's content, by the hash that the `others`, such names, have."""
    has_long_names = any(len(name) == 64 for name in others)
    hash_function = hashlib.sha256 if has_long_names else hashlib.sha1
    return hash_function(b"blob %d\0" % len(data) + data).hexdigest()


class _Git:
    """The history of one clone. It asks nobody, fetches nothing and has a few seconds for all."""

    def __init__(self, root: Path):
        """Prepare questions about the clone in a folder."""
        self._command = ["git", "-C", str(root), "-c", "core.quotePath=off"]
        self._ends = time.monotonic() + PATIENCE_SECONDS
        self._environment = {}
        for name, value in os.environ.items():
            if not name.startswith("GIT_"):  # such as GIT_DIR, which names another repository
                self._environment[name] = value
        self._environment["GIT_TERMINAL_PROMPT"] = "0"
        self._environment["GIT_NO_LAZY_FETCH"] = "1"

    def versions(self, folder: str) -> dict[str, list[str]]:
        """Return name in the folder -> git's names of its versions, the newest first."""
        blobs_by_name = {}
        listed = self._ask(["rev-list", "--objects", "HEAD", "--", folder])
        for line in listed.decode().splitlines():
            blob, _, path = line.partition(" ")
            if path.startswith(f"{folder}/"):
                name = path.removeprefix(f"{folder}/")
                blobs_by_name.setdefault(name, []).append(blob)
        return blobs_by_name

    def read(self, blobs: list[str]) -> Iterator[bytes]:
        """Yield the bytes of each blob, as far as they are asked for."""
        for start in range(0, len(blobs), AT_ONCE):
            request = "".join(f"{blob}\n" for blob in blobs[start : start + AT_ONCE])
            answer = BytesIO(self._ask(["cat-file", "--batch"], request.encode()))
            while line := answer.readline():
                _, _, size = line.decode().split()  # ValueError: git has no such blob
                yield answer.read(int(size))
                answer.read(1)  # the end of a line

    def _ask(self, words: list[str], request: bytes = b"") -> bytes:
        """Return what a command of git prints; `request` is its standard input.

        A subprocess.SubprocessError if it fails, or if the time for all questions is over.
        """
        process = subprocess.run(
            [*self._command, *words],
            input=request,
            capture_output=True,
            check=True,
            env=self._environment,
            timeout=self._ends - time.monotonic(),
        )
        return process.stdout
