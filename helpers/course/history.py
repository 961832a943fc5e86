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
SAME, RAN = "same", "ran"  # the bytes of a past copy; or only what its author wrote


def past_versions(root: Path, folder: str, files: dict[str, bytes]) -> dict[str, str]:
    """Return SAME or RAN for each file in a folder of the course that is a past version there.

    A file that is missing in the result may be the learner's own.
    """
    if not files or not (root / ".git").exists():
        return {}
    found = {}
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        git = _Git(root)
        blobs = git.versions(folder)
        # Of two files with the same bytes git lists one name.
        every_blob = {blob for versions in blobs.values() for blob in versions}
        for name, data in files.items():
            if _blob_name(data, every_blob) in every_blob:
                found[name] = SAME
        for name, data in files.items():
            if name not in found and (state := _state(name, data, git.read(blobs.get(name, [])))):
                found[name] = state
    return found


def _state(name: str, data: bytes, versions: Iterable[bytes]) -> str:
    """Return what a file is of the first version that it equals, or ""."""
    if not authorship.is_notebook(name):
        return ""
    written, probes = authorship.written(data, name), authorship.probes(data)
    for version in versions:
        if not all(probe in version for probe in probes):
            continue  # cheaper than to read it as JSON
        if authorship.written(version, name) == written:
            return SAME if data in every_fresh(version) else RAN
    return ""


def _blob_name(data: bytes, others: Iterable[str]) -> str:
    """Return git's name of a file's content, by the hash that the other names are made with."""
    kind = hashlib.sha256 if any(len(name) == 64 for name in others) else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data).hexdigest()


class _Git:
    """The history of one clone. It asks nobody, fetches nothing and has a few seconds for all."""

    def __init__(self, root: Path):
        self._command = ["git", "-C", str(root), "-c", "core.quotePath=off"]
        self._ends = time.monotonic() + PATIENCE_SECONDS
        names = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._environment = {**names, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}

    def versions(self, folder: str) -> dict[str, list[str]]:
        """Return name in the folder -> git's names of its versions, the newest first."""
        found = {}
        listed = self._ask(["rev-list", "--objects", "HEAD", "--", folder])
        for line in listed.decode().splitlines():
            blob, _, path = line.partition(" ")
            if path.startswith(f"{folder}/"):
                found.setdefault(path.removeprefix(f"{folder}/"), []).append(blob)
        return found

    def read(self, blobs: list[str]) -> Iterator[bytes]:
        """Yield the bytes of each blob, as far as they are asked for."""
        for start in range(0, len(blobs), AT_ONCE):
            asked = "".join(f"{blob}\n" for blob in blobs[start : start + AT_ONCE])
            answer = BytesIO(self._ask(["cat-file", "--batch"], asked.encode()))
            while line := answer.readline():
                _, _, size = line.decode().split()  # ValueError: git has no such blob
                yield answer.read(int(size))
                answer.read(1)  # the end of a line

    def _ask(self, words: list[str], asked: bytes = b"") -> bytes:
        done = subprocess.run(
            [*self._command, *words],
            input=asked,
            capture_output=True,
            check=True,
            env=self._environment,
            timeout=self._ends - time.monotonic(),
        )
        return done.stdout
