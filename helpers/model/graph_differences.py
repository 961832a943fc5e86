"""Records of what happened to the nodes of a graph between two versions of the graph.

The versions are, for example, a graph before and after an optimisation.
"""

from dataclasses import dataclass

from .graphs import Graph

MEANINGS = {
    "folded": "computed from constants only, and a constant now",
    "removed": "no path from it to a result",
    "merged": "twins: the same op, attributes and inputs; one is left and serves both",
    "cancelled": "part of a removed chain of one op; its reader now reads the chain's input",
    "bypassed": "gone; its reader now reads its input",
    "added": "only in the second graph",
    "changed": "different; these two graphs do not show why",
    "kept": "the same in both",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What happened to some nodes between two graphs.

    Attributes
    ----------
    word : str
        What happened, a key of `MEANINGS`.
    before : tuple of str
        The keys of the nodes in the first graph.
    after : tuple of str
        The keys of the nodes in the second graph.
    how : str
        How a reader can tell, "" if the word says enough.
    """

    word: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    how: str = ""


@dataclass(frozen=True)
class GraphDiff:
    """Two graphs and what happened between them.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    before : Graph
        The first graph.
    after : Graph
        The second graph.
    findings : tuple of Finding
        What happened. Each key of the first graph is in exactly one of the findings.
    note : str
        What else a reader must know.
    """

    title: str
    before: Graph
    after: Graph
    findings: tuple[Finding, ...]
    note: str = ""

    def found(self, word: str) -> tuple[Finding, ...]:
        """Return the findings of this word, in order."""
        return tuple(finding for finding in self.findings if finding.word == word)

    def word(self, key: str) -> str:
        """Return what happened to the node with this key, one of `MEANINGS`.

        The key is one of the first graph. KeyError if the first graph has no such node.
        """
        for finding in self.findings:
            if key in finding.before:
                return finding.word
        raise KeyError(key)

    def count(self, word: str) -> int:
        """Return to how many nodes of the first graph this happened.

        For the word `added`, return how many nodes of the second graph were added.
        """
        findings = self.found(word)
        if word == "added":
            return sum(len(finding.after) for finding in findings)
        return sum(len(finding.before) for finding in findings)
