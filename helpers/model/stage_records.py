"""Records of a run that an exhibit plays step by step: each step, its panels, and the open calls.

A *panel* is one titled part of what a reader sees at a step. A *card* shows a call that has not
ended.
"""

from dataclasses import KW_ONLY, dataclass

from .graphs import Graph
from .phrase import find_named
from .tables import Ledger, Listing

NOWHERE = (0, 0, 0, 0)
BETWEEN = " "  # the place of an empty line between two functions, which has no line number
Span = tuple[int, int, int, int]  # line, column, end line, end column


@dataclass(frozen=True, slots=True)
class Card:
    """One call that has not ended.

    Attributes
    ----------
    number : int
        The number of the call in this run.
    function : str
        The name of the function.
    line : int
        The line at which the call is.
    state : str
        What the call does now, in a word or two, such as `waits`.
    names : tuple of (str, str)
        Name and value of each local variable, as text.
    stack : tuple of str
        The values on its stack, bottom first.
    """

    number: int
    function: str
    line: int
    state: str = ""
    names: tuple[tuple[str, str], ...] = ()
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One titled part of a step.

    Attributes
    ----------
    title : str
        The title of the part.
    content : str, Listing, Graph or Ledger
        Plain text, or a model that has a view of its own.
    """

    title: str
    content: str | Listing | Graph | Ledger


@dataclass(frozen=True)
class Step:
    """One moment of a run.

    Attributes
    ----------
    label : str
        The moment, in a few words.
    line : int
        The line of the source that is about to run, from 1; 0 for none.
    panels : tuple of Panel
        What a reader sees beside the source.
    span : Span
        The part of the source that is about to run.
    says : str
        What is about to happen, as a sentence.
    lane : str
        The kind of step, which a view shows as a colour.
    short : str
        What is about to happen, in a word or two.
    left : int
        The line that ran last, if the run jumped from it to this step; 0 for none.
    deed : str
        How the run left that line, such as `just raised`.
    """

    label: str
    line: int
    panels: tuple[Panel, ...] = ()
    _: KW_ONLY
    span: Span = NOWHERE
    says: str = ""
    lane: str = ""
    short: str = ""
    left: int = 0
    deed: str = ""

    def panel(self, title: str) -> str | Listing | Graph | Ledger:
        """Return the content of the panel with this title; KeyError if there is none."""
        return find_named(self.panels, title, "title").content


class Placed:
    """A model with a `source`, and with `places`: where each line of the source is.

    A place is a path and a line, such as `path.py:1207`. It is "" for a line of a cell.
    """

    source: str
    places: tuple[str, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The line number of each line of `source`, as text.

        It is the number in the line's file. A line without a place has its number in `source`, and
        a line that only separates two functions has "".
        """
        numbers = []
        for index in range(self.source.count("\n") + 1):
            place = self.places[index] if index < len(self.places) else ""
            if place == BETWEEN:
                numbers.append("")
            else:
                _, _, number_in_file = place.rpartition(":")
                numbers.append(number_in_file or str(index + 1))
        return tuple(numbers)


@dataclass(frozen=True)
class Timeline(Placed):
    """A run as steps over one source.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    source : str
        The text of the functions that ran.
    steps : tuple of Step
        The moments of the run, in order.
    note : str
        What else a reader must know.
    places : tuple of str
        Where each line of the source is, such as `path.py:1207`. It is "" for a line of a cell.
    """

    title: str
    source: str
    steps: tuple[Step, ...]
    note: str = ""
    places: tuple[str, ...] = ()

    def at_end(self, title: str) -> str | Listing | Graph | Ledger:
        """Return what the panel with this title shows after the last step."""
        return self.steps[-1].panel(title)

    def place(self, line: int) -> str:
        """Return where a line of the source is: `path.py:1207`, or `line 7` of the source."""
        # A slice, because `places` may be shorter than the source.
        return "".join(self.places[line - 1 : line]) or f"line {line}"


@dataclass(frozen=True)
class FrameStep(Step):
    """A call, a return, a yield or an exception.

    Attributes
    ----------
    cards : tuple of Card
        The calls that have not ended, the first at the bottom.
    shelf : tuple of Card
        The frames that are off the stack, kept by generators.
    handed : str
        What the step passes to the frame below.
    """

    cards: tuple[Card, ...] = ()
    shelf: tuple[Card, ...] = ()
    handed: str = ""
