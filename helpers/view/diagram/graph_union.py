"""The graphs of all moments of a run -> all their parts, with what each says and its states.
A *part* is a box, known by its node's key, or an arrow, known by the keys of both its ends. In the
picture each part has a short key, such as `n3` or `a0`. At a moment, a part is `shown`, `new`, or a
`ghost`, which was there in the moment before and is gone.
"""

from collections.abc import Sequence

from ...model.graphs import Edge, Graph, Node
from .labels import measure_box_width, merge_parallel_edges, shorten_label

SHOWN = "shown"
NEW = "new"
GHOST = "ghost"

# What a part says: (label, detail) of a box, or the lines of an arrow's label.
Words = tuple[str, ...]
Ends = tuple[str, str]  # the keys of the nodes at the ends of an arrow


class GraphUnion:
    """All boxes and arrows of graphs that share their keys, and their keys in the picture."""

    def __init__(self, graphs: Sequence[Graph]):
        """Collect the parts of `graphs`, a graph for each moment in order."""
        # node key, or both keys of an arrow's ends -> the part at the last moment that has it
        self.boxes: dict[str, Node] = {}
        self.arrows: dict[Ends, Edge] = {}
        # node key -> pixels that the box needs for its widest words
        self.widths: dict[str, int] = {}
        # node key, or both keys of an arrow's ends -> the key in the picture, such as `n3`
        self.picture_keys: dict[str | Ends, str] = {}

        # For each moment: picture key -> what the part says at this moment.
        self.words_by_moment: list[dict[str, Words]] = []
        for graph in graphs:
            self.words_by_moment.append(self._add_graph(graph))

        # node key, or both keys of an arrow's ends -> all that the part says, each text once, in
        # the order of the moments
        words_by_key = _collect_words(self.words_by_moment)
        self.words: dict[str | Ends, list[Words]] = {}
        for part, key in self.picture_keys.items():
            self.words[part] = words_by_key[key]

    def _add_graph(self, graph: Graph) -> dict[str, Words]:
        """Add the parts of a graph, and return picture key -> what the part says in this graph."""
        words = {}
        # A part keeps the picture key that it got in the first graph that has it.
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
            # An arrow's label has two lines: its first word, and the rest.
            words[key] = tuple(shorten_label(edge.label).split(" ", 1))
        return words

    def list_states(self) -> list[dict[str, str]]:
        """Return for each moment: picture key -> state of a part that is there or has just gone.

        If a part says different texts at different moments, each text has a state too. Its key is
        that of the part and the number of the text: `n3.1` is the second text of `n3`.
        """
        words_by_key = _collect_words(self.words_by_moment)
        states_by_moment = []
        before = self.words_by_moment[0]  # so that nothing is new at the first moment
        for now in self.words_by_moment:
            states = {}
            for key, words in {**before, **now}.items():  # a ghost says what it said before
                # `ghost` if the part has gone, `new` if it was not there before, else `shown`
                states[key] = _compare_moments(key in before, key in now)
                # Only the present text of a part has a state; the page hides its other texts.
                if len(words_by_key[key]) > 1:
                    number = words_by_key[key].index(words)
                    was_said = before.get(key) == words
                    states[f"{key}.{number}"] = _compare_moments(was_said, key in now)
            states_by_moment.append(states)
            before = now
        return states_by_moment


def _compare_moments(was_there: bool, is_there: bool) -> str:
    """Return the state of a part that was there in the moment before, or is there now, or both."""
    if not is_there:
        return GHOST
    return SHOWN if was_there else NEW


def _collect_words(words_by_moment: list[dict[str, Words]]) -> dict[str, list[Words]]:
    """Return picture key -> all that the part says at some moment, each text once."""
    collected = {}  # picture key -> a dict without values, which keeps the order of its keys
    for words_by_key in words_by_moment:
        for key, words in words_by_key.items():
            collected.setdefault(key, {})[words] = None
    return {key: list(words) for key, words in collected.items()}
