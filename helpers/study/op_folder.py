"""Write an op's files into a folder on disk, as `custom_op_module` needs it."""

import os
from pathlib import Path

from helpers.safety.arguments import quote_value, require_str
from helpers.safety.folders import ManagedDirectory, make_temporary_folder, require_plain_name

#: The one directory for the ops of this process. The list is empty until the first op.
_OPS_DIRECTORY: list[ManagedDirectory] = []


class OpDirectory(os.PathLike):
    """The path of a directory that contains an op's folder. Its repr lists the op's files.

    The repr does not show the path, which would differ in each run of a notebook.
    """

    def __init__(self, parent: Path, name: str):
        """Stand for the directory `parent`, which contains the op's folder `name`."""
        self._parent = parent
        self._name = name

    def __fspath__(self):
        return str(self._parent)

    def __repr__(self):
        names = ", ".join(sorted(os.listdir(self._parent / self._name)))
        return f"a temporary directory with {self._name}/ ({names})"


def op_folder(name: str, files: dict[str, str]) -> OpDirectory:
    """Write the folder `name` with these files (name -> text) and return the directory above it.

    ValueError for a name that is not plain, TypeError for a file whose content is not text.
    """
    name = require_plain_name(name, "the name of the op")
    file_names = [require_plain_name(file, "the name of a file") for file in files]
    contents = {}
    for file in file_names:
        text = require_str(files[file], f"the file {quote_value(file)}")
        contents[file] = text.encode()

    folder = _find_ops_directory().fill(name, contents)
    return OpDirectory(folder.parent, name)


def _find_ops_directory() -> ManagedDirectory:
    """Return the temporary directory for the ops of this process.

    It is created for the first op, and again if somebody has removed it.
    """
    if not _OPS_DIRECTORY or not _OPS_DIRECTORY[0].stands():
        _OPS_DIRECTORY[:] = [make_temporary_folder("ops-")]
    return _OPS_DIRECTORY[0]
