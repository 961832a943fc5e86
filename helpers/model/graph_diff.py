"""Two graphs and what became of every node -> a diff, ready to be drawn or asserted on."""

from dataclasses import dataclass

from helpers.model.graph import Graph

MEANINGS = {
    "folded": "computed from constants only, and a constant now",
    "removed": "no way from it to a result",
    "merged": "twins: the same op, attributes and inputs; one is left, and serves both",
    "cancelled": "a row of the same op, gone; its reader now reads what the row read",
    "bypassed": "gone; its reader now reads what it read",
    "replaced": "gone; the same reader now reads a new node",
    "added": "only in the second graph",
    "changed": "different; these two graphs do not say why",
    "kept": "the same in both",
}


@dataclass(frozen=True)
class Finding:
    """What became of `before` (node keys of the first graph), and how that was recognised.

    `after` holds the keys of the second graph that stand there now.
    """

    word: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    how: str = ""

    def __post_init__(self):
        if self.word not in MEANINGS:
            raise ValueError(f"{self.word!r} is unknown; use one of {', '.join(MEANINGS)}")


@dataclass(frozen=True)
class GraphDiff:
    """Two graphs and the findings: every key of `before` is in exactly one of them."""

    title: str
    before: Graph
    after: Graph
    findings: tuple[Finding, ...]
    note: str = ""

    def found(self, word: str) -> tuple[Finding, ...]:
        """Return the findings of this word, in order."""
        return tuple(finding for finding in self.findings if finding.word == word)

    def word(self, key: str) -> str:
        """Return what became of this node of the first graph; KeyError if it has no such node."""
        for finding in self.findings:
            if key in finding.before:
                return finding.word
        raise KeyError(key)

    def count(self, word: str) -> int:
        """Return of how many nodes this word is said; of the second graph only where added."""
        return sum(len(f.after if word == "added" else f.before) for f in self.found(word))
