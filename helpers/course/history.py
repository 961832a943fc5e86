"""A learner's file of unknown origin -> whether it is a past version of the course's.

The versions are in the history of git, where the course was cloned. Whatever fails there, as in a
download without a history, means that nothing is known.
"""

import hashlib
import os
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from helpers.course import authorship
from helpers.course.fresh import every_fresh

PATIENCE_SECONDS = 6
SAME, RAN = "same", "ran"  # the bytes of a past copy; or only what its author wrote


def past_versions(root: Path, folder: str, files: dict[str, bytes]) -> dict[str, str]:
    """Return SAME or RAN for each file in a folder of the course that is a past version there.

    A file that is missing in the result may be the learner's own.
    """
    if not files or not (root / ".git").exists():
        return {}
    found = {}
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        blobs = _blobs(root, folder)
        # Of two files with the same bytes git lists one name.
        every_blob = {blob for versions in blobs.values() for blob in versions}
        for name, data in files.items():
            if _blob_name(data, every_blob) in every_blob:
                found[name] = SAME
        left = {name: data for name, data in files.items() if name in blobs and name not in found}
        with _reading(root) as read:
            for name, data in left.items():
                if state := _state(name, data, map(read, blobs[name])):
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


def _blobs(root: Path, folder: str) -> dict[str, list[str]]:
    """Return name in the folder -> git's names of its versions, the newest first."""
    words = ["rev-list", "--objects", "HEAD", "--", folder]
    listed = subprocess.run(
        _git(root, *words), env=_environment(), capture_output=True, timeout=PATIENCE_SECONDS
    )
    listed.check_returncode()
    blobs = {}
    for line in listed.stdout.decode().splitlines():
        blob, _, path = line.partition(" ")
        if path.startswith(f"{folder}/"):
            blobs.setdefault(path.removeprefix(f"{folder}/"), []).append(blob)
    return blobs


def _blob_name(data: bytes, others: Iterable[str]) -> str:
    """Return git's name of a file's content, by the hash that the other names are made with."""
    kind = hashlib.sha256 if any(len(name) == 64 for name in others) else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data).hexdigest()


@contextmanager
def _reading(root: Path) -> Iterator:
    """Give a function that returns the bytes of a blob. ValueError: git has none, or is slow."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    command = _git(root, "cat-file", "--batch")
    with subprocess.Popen(command, env=_environment(), **pipes) as process:
        late = threading.Timer(PATIENCE_SECONDS, process.kill)
        late.start()

        def read(blob: str) -> bytes:
            process.stdin.write(f"{blob}\n".encode())
            process.stdin.flush()
            _, kind, size = process.stdout.readline().decode().split()
            data = process.stdout.read(int(size))
            process.stdout.read(1)  # the end of a line
            if len(data) < int(size) or kind != "blob":
                raise ValueError(f"git has no file {blob}")
            return data

        try:
            yield read
        finally:
            late.cancel()
            process.kill()


def _git(root: Path, *words: str) -> list[str]:
    return ["git", "-C", str(root), "-c", "core.quotePath=off", *words]


def _environment() -> dict[str, str]:
    """Return the variables for git: it asks nobody, fetches nothing and is in no other place."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return variables | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
