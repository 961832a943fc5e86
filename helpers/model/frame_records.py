"""Records of the frames that reach a frame evaluation function (PEP 523)."""

from dataclasses import dataclass

from .tables import Listing


@dataclass(frozen=True, slots=True)
class FrameSeen:
    """One frame that reached the hook.

    Attributes
    ----------
    order : int
        The place of the frame in the run, from 1.
    depth : int
        How many frames of the run lie below it.
    name : str
        The name of its code object.
    code : str
        The same name, indented by the depth.
    line : int
        The first line of its code object.
    arguments : str
        Its arguments as text.
    nth : int
        How many frames of its code object had begun, this one included.
    """

    order: int
    depth: int
    name: str
    code: str
    line: int
    arguments: str
    nth: int


@dataclass(frozen=True, slots=True)
class FramesSeen(Listing):
    """A listing of `FrameSeen`s. Frames that are not shown are counted, too.

    Attributes
    ----------
    counts : tuple of (str, int)
        For each code object its name, and how many of its frames ran.
    """

    counts: tuple[tuple[str, int], ...] = ()

    def count(self, name: str) -> int:
        """Return how many frames of code objects of this name ran, 0 if none did."""
        # Several code objects may have the same name.
        return sum(frames for code_name, frames in self.counts if code_name == name)
