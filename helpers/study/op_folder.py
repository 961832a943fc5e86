"""Texts by file name -> a folder of that name on disk, as `custom_op_module` wants it."""

import os
from pathlib import Path

from helpers.safety.arguments import kind_of, word
from helpers.safety.folders import Home, Refusal, plain_name, plain_names, quote_name, temporary

MOST_NAMED = 20
_HOME: list[Home] = []


class Place(os.PathLike):
    """The directory that holds an op's folder; it is shown without its path."""

    def __init__(self, home: Path, name: str):
        self._home, self._name = home, name

    def __fspath__(self):
        return str(self._home)

    def __repr__(self):
        try:
            files = sorted(os.listdir(self._home / self._name))
        except OSError:
            return f"a temporary directory that held {self._name}/, and does no longer"
        more = [f"… and {len(files) - MOST_NAMED} more"] if len(files) > MOST_NAMED else []
        named = ", ".join([*files[:MOST_NAMED], *more])
        return f"a temporary directory with {self._name}/ ({named})"


def op_folder(name: str, files: dict[str, str]) -> Place:
    """Write the folder `name` with these files (name -> text) and return the place that holds it.

    What the folder held before is gone, unless an error comes. ValueError for a name that is not
    plain (a path, a device of Windows …) or a text that UTF-8 cannot write, TypeError for a file
    whose content is no text. Refusal where the disk takes no more; the old folder stays then.
    """
    name = plain_name(name, "the name of the op")
    if not issubclass(type(files), dict):
        raise TypeError(f"the files must be a dict of name -> text, not {kind_of(files)}")
    given = list(dict.items(files))  # as it stands: a key that is no text is not asked for its hash
    names = plain_names((name for name, _ in given), "the name of a file")
    bytes_of = {
        name: _encoded(name, content) for name, (_, content) in zip(names, given, strict=True)
    }
    if not _HOME or not _HOME[0].stands():
        _HOME[:] = [temporary("ops-")]
    try:
        return Place(_HOME[0].fill(name, bytes_of).parent, name)
    except OSError as error:
        raise Refusal(
            f"the folder {name} could not be written ({error.strerror or kind_of(error)}); what it "
            "held before is still there"
        ) from error


def _encoded(file: str, content: object) -> bytes:
    words = word(content, f"the file {quote_name(file)}")
    try:
        return words.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the file {quote_name(file)} must hold what UTF-8 can write, and it cannot write "
            f"{words[error.start]!r}"
        ) from None
