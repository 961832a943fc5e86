"""The graphs of all moments of a run -> what is there in which of them, and in what state."""

import functools
import operator
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from helpers.model.graph import Graph
from helpers.view.diagram.boxes import LONGEST_LABEL, one_per_pair, short

SHOWN, NEW, GHOST, OUTLINE = "shown", "new", "ghost", "outline"


@dataclass(frozen=True)
class Picture:
    """An SVG whose groups bear `data-key`, and per moment the state of each part that is there.

    A state is shown, new (since the moment before), ghost (just gone) or outline (there is to be
    something, and its words are not told yet); what has none is hidden.
    """

    svg: str
    states: list[dict[str, str]]

    def still(self, moment: int, style: str) -> str:
        """Return the SVG of one moment, to stand alone: with its style, and its states written."""
        found = self.svg.replace("<title>", f"<style>{style}</style><title>", 1)
        for key, state in self.states[moment].items():
            name = f'data-key="{key}"'
            found = found.replace(name, f'{name} data-state="{state}"')
        return found


class Part:
    """A box or an arrow: what it says (words -> mask), with a bit for each moment it says it in."""

    def __init__(self):
        self.said: dict[tuple[str, ...], int] = {}
        self.thing = None

    def add(self, thing, words: tuple[str, ...], moment: int):
        """Note that it is there in a moment, and what it says; `thing` is the node or the edge."""
        self.thing = thing
        self.said[words] = self.said.get(words, 0) | 1 << moment

    @property
    def mask(self) -> int:
        """The moments in which it is there, whatever it says."""
        return functools.reduce(operator.or_, self.said.values())


class Union:
    """All boxes (key -> part) and arrows (ends -> part) of the moments, in the order they came."""

    def __init__(self, graphs: Sequence[Graph], longest: int = LONGEST_LABEL):
        self.boxes, self.arrows = defaultdict(Part), defaultdict(Part)
        for moment, graph in enumerate(graphs):
            for node in graph.nodes:
                words = (short(node.label, longest), short(node.detail, longest))
                self.boxes[node.key].add(node, words, moment)
            for edge in one_per_pair(graph.edges):
                self.arrows[edge.source, edge.target].add(edge, (short(edge.label),), moment)

    def graph(self) -> Graph:
        """Return all of it as one graph."""
        nodes, edges = ([part.thing for part in of.values()] for of in (self.boxes, self.arrows))
        return Graph("", tuple(nodes), tuple(edges))


def states(parts: dict[str, Part], moments: int) -> list[dict[str, str]]:
    """Return the state of each part, and of each of the things it says, in each moment."""
    found = [{} for _ in range(moments)]
    for key, part in parts.items():
        masks = {key: part.mask}
        if len(part.said) > 1:
            masks |= {f"{key}.{n}": mask for n, mask in enumerate(part.said.values())}
        for name, mask in masks.items():
            for moment, state in enumerate(found):
                word = _state(mask, part.mask, moment)
                state |= {name: word} if word else {}
    return found


def _state(mask: int, whole: int, moment: int) -> str:
    """Return the state of what is there in `mask`, a part of what is there in `whole`."""
    now, before = mask >> moment & 1, moment and mask >> moment - 1 & 1
    if now:
        return SHOWN if before or not moment else NEW
    return GHOST if before and not whole >> moment & 1 else ""


def says(key: str, part: Part) -> list[tuple[str, tuple[str, ...]]]:
    """Return what a part says, each with its key; one that always says the same has no key."""
    if len(part.said) == 1:
        return [("", words) for words in part.said]
    return [(f"{key}.{number}", words) for number, words in enumerate(part.said)]
