"""The graphs of all moments of a run -> one picture in which only arrows move.

All that is ever there gets a place of its own, once, with room for the widest that it ever says. A
moment is then a state: which parts are there, which are new, and which have just gone (ghosts).
"""

import functools
import operator
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from helpers.model.graph import Graph
from helpers.view.diagram.graph_drawing import spots_across
from helpers.view.diagram.labels import along, spread
from helpers.view.diagram.layered_layout import layered
from helpers.view.diagram.routing import LOOP, curve_across
from helpers.view.diagram.shapes import (
    BOX,
    LONGEST_LABEL,
    Spot,
    box_width,
    drawn_as,
    far_ends,
    one_per_pair,
    outline,
    plate_width,
    short,
)
from helpers.view.markup import render
from helpers.view.picture import drawn_width

SHOWN, NEW, GHOST, OUTLINE = "shown", "new", "ghost", "outline"
TAG, GAP, HEAD = 28, 60, 8  # pixels: height of a name's tag, between columns, of an arrow's head


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

    def says(self, key: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return what it says, each with its key; what always says the same has no key."""
        if len(self.said) == 1:
            return [("", words) for words in self.said]
        return [(f"{key}.{number}", words) for number, words in enumerate(self.said)]


class Union:
    """All boxes (key -> part) and arrows (ends -> part) of the moments, in the order they came.

    `widths`: of each box, in pixels, for the widest that it ever says.
    """

    def __init__(self, graphs: Sequence[Graph], longest: int = LONGEST_LABEL):
        self.boxes, self.arrows, self.widths = defaultdict(Part), defaultdict(Part), {}
        for moment, graph in enumerate(graphs):
            for node in graph.nodes:
                words = (short(node.label, longest), short(node.detail, longest))
                self.boxes[node.key].add(node, words, moment)
                wide = box_width(node, longest)
                self.widths[node.key] = max(self.widths.get(node.key, 0), wide)
            for edge in one_per_pair(graph.edges):
                self.arrows[edge.source, edge.target].add(edge, (short(edge.label),), moment)

    def name_of(self, key: str) -> str:
        """Return what a box is called at last if it is a name's, "" for any other."""
        part = self.boxes[key]
        return list(part.said)[-1][0] if part.thing.kind == "name" else ""

    def layout(self):
        """Return the layout of all of it; arrows that are never there at once may cross."""
        nodes, edges = ([part.thing for part in of.values()] for of in (self.boxes, self.arrows))
        graph = Graph("", tuple(nodes), tuple(edges))
        return layered(graph, [part.mask for part in self.arrows.values()])


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


def drawn_box(key: str, part: Part, spot: Spot) -> dict:
    """Return a box for the template, with all that it ever says."""
    kind = part.thing.kind
    return {
        "key": key,
        "says": part.says(key),
        "spot": spot,
        "centre": spot.centre - (4 if kind == "name" else 0),
        "ink": drawn_as(kind),
        "outline": outline(kind, spot.x, spot.y, spot.width, spot.height),
    }


def animated_graph(graphs: Sequence[Graph], title: str = "") -> Picture:
    """Return the picture of graphs that share their keys: one per moment, the first may be empty.

    ValueError if there is no node in any of them.
    """
    union = Union(graphs)
    if not union.boxes:
        raise ValueError("there is nothing to draw: no graph has a node")
    parts = {f"n{number}": part for number, part in enumerate(union.boxes.values())}
    parts |= {f"a{number}": part for number, part in enumerate(union.arrows.values())}
    return Picture(_drawn(title, union), states(parts, len(graphs)))


def _drawn(title: str, union: Union) -> str:
    keys = {key: f"n{number}" for number, key in enumerate(union.boxes)}
    layout, spots = _placed(union)
    slots: dict[tuple, int] = {}
    parts = zip(union.arrows.values(), layout.paths, strict=True)
    arrows = [_arrow(*each, layout, spots) for each in parts]
    lines = [
        {
            **arrow,
            "key": f"a{number}",
            "says": part.says(f"a{number}"),
            "words": _told(union, ends),
            "name": union.name_of(ends[0]),
            "slot": slots.setdefault((ends[0], part.thing.label), len(slots)),
            "ends": (keys[ends[0]], keys[ends[1]]),
        }
        for number, ((ends, part), arrow) in enumerate(
            zip(union.arrows.items(), spread(arrows, spots.values()), strict=True)
        )
    ]
    right, bottom = far_ends(spots.values())
    return render(
        "union.svg",
        title=title,
        width=right + (LOOP if layout.has_cycle else 0),
        height=bottom,
        boxes=[drawn_box(keys[key], part, spots[key]) for key, part in union.boxes.items()],
        arrows=lines,
    )


def _placed(union: Union):
    """Return the layout, and a spot per key: more room right of a column with a long label."""
    layout, more = union.layout(), {}
    heights = {k: TAG if p.thing.kind == "name" else BOX for k, p in union.boxes.items()}
    for number, column in enumerate(layout.layers):
        own = [part for ends, part in union.arrows.items() if ends[0] in column]
        labels = [label for part in own for (label,) in part.said]
        more[number] = drawn_width(max(labels, key=len, default=""))
    return layout, spots_across(layout, union.widths, GAP, heights)(more)


def _arrow(part: Part, path, layout, spots) -> dict:
    """Return the line of an arrow; those that reach one box reach it side by side."""
    start, end = spots[path[0]], spots[path[-1]]
    come = [each for each in layout.paths if each[-1] == path[-1]]
    come.sort(key=lambda each: spots[each[-2]].middle)
    shift = round((end.height - 12) * ((come.index(path) + 1) / (len(come) + 1) - 0.5))
    back = start.x == end.x
    line, x, y = curve_across([spots[key] for key in path], tip=HEAD, shift=shift)
    label = max((label for (label,) in part.said), key=len)
    if not back:
        x, y = along(line)[11]  # the middle of its first piece
    return {
        "line": line,
        "label": label,
        "x": x,
        "y": y,
        "plate": plate_width(label),
        "start": (start.right, start.middle - 10 * (start == end)),
        "tip": (end.right, end.middle + 10 * (start == end))
        if back
        else (end.x, end.middle + shift),
        "turn": 180 if back else 0,
    }


def _told(union: Union, ends: tuple[str, str]) -> str:
    """Return the arrow in words, for those who do not see it."""
    source, target = (" ".join(filter(None, list(union.boxes[key].said)[-1])) for key in ends)
    label = list(union.arrows[ends].said)[-1][0]
    return f"{source} {label or 'refers to'} {target}"
