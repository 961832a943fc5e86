"""The steps of a timeline -> what a stage plays: shared words stored once, and a track per field.

Which parts a stage has follows from what the steps hold: instructions and a value stack, calls as
cards, a picture, printed output, and panels of any other kind.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from helpers.model.dynamo import DynamoRun
from helpers.model.graph import Graph
from helpers.model.stage import LANES, NOWHERE, Card, Row, Value
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view import row_limit
from helpers.view.diagram import animated_graph
from helpers.view.markup import one_line, visible
from helpers.view.panels import heading_of, panel_html

PRINTED = ("printed", "printed so far")
INSTRUCTION = "instruction"  # of the kinds of a Dynamo step, the one that has a stack
MOST_ROWS, AROUND = 2_000, 50  # instructions of one function; of more those near a step
MOST_NODES = 400  # in all steps together; more have no place for each of their own
# Panels that a stage shows in a part of its own.
STACKED = ("value stack", "value stack (recomputed)", "symbolic stack", "locals", "on an exception")
CARDED = ("frames on the stack", "frames off the stack, kept by generators")
DYNAMO = ("graph so far", "guards so far", "the graph that is handed over", "why")
EMPTY = Graph("", (), ())
# a letter per part and step of a picture
_LETTERS = {"": "0", "shown": "1", "new": "2", "ghost": "3", "outline": "4"}
_IMAGE = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
LONGEST_PIECE = 240  # characters
LARGEST_GROUP = 24  # pieces of a group that is no row of a table


class Script:
    """What is made of some steps; `parts()` is all of it, as plain data."""

    def __init__(self, model: Timeline, steps: Sequence[Step]):
        self.model, self.steps = model, steps
        self._words, self._values, self._cards = _Store(), _Store(), _Store()
        self._symbols, self._panels, self._told = _Store(), PanelPool(), {}
        # where no step has a kind, all are of one
        kinds = dict.fromkeys(step.lane for step in steps if step.lane) or {"": None}
        self._lanes = sorted(kinds, key=lambda kind: LANES.index(kind) if kind in LANES else 99)
        self._printed = max((_printed(step) for step in steps), key=len, default="")
        self._picture, self._titles = _picture(model, steps)
        states = self._picture.states if self._picture else ()
        self._keys = list(dict.fromkeys(key for state in states for key in state))
        self._source = model.source.split("\n")
        self._codes = getattr(model, "codes", ())
        self._slots = [{name: n for n, name in enumerate(code.names)} for code in self._codes]

    def parts(self) -> dict:
        """Return the script's parts: pools of what recurs, tables, and the tracks."""
        picture = None
        if self._picture:
            title = one_line(self._titles[0])
            picture = {"svg": self._picture.svg, "keys": self._keys, "title": title}
        return {
            "total": len(self.steps),
            "tracks": tracks_of([self._step(n, step) for n, step in enumerate(self.steps)]),
            "lanes": [lane or "step" for lane in self._lanes],
            "codes": [self._code(*each) for each in enumerate(self._codes)],
            "words": self._words.items,
            "values": self._values.items,
            "cards": self._cards.items,
            "picture": picture,
            "printed": visible(self._printed),
            "strings": self._panels.strings.items,
            "groups": self._panels.groups.items,
            "panels": self._panels.panels.items,
        }

    def _step(self, n: int, step: Step) -> dict:
        told = {
            "label": self._word(row_limit.cut(step.label)),
            "says": self._word(row_limit.cut(step.says)),
            "short": self._word(row_limit.cut(step.short or step.label)),
            "line": step.line,
            "span": self._span(step.span),
            "lane": self._lanes.index(step.lane) if step.lane in self._lanes else -1,
            "left": step.left,
            "deed": self._word(step.deed),
        }
        if self._printed:
            told["printed"] = self._output(_printed(step))
        if getattr(step, "stack", None) is not None:
            told |= self._stacked(step)
        for name in ("callers", "cards", "shelf"):
            if hasattr(step, name):
                told[name] = [self._card(card) for card in getattr(step, name)]
        if hasattr(step, "handed"):
            told["handed"] = self._word(row_limit.cut(step.handed))
        if self._picture:
            state = self._picture.states[n]
            told["picture"] = "".join(_LETTERS[state.get(key, "")] for key in self._keys)
        rest = [panel for panel in step.panels if not self._has_part(step, panel)]
        if rest:
            told["panels"] = [[visible(heading_of(p)), self._panels.index(p)] for p in rest]
        return told

    def _has_part(self, step: Step, panel: Panel) -> bool:
        stacked = panel.title in STACKED and hasattr(step, "stack")
        carded = panel.title in CARDED and hasattr(step, "cards")
        printed = panel.title in PRINTED and type(panel.content) is str
        return stacked or carded or printed or panel.title in self._titles

    def _output(self, words: str) -> int | list:
        """Return how much of all output stands there; where it is no beginning, the words."""
        if self._printed.startswith(words):
            return _units(visible(words))
        return [self._word(words)]

    def _stacked(self, step: Step) -> dict:
        if getattr(step, "left_out", 0) or getattr(step, "kind", INSTRUCTION) != INSTRUCTION:
            return {}
        values = getattr(step, "values", ())
        if not values:
            values = [self._symbol(step, n, words) for n, words in enumerate(step.stack)]
        told = {
            "stack": [self._value(value) for value in values],
            "taken": getattr(step, "taken", 0),
        }
        if getattr(step, "code", -1) >= 0:
            told |= {"code": step.code, "offset": step.offset, "call": step.call}
            told["locals"] = self._locals(step)
            told["handler"] = self._word(step.handler)
            told["ending"] = self._word(step.ending)
            told["raised"] = step.raised
        elif hasattr(step, "function"):
            told["call"] = self._word(step.function)
        return told

    def _symbol(self, step, n: int, words: str) -> Value:
        """Return a value that is known by its words alone: at the same place it is the same one."""
        same = words.removesuffix(" (lazy)")
        return Value(words, key=self._symbols.index((getattr(step, "function", ""), n, same)))

    def _locals(self, step) -> list:
        slots = self._slots[step.code]
        told = [-1] * len(slots)
        for (name, _), value in zip(step.names, step.variables, strict=True):
            told[slots[name]] = self._value(value)
        return told

    def _value(self, value: Value) -> int:
        at = self._told.get(id(value))  # the steps, which share their values, keep them alive
        if at is None or at[0] is not value:
            words = (self._word(value.words), self._word(value.kind), self._word(value.same))
            at = self._told[id(value)] = value, self._values.index((*words, value.key))
        return at[1]

    def _card(self, card: Card) -> int:
        return self._cards.index(
            (
                card.number,
                self._word(card.function),
                card.line,
                self._word(card.state),
                tuple((self._word(name), self._word(words)) for name, words in card.names),
                tuple(self._word(words) for words in card.stack),
            )
        )

    def rows_left_out(self) -> str:
        """Say of which functions only the instructions near a step are listed."""
        long = [code for code in self._codes if len(code.rows) > MOST_ROWS]
        return " ".join(
            f"Of the {len(code.rows):,} instructions of {code.function} those near a step are "
            "listed; the model has them all (`.model.codes`)."
            for code in long
        )

    def _listed(self, place: int, code) -> Sequence[Row]:
        """Return the rows of a function, of very many those near a step."""
        if len(code.rows) <= MOST_ROWS:
            return code.rows
        here = (step for step in self.steps if getattr(step, "code", -1) == place)
        asked, near = {step.offset for step in here}, set()
        for n, row in enumerate(code.rows):
            if row.offset in asked:
                near.update(range(n - AROUND, n + AROUND + 1))
        return [row for n, row in enumerate(code.rows) if n in near]

    def _code(self, place: int, code) -> dict:
        rows = [
            [row.offset, row.opname, one_line(row.argument), LANES.index(row.lane),
             self._span(row.span), row.target]
            for row in self._listed(place, code)
        ]  # fmt: skip
        names = [one_line(name) for name in code.names]
        return {"name": one_line(code.function), "rows": rows, "names": names, "depth": code.depth}

    def _span(self, span) -> list[int] | None:
        """Return a place in the source as the page counts: tabs are four wide, letters UTF-16."""
        line, column, end, end_column = span
        if span == NOWHERE or end > len(self._source):
            return None
        places = ((line, column), (end, end_column))
        shown = [one_line(self._source[at - 1][:to].expandtabs(4)) for at, to in places]
        return [line, _units(shown[0]), end, _units(shown[1])]

    def _word(self, words: str) -> int:
        return self._words.index(one_line(words))


def _units(words: str) -> int:
    return len(words.encode("utf-16-le")) // 2


def _printed(step: Step) -> str:
    found = (p.content for p in step.panels if p.title in PRINTED and type(p.content) is str)
    return next(found, "")


def _picture(model: Timeline, steps: Sequence[Step]):
    """Return one picture of the graphs of all steps, if any, and the titles of their panels."""
    drawn = [[p for p in step.panels if type(p.content) is Graph] for step in steps]
    graphs = [panels[0].content if panels else EMPTY for panels in drawn]
    keys = {node.key for graph in graphs for node in graph.nodes}
    if not 0 < len(keys) <= MOST_NODES:
        return None, ()
    if isinstance(model, DynamoRun):
        from helpers.view.diagram.growing_graph import growing_graph  # for this one alone

        return growing_graph(replace(model, steps=tuple(steps))), DYNAMO
    titles = list(dict.fromkeys(panel.title for panels in drawn for panel in panels))
    return animated_graph.animated_graph(graphs, one_line(titles[0])), titles


class _Store:
    """Things of which each different one is stored once, and told by its place."""

    def __init__(self):
        self.items, self._places = [], {}

    def index(self, thing) -> int:
        """Return the place of a thing, which is new at the end."""
        if thing not in self._places:
            self._places[thing] = len(self.items)
            self.items.append(thing)
        return self._places[thing]


class PanelPool:
    """Panels' HTML as pieces, each different panel once. Equal ones are not even drawn twice.

    Two steps differ in a few rows, and two rows in a cell. So markup is cut at its lines, a very
    long line every `LONGEST_PIECE` characters, and the lines are gathered to groups, a table's row
    each. A panel is a list of groups, a group a list of `strings`: between two steps only what
    changed costs room. `stage_panels.js` puts them together again.
    """

    def __init__(self):
        self.strings, self.groups, self.panels = _Store(), _Store(), _Store()
        self._drawn: dict[str, int] = {}

    def index(self, panel: Panel) -> int:
        """Return where the panel stands in `panels`, drawing it if it is new."""
        key = repr(panel.content)  # not the record itself: 1 == True, but they read differently
        if key not in self._drawn:
            self._drawn[key] = self.panels.index(self.add(panel_html(panel)))
        return self._drawn[key]

    def add(self, markup: str) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of groups: of markup, of an image in it as SVG, of markup, …"""
        parts = _IMAGE.split(markup)
        parts[1::2] = [base64.b64decode(image).decode() for image in parts[1::2]]
        return tuple(
            tuple(
                self.groups.index(tuple(map(self.strings.index, group))) for group in _groups(part)
            )
            for part in parts
        )


def _groups(markup: str) -> Iterator[list[str]]:
    """Yield lists of pieces: a new one at each row of a table, and where one grows too large."""
    group = []
    for line in markup.splitlines(keepends=True):
        if group and (line.startswith("<tr") or len(group) >= LARGEST_GROUP):
            yield group
            group = []
        group += [line[at : at + LONGEST_PIECE] for at in range(0, len(line), LONGEST_PIECE)]
    if group:
        yield group


def tracks_of(steps: Sequence[dict]) -> dict[str, list]:
    """Return a track for every field that any step has; a field that a step lacks is None there.

    A track is a flat list: how many steps after the last change, the new value, and so on. A list
    is told by how many of its first items stay, then the others. `stage_script.js` plays them back.
    """
    fields = dict.fromkeys(name for step in steps for name in step)
    return {name: _track([step.get(name) for step in steps]) for name in fields}


def _track(values: list) -> list:
    track, last, since, known = [], None, 0, []
    for value in values:
        if value == last:
            since += 1
            continue
        told = value
        if isinstance(value, list):
            same = (n for n, (a, b) in enumerate(zip(known, value, strict=False)) if a != b)
            keep = next(same, min(len(known), len(value)))
            told, known = [keep, *value[keep:]], value
        track += [since, told]
        last, since = value, 1
    return track
