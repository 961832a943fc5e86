"""Moments of one run -> a timeline; every step can be read without the ones before it."""

from dataclasses import KW_ONLY, dataclass

from helpers.model.graph import Graph
from helpers.model.ledger import Ledger
from helpers.model.listing import Listing
from helpers.model.stage import NOWHERE


@dataclass(frozen=True)
class Panel:
    """One titled part of a step: plain text, or a model with a view of its own."""

    title: str
    content: str | Listing | Graph | Ledger


@dataclass(frozen=True)
class Step:
    """One moment. `line` is the 1-based line of the source that is about to run, 0 for none.

    `span` is what of it runs: (line, column, end line, end column), all 0 for none. `says`: what
    is about to happen, as a sentence; `lane`: the kind of step, for the strip of all steps.
    `short`: what is about to run in a word or two, where that is not what `label` tells.
    `left`: the line that ran last where the run came from there in another way than by going on,
    0 for none; `deed`: how, as words, such as just yielded.
    """

    label: str
    line: int
    panels: tuple[Panel, ...] = ()
    _: KW_ONLY
    span: tuple[int, int, int, int] = NOWHERE
    says: str = ""
    lane: str = ""
    short: str = ""
    left: int = 0
    deed: str = ""

    def panel(self, title: str) -> str | Listing | Graph | Ledger:
        """Return the content of the panel with this title; KeyError names a missing title."""
        for panel in self.panels:
            if panel.title == title:
                return panel.content
        raise KeyError(title)


@dataclass(frozen=True)
class Timeline:
    """A run as steps over one source text; `note` says what was left out, if anything was.

    `file` and `first`: where the source is in a file, and which of its lines the first one is.
    """

    title: str
    source: str
    steps: tuple[Step, ...]
    note: str = ""
    file: str = ""
    first: int = 1

    def place(self, line: int) -> str:
        """Return where a line of the source is: `path.py:1207`, or `line 7` of the source."""
        return f"{self.file}:{self.first + line - 1}" if self.file else f"line {line}"
