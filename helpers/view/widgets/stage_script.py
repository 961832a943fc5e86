"""The steps of a timeline -> what a stage plays: shared words stored once, and a track per field.

Which parts a stage has follows from what the steps hold: instructions and a value stack, calls as
cards, a picture, printed output, and panels of any other kind.
"""

from collections.abc import Sequence

from helpers.model.stage import LANES, NOWHERE, Card, Row, Value
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view import panels, row_limit
from helpers.view.markup import one_line, visible
from helpers.view.widgets import stage_picture
from helpers.view.widgets.pieces import Pieces
from helpers.view.widgets.tracks import recorded

PRINTED = ("printed", "printed so far")
INSTRUCTION = "instruction"  # of the kinds of a Dynamo step, the one that has a stack
MOST_ROWS, AROUND = 2_000, 50  # instructions of one function; of more those near a step
# Panels that a stage shows in a part of its own.
STACKED = ("value stack", "value stack (recomputed)", "symbolic stack", "locals", "on an exception")
CARDED = ("frames on the stack", "frames off the stack, kept by generators")


class Script:
    """What is made of some steps; `parts()` is all of it, as plain data."""

    def __init__(self, model: Timeline, steps: Sequence[Step]):
        self.model, self.steps = model, steps
        self.words, self.values, self.cards = _Store(), _Store(), _Store()
        self.symbols = _Store()
        self.panels, self._told = PanelPool(), {}
        # where no step has a kind, all are of one
        kinds = dict.fromkeys(step.lane for step in steps if step.lane) or {"": None}
        known = [lane for lane in LANES if lane in kinds]
        self.lanes = known + [kind for kind in kinds if kind not in known]
        self.printed = max((_printed(step) for step in steps), key=len, default="")
        self.picture = stage_picture.of(model, steps)
        self._source = model.source.split("\n")
        self._codes = getattr(model, "codes", ())
        self._slots = [{name: n for n, name in enumerate(code.names)} for code in self._codes]

    def parts(self) -> dict:
        """Return the script's parts: pools of what recurs, tables, and the tracks."""
        tracks = recorded([self._step(n, step) for n, step in enumerate(self.steps)])
        return {
            "total": len(self.steps),
            "tracks": tracks,
            "lanes": [lane or "step" for lane in self.lanes],
            "codes": [self._code(*each) for each in enumerate(self._codes)],
            "words": self.words.items,
            "values": self.values.items,
            "cards": self.cards.items,
            "picture": self.picture.told() if self.picture else None,
            "printed": visible(self.printed),
            "strings": self.panels.pieces.strings,
            "groups": self.panels.pieces.groups,
            "panels": self.panels.panels,
        }

    def _step(self, n: int, step: Step) -> dict:
        told = {
            "label": self._word(row_limit.cut(step.label)),
            "says": self._word(row_limit.cut(step.says)),
            "short": self._word(row_limit.cut(step.short or step.label)),
            "line": step.line,
            "span": self._span(step.span),
            "lane": self.lanes.index(step.lane) if step.lane in self.lanes else -1,
            "left": step.left,
            "deed": self._word(step.deed),
        }
        if self.printed:
            told["printed"] = self._output(_printed(step))
        if getattr(step, "stack", None) is not None:
            told |= self._stacked(step)
        for name in ("callers", "cards", "shelf"):
            if hasattr(step, name):
                told[name] = [self._card(card) for card in getattr(step, name)]
        if hasattr(step, "handed"):
            told["handed"] = self._word(row_limit.cut(step.handed))
        rest = [panel for panel in step.panels if not self._has_part(step, panel)]
        if self.picture:
            told["picture"] = self.picture.state(n)
            rest = [panel for panel in rest if panel.title not in self.picture.titles]
        if rest:
            told["panels"] = [[visible(panels.heading(p)), self.panels.index(p)] for p in rest]
        return told

    def _has_part(self, step: Step, panel: Panel) -> bool:
        stacked = panel.title in STACKED and hasattr(step, "stack")
        carded = panel.title in CARDED and hasattr(step, "cards")
        printed = panel.title in PRINTED and type(panel.content) is str
        return stacked or carded or printed

    def _output(self, words: str) -> int | list:
        """Return how much of all output stands there; where it is no beginning, the words."""
        if self.printed.startswith(words):
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
        return Value(words, key=self.symbols.index((getattr(step, "function", ""), n, same)))

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
            at = self._told[id(value)] = value, self.values.index((*words, value.key))
        return at[1]

    def _card(self, card: Card) -> int:
        return self.cards.index(
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
        asked = {getattr(step, "offset", -1) for step in self.steps if _code_of(step) == place}
        near = set()
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
        return self.words.index(one_line(words))


def _code_of(step: Step) -> int:
    return getattr(step, "code", -1)


def _units(words: str) -> int:
    return len(words.encode("utf-16-le")) // 2


def _printed(step: Step) -> str:
    found = (p.content for p in step.panels if p.title in PRINTED and type(p.content) is str)
    return next(found, "")


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
    """Panels' HTML as pieces, each different panel once. Equal ones are not even drawn twice."""

    def __init__(self):
        self.pieces, self.panels = Pieces(), []
        self._drawn: dict[str, int] = {}
        self._known: dict[str, int] = {}

    def index(self, panel: Panel) -> int:
        """Return where the panel stands in `panels`, drawing it if it is new."""
        key = repr(panel.content)  # not the record itself: 1 == True, but they read differently
        if key not in self._drawn:
            markup = panels.html(panel)
            if markup not in self._known:
                self._known[markup] = len(self.panels)
                self.panels.append(self.pieces.add(markup))
            self._drawn[key] = self._known[markup]
        return self._drawn[key]
