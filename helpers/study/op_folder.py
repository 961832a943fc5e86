"""Texts by file name -> a folder of that name on disk, as `custom_op_module` wants it."""

import os
import shutil
import tempfile
from pathlib import Path

_HOME = []


class Place(os.PathLike):
    """The directory that holds an op's folder; it is shown without its path."""

    def __init__(self, home: Path, name: str):
        self._home, self._name = home, name

    def __fspath__(self):
        return str(self._home)

    def __repr__(self):
        files = ", ".join(sorted(os.listdir(self._home / self._name)))
        return f"a temporary directory with {self._name}/ ({files})"


def op_folder(name: str, files: dict[str, str]) -> Place:
    """Write the folder `name` with these files (name -> text) and return the place that holds it.

    What the folder held before is gone. ValueError for a name with a path in it, TypeError for a
    file whose content is no text.
    """
    for file, text in {name: "", **files}.items():
        if not isinstance(file, str) or file != os.path.basename(file) or not file:
            raise ValueError(f"{file!r} must be a plain name, without a path")
        if not isinstance(text, str):
            raise TypeError(f"{file} must hold text, not {type(text).__name__}")
    if not _HOME:
        _HOME.append(tempfile.TemporaryDirectory(prefix="ops-"))
    folder = Path(_HOME[0].name, name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return Place(folder.parent, name)
