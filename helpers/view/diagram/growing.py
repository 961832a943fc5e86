"""A run of Dynamo -> one picture of its graphs as they grow: a card each, guards beside the nodes.

The last graph of each recording is laid out once, as outlines without words; each step fills some.
Where a graph broke, the cards are cut apart, and the line stands there that Python runs itself.
"""

from helpers.model.dynamo import DynamoRun
from helpers.view.diagram.boxes import short
from helpers.view.diagram.layered_layout import layered
from helpers.view.diagram.moments import OUTLINE, Part, Picture, Union, says, states
from helpers.view.diagram.pixel_positions import MARGIN, arrow_down, places_down
from helpers.view.diagram.recording import Recording, recordings
from helpers.view.diagram.shapes import HIGH, Box
from helpers.view.diagram.untangling import untangled
from helpers.view.markup import render

LONGEST, LONGEST_GUARD = 30, 28  # characters of a box, of a guard
LETTER, SMALL = 7.9, 7.0  # width of a letter at 13 and at 11.5 pixels
STEP, HEAD, LINE, CUT, APART = 64, 34, 17, 54, 28  # pixels


def growing(run: DynamoRun) -> Picture:
    """Return the picture of a run, with a state per step. ValueError if nothing was recorded."""
    cards, top = [], MARGIN
    for number, recording in enumerate(recordings(run), 1):
        graph = 1 + sum(bool(card.boxes) for card in cards)
        cards.append(_Card(number, graph, recording, top))
        top = cards[-1].bottom + (CUT if recording.cut else 18)
    if not any(card.union.boxes for card in cards):
        raise ValueError("there is nothing to draw: no graph has a node")
    parts = {key: part for card in cards for key, part in card.parts().items()}
    found = states(parts, len(run.steps))
    for card in cards:
        for state in found[card.recording.first :]:
            state |= {key: state.get(key, OUTLINE) for key in card.keys.values()}
    return Picture(_drawn(run, cards), found)


class _Card:
    """One recording with the places of its nodes and guards, in pixels."""

    def __init__(self, number: int, graph: int, recording: Recording, top: int):
        self.number, self.recording, self.top = number, recording, top
        self._graph = graph
        self.union = Union(recording.graphs, LONGEST)
        self.keys = {key: f"n{number}.{at}" for at, key in enumerate(self.union.boxes)}
        self.guards = dict.fromkeys(guard for taken in recording.guards for guard in taken)
        self.boxes, self.lines = self._placed() if self.union.boxes else ({}, {})
        self.left = max((box.right for box in self.boxes.values()), default=160) + APART
        low = max((box.bottom for box in self.boxes.values()), default=top + HEAD + 20)
        self.bottom = max(low, top + HEAD + LINE * (len(self.guards) + 1)) + 12
        longest = max((len(short(g, LONGEST_GUARD)) for g in self.guards), default=0)
        self.right = self.left + max(round(longest * SMALL), 90) + 14

    @property
    def title(self) -> str:
        """What the card is headed with: the number of the graph, and the lines it comes from."""
        if not self.boxes:
            return "no graph"
        lines = sorted(self.recording.lines)
        if not lines:
            return f"graph {self._graph}"
        several = f"lines {lines[0]} to {lines[-1]}"
        return f"graph {self._graph} · {several if lines[1:] else f'line {lines[0]}'}"

    def parts(self) -> dict[str, Part]:
        """Return all that comes and goes, by key."""
        found = {key: self.union.boxes[name] for name, key in self.keys.items()}
        found |= {f"a{self.number}.{at}": p for at, p in enumerate(self.union.arrows.values())}
        head, guards = Part(), {guard: Part() for guard in self.guards}
        for moment, words in enumerate(self.recording.said):
            if moment >= self.recording.first:
                head.add(None, (words,), moment)
            for guard in self.recording.guards[moment]:
                guards[guard].add(None, (guard,), moment)
        found |= {f"g{self.number}.{at}": part for at, part in enumerate(guards.values())}
        cut = Part()
        for moment, words in enumerate(self.recording.said):
            if self.recording.cut and words.endswith("handed over"):
                cut.add(None, (self.recording.cut,), moment)
        return found | {f"c{self.number}": head} | ({f"x{self.number}": cut} if cut.said else {})

    def _placed(self):
        graph = self.union.graph()
        masks = tuple(part.mask for part in self.union.arrows.values())
        layout = untangled(layered(graph), masks, dict.fromkeys(self.union.boxes, 1), bend=0.3)
        widths = {key: max(map(_width, part.said)) for key, part in self.union.boxes.items()}
        spots = places_down(layout, widths)(STEP)
        down = self.top + HEAD
        boxes = {
            key: Box(
                part.thing.kind, spots[key].x + 10, spots[key].y + down + HIGH // 2, widths[key]
            )
            for key, part in self.union.boxes.items()
        }
        lines = {}
        for ends, path in zip(self.union.arrows, layout.paths, strict=True):
            line = arrow_down([spots[key] for key in path], False)[0]
            lines[ends] = (line, (boxes[ends[1]].x + widths[ends[1]] // 2, boxes[ends[1]].y))
        return boxes, lines


def _width(words: tuple[str, str]) -> int:
    return round(max(len(words[0]) * LETTER, len(words[1]) * SMALL, 24) + 32)


def _drawn(run: DynamoRun, cards: list[_Card]) -> str:
    width = max(card.right for card in cards) + MARGIN
    last = cards[-1]
    return render(
        "growing.svg",
        title=run.title,
        width=width,
        height=last.bottom + (CUT if last.recording.cut else 0) + MARGIN,
        smallest=11.5,
        cards=[_shown(card, width - 2 * MARGIN) for card in cards],
    )


def _shown(card: _Card, wide: int) -> dict:
    parts = card.parts()
    number = card.number
    return {
        "key": f"c{number}",
        "title": card.title,
        "says": says(f"c{number}", parts[f"c{number}"]),
        "x": MARGIN,
        "y": card.top,
        "width": wide,
        "height": card.bottom - card.top,
        "shift": (10, card.top + HEAD),
        "boxes": [
            {"key": key, "box": card.boxes[name], "says": says(key, parts[key])}
            for name, key in card.keys.items()
        ],
        "arrows": [
            {"key": f"a{number}.{at}", "line": line, "tip": tip}
            for at, (line, tip) in enumerate(card.lines.values())
        ],
        "guards_at": card.left,
        "guards": [
            {"key": f"g{number}.{at}", "y": card.top + HEAD + LINE * (at + 1) + 8, "words": guard}
            for at, guard in enumerate(short(guard, LONGEST_GUARD) for guard in card.guards)
        ],
        "cut": {"key": f"x{number}", "words": short(card.recording.cut, 60)},
    }
