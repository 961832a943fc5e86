"""Records of files that a view shows as text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class File:
    """One file.

    Attributes
    ----------
    name : str
        The name of the file.
    text : str
        What is in the file.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one folder.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    files : tuple of File
        The files, in order.
    note : str
        What else a reader must know.
    """

    title: str
    files: tuple[File, ...]
    note: str = ""
