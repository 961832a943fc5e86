"""Write an op's files into a folder on disk, as `custom_op_module` needs it."""

import os
from pathlib import Path

from helpers.safety.arguments import quote_value, require_str
from helpers.safety.folders import ManagedDirectory, plain_name, temporary

_HOME: list[ManagedDirectory] = []


class OpDirectory(os.PathLike):
    """The directory that contains an op's folder; its repr does not show the path."""

    def __init__(self, home: Path, name: str):
        self._home = home
        self._name = name

    def __fspath__(self):
        return str(self._home)

    def __repr__(self):
        names = ", ".join(sorted(os.listdir(self._home / self._name)))
        return f"a temporary directory with {self._name}/ ({names})"


def op_folder(name: str, files: dict[str, str]) -> OpDirectory:
    """Write the folder `name` with these files (name -> text) and return the directory above it.

    ValueError for a name that is not plain, TypeError for a file whose content is not text.
    """
    name = plain_name(name, "the name of the op")
    file_names = [plain_name(file, "the name of a file") for file in files]
    contents = {}
    for file in file_names:
        text = require_str(files[file], f"the file {quote_value(file)}")
        contents[file] = text.encode()

    folder = _find_home().fill(name, contents)
    return OpDirectory(folder.parent, name)


def _find_home() -> ManagedDirectory:
    """Return the directory for the ops of this process, a new one if it is gone."""
    if not _HOME or not _HOME[0].stands():
        _HOME[:] = [temporary("ops-")]
    return _HOME[0]
