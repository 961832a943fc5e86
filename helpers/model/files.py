"""Texts of several files, and which of their lines are new."""

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """One file as text. `new`: numbers of the lines, from 1, that were not in it before."""

    name: str
    text: str
    new: tuple[int, ...] = ()


@dataclass(frozen=True)
class Files:
    """Files of one folder, in order."""

    title: str
    files: tuple[File, ...]
    note: str = ""

    def file(self, name: str) -> File:
        """Return the file with this name; KeyError for none."""
        for file in self.files:
            if file.name == name:
                return file
        raise KeyError(name)
