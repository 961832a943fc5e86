"""The graphs of all moments of a run -> all their parts, with what each says and its states.

A moment is a state: which parts are there, which are new, and which are just gone (ghosts).
"""

from collections.abc import Sequence

from ...model.graphs import Edge, Graph, Node
from .labels import measure_box_width, merge_parallel_edges, shorten_label

SHOWN = "shown"
NEW = "new"
GHOST = "ghost"

Words = tuple[str, ...]  # what a part says: a label and a detail, or the lines of a label
Ends = tuple[str, str]  # the keys of the nodes at the ends of an arrow


class GraphUnion:
    """All boxes and arrows of graphs that share their keys, and their keys in the picture."""

    def __init__(self, graphs: Sequence[Graph]):
        self.boxes: dict[str, Node] = {}
        self.arrows: dict[Ends, Edge] = {}
        self.widths: dict[str, int] = {}
        self.picture_keys: dict[str | Ends, str] = {}

        # Of each moment: picture key -> what the part says there.
        self.words_by_moment: list[dict[str, Words]] = []
        for graph in graphs:
            self.words_by_moment.append(self._add_graph(graph))

        # Of each part, all that it says, in the order in which it says them.
        words_by_key = _collect_words(self.words_by_moment)
        self.words: dict[str | Ends, list[Words]] = {}
        for part, key in self.picture_keys.items():
            self.words[part] = words_by_key[key]

    def _add_graph(self, graph: Graph) -> dict[str, Words]:
        """Add the parts of a graph, and return what each of them says in it."""
        words = {}
        for node in graph.nodes:
            self.boxes[node.key] = node
            key = self.picture_keys.setdefault(node.key, f"n{len(self.boxes) - 1}")
            words[key] = (shorten_label(node.label), shorten_label(node.detail))
            width = measure_box_width(node)
            self.widths[node.key] = max(self.widths.get(node.key, 0), width)

        for edge in merge_parallel_edges(graph.edges):
            ends = (edge.source, edge.target)
            self.arrows[ends] = edge
            key = self.picture_keys.setdefault(ends, f"a{len(self.arrows) - 1}")
            words[key] = tuple(shorten_label(edge.label).split(" ", 1))  # a line each
        return words

    def list_states(self) -> list[dict[str, str]]:
        """Return the state of each part, and of each of the things it says, in each moment."""
        words_by_key = _collect_words(self.words_by_moment)
        states_by_moment = []
        before = self.words_by_moment[0]
        for now in self.words_by_moment:
            states = {}
            for key, words in {**before, **now}.items():
                states[key] = _compare_moments(key in before, key in now)
                if len(words_by_key[key]) > 1:
                    number = words_by_key[key].index(words)
                    was_said = before.get(key) == words
                    states[f"{key}.{number}"] = _compare_moments(was_said, key in now)
            states_by_moment.append(states)
            before = now
        return states_by_moment


def _compare_moments(was_there: bool, is_there: bool) -> str:
    """Return the state of what was there in the moment before, or is there now."""
    if not is_there:
        return GHOST
    return SHOWN if was_there else NEW


def _collect_words(words_by_moment: list[dict[str, Words]]) -> dict[str, list[Words]]:
    """Return all that each part says, by its key in the picture."""
    collected = {}
    for words_by_key in words_by_moment:
        for key, words in words_by_key.items():
            collected.setdefault(key, {})[words] = None
    return {key: list(words) for key, words in collected.items()}
