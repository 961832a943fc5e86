"""A timeline -> its steps: text, folded HTML, or a stage that steps in the page by itself.

No step of a stage needs the kernel: the widget's state is one script (JSON) that the page plays. It
has what the text form has, shared words once; only the stepping is new.
Which parts a stage has follows from what the steps hold: instructions and a value stack, calls as
cards, a picture, printed output, and panels of any other kind.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from helpers.model.graphs import Graph
from helpers.model.stage_records import LANES, NOWHERE, Card, Panel, Step, Timeline, Value
from helpers.model.tables import Ledger, Listing
from helpers.model.torch_records import DynamoRun
from helpers.view import View
from helpers.view.diagram import animated_graph
from helpers.view.diagram.graph_view import graph
from helpers.view.markup import MONO, cut, fit, joined, one_line, render, source_lines, visible
from helpers.view.table_view import ledger, table
from helpers.view.widgets import make_widget

MARK, LEFT = "▶", "↩"  # the line that runs next, and the one that was just left
NO_STEPS = "No steps were recorded, so there is nothing to step through."
FOLDED_AFTER, MOST_ARROWS = 100, 1_000  # steps, and arrows in the pictures of all of them
TEXT_ROOM, ROOM, STATE_ROOM = 200_000, 600_000, 700_000  # characters; bytes of HTML; of the script
ALL = "the model has all of them (`.model.steps`)"
# the scripts of the stage, in their order
PARTS = ("source", "instructions", "arcs", "stack", "marks", "calls", "panels", "travel")
PARTS += ("strip", "controls", "question", "legend")
LONGEST_PROSE = 40_000  # characters of a panel
_VIEWS = {Listing: table, Graph: graph, Ledger: ledger}
_PROSE = Markup(
    '<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;'
    f"word-break:normal;overflow-wrap:anywhere;font-family:{escape(MONO)};"
    'color:var(--jp-content-font-color1,inherit)">{}</pre>'
)
PRINTED = ("printed", "printed so far")
INSTRUCTION = "instruction"  # of the kinds of a Dynamo step, the one that has a stack
MOST_NODES = 400  # in all steps together; more have no place for each of their own
# Panels that a stage shows in a part of its own.
STACKED = ("value stack", "value stack (recomputed)", "symbolic stack", "locals", "on an exception")
CARDED = ("frames on the stack", "frames off the stack, kept by generators")
DYNAMO = ("graph so far", "guards so far", "the graph that is handed over", "why")
# a letter per part and step of a picture
_LETTERS = {"": "0", "shown": "1", "new": "2", "ghost": "3", "outline": "4"}


def note_of(model: Timeline) -> str:
    """Return the timeline's note; without steps it says so."""
    return model.note if model.steps else f"{NO_STEPS} {model.note}".strip()


def _heading_of(panel: Panel) -> str:
    """Return the panel's title, or nothing where its content bears the same title itself."""
    return "" if getattr(panel.content, "title", None) == panel.title else panel.title


def panel_html(panel: Panel) -> str:
    """Return a panel's content as HTML from the view of its kind; plain text is escaped."""
    view = _VIEWS.get(type(panel.content))
    return view.html(panel.content) if view else str(_PROSE.format(_prose(panel)))


def _panel_text(panel: Panel) -> str:
    view = _VIEWS.get(type(panel.content))
    return view.text(panel.content) if view else _prose(panel)


def _prose(panel: Panel) -> str:
    return visible(cut(panel.content.rstrip("\n"), LONGEST_PROSE)) or "(nothing)"


def _text(model: Timeline) -> str:
    lines, steps = source_lines(model), []
    for number, step in enumerate(model.steps, 1):
        steps.append(_step_text(model, step, number, lines))
        if sum(map(len, steps)) > TEXT_ROOM:
            break
    rest = fit(model.steps, ALL, "Steps", len(steps))[1]
    opening = joined(model.title, note_of(model))
    return "\n\n".join(part for part in (opening, *steps, rest) if part)


def _step_text(model: Timeline, step: Step, number: int, lines: list[str]) -> str:
    parts = [f"Step {number} of {len(model.steps)} · {cut(one_line(step.label))}"]
    if 1 <= step.line <= len(lines):
        parts.append(f"{MARK} {model.place(step.line)}: {lines[step.line - 1]}")
    if 1 <= step.left <= len(lines):
        parts.append(f"{LEFT} {model.place(step.left)}, {step.deed}: {lines[step.left - 1]}")
    for panel in step.panels:
        parts += [visible(f"{_heading_of(panel)}:")] if _heading_of(panel) else []
        parts += [f"  {line}".rstrip() for line in _panel_text(panel).split("\n")]
    return "\n".join(parts)


def _html(model: Timeline) -> str:
    """Open is the first step with a picture or a table: at the start there may be nothing yet."""
    lines, shown, room, arrows = source_lines(model), [], ROOM, MOST_ARROWS
    above = len("".join(lines).encode()) + 10 * len(lines) + 400
    opened = 0
    for step in model.steps[:FOLDED_AFTER]:
        parts = [(_heading_of(panel), Markup(panel_html(panel))) for panel in step.panels]
        room -= above + sum(len(words.encode()) + 200 for _, words in parts)
        arrows -= sum(len(p.content.edges) for p in step.panels if type(p.content) is Graph)
        if shown and (room < 0 or arrows < 0):
            break
        shown.append((cut(step.label), step.line, (step.left, f"{LEFT} {step.deed}"), parts))
        if not opened and any(type(panel.content) is not str for panel in step.panels):
            opened = len(shown)
    return render(
        "timeline.html",
        title=model.title,
        note=note_of(model),
        lines=lines,
        first=model.first,
        steps=shown,
        total=len(model.steps),
        mark=MARK,
        opened=opened or 1,
    )


def stage_widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step on show."""
    script = stage_script(model)
    scripts = " ".join(("picture", "stage_script", *(f"stage_{part}" for part in PARTS)))
    says = f"{script['title']!r}, {script['total']} steps"
    state = {"script": _to_json(script), "index": 0}
    return make_widget("stage", "picture stage stage_parts", says, state, scripts)


def stage_script(model: Timeline) -> dict:
    """Return what the page plays: the source, what steps have in common, and a track per field."""
    total = len(model.steps)
    shown = total
    while True:
        script = _Script(model, model.steps[:shown])
        rest = fit(model.steps, ALL, "Steps", shown)[1]
        played = {
            "title": one_line(model.title),
            "note": joined(note_of(model), rest),
            "lines": source_lines(model),
            "first": model.first,
            **script.parts(),
        }
        size = len(_to_json(played).encode())
        if size <= STATE_ROOM or shown <= 1:
            return played
        shown = max(1, min(shown - 1, shown * STATE_ROOM // size))


def _to_json(script: dict) -> str:
    return json.dumps(script, ensure_ascii=False, separators=(",", ":"))


def _index(pool: dict, thing) -> int:
    return pool.setdefault(thing, len(pool))


class _Script:
    """What is made of some steps; `parts()` is all of it, as plain data."""

    def __init__(self, model: Timeline, steps: Sequence[Step]):
        self.steps = steps
        self._words, self._values, self._cards, self._symbols, self._panels = {}, {}, {}, {}, {}
        # where no step has a kind, all are of one
        kinds = dict.fromkeys(step.lane for step in steps if step.lane) or {"": None}
        self._lanes = sorted(kinds, key=lambda kind: LANES.index(kind) if kind in LANES else 99)
        self._printed = max((_printed(step) for step in steps), key=len, default="")
        self._picture, self._titles = _draw_steps(model, steps)
        states = self._picture.states if self._picture else ()
        self._keys = list(dict.fromkeys(key for state in states for key in state))
        self._source = model.source.split("\n")
        self._codes = getattr(model, "codes", ())
        self._slots = [{name: n for n, name in enumerate(code.names)} for code in self._codes]

    def parts(self) -> dict:
        """Return the script's parts: the steps, tables, and pools of what recurs."""
        picture = None
        if self._picture:
            title = one_line(self._titles[0])
            picture = {"svg": self._picture.svg, "keys": self._keys, "title": title}
        return {
            "total": len(self.steps),
            "steps": [self._step(n, step) for n, step in enumerate(self.steps)],
            "lanes": [lane or "step" for lane in self._lanes],
            "codes": list(map(self._code, self._codes)),
            "words": list(self._words),
            "values": list(self._values),
            "cards": list(self._cards),
            "picture": picture,
            "printed": visible(self._printed),
            "panels": list(self._panels),
        }

    def _step(self, n: int, step: Step) -> dict:
        told = {
            "label": self._word(cut(step.label)),
            "says": self._word(cut(step.says)),
            "short": self._word(cut(step.short or step.label)),
            "line": step.line,
            "span": self._span(step.span),
            "lane": self._lanes.index(step.lane) if step.lane in self._lanes else -1,
            "left": step.left,
            "deed": self._word(step.deed),
        }
        if self._printed:  # how much of all output stands there; where it is no beginning, words
            printed = _printed(step)
            starts = self._printed.startswith(printed)
            told["printed"] = _count_units(visible(printed)) if starts else [self._word(printed)]
        if getattr(step, "stack", None) is not None:
            told |= self._stacked(step)
        for name in ("callers", "cards", "shelf"):
            if hasattr(step, name):
                told[name] = [self._card(card) for card in getattr(step, name)]
        if hasattr(step, "handed"):
            told["handed"] = self._word(cut(step.handed))
        if self._picture:
            state = self._picture.states[n]
            told["picture"] = "".join(_LETTERS[state.get(key, "")] for key in self._keys)
        if rest := [panel for panel in step.panels if not self._has_part(step, panel)]:
            shown = [(visible(_heading_of(p)), _index(self._panels, panel_html(p))) for p in rest]
            told["panels"] = shown
        return told

    def _has_part(self, step: Step, panel: Panel) -> bool:
        stacked = panel.title in STACKED and hasattr(step, "stack")
        carded = panel.title in CARDED and hasattr(step, "cards")
        printed = panel.title in PRINTED and type(panel.content) is str
        return stacked or carded or printed or panel.title in self._titles

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
            told["locals"] = [-1] * len(self._slots[step.code])
            for (name, _), value in zip(step.names, step.variables, strict=True):
                told["locals"][self._slots[step.code][name]] = self._value(value)
            told["handler"] = self._word(step.handler)
            told["ending"] = self._word(step.ending)
            told["raised"] = step.raised
        elif hasattr(step, "function"):
            told["call"] = self._word(step.function)
        return told

    def _symbol(self, step, n: int, words: str) -> Value:
        """Return a value that is known by its words alone: at the same place it is the same one."""
        same = words.removesuffix(" (lazy)")
        where = getattr(step, "function", ""), n, same
        return Value(words, key=_index(self._symbols, where))

    def _value(self, value: Value) -> int:
        words = (self._word(value.words), self._word(value.kind), self._word(value.same))
        return _index(self._values, (*words, value.key))

    def _card(self, card: Card) -> int:
        head = card.number, self._word(card.function), card.line, self._word(card.state)
        names = tuple((self._word(name), self._word(words)) for name, words in card.names)
        stack = tuple(self._word(words) for words in card.stack)
        return _index(self._cards, (*head, names, stack))

    def _code(self, code) -> dict:
        rows = [
            [row.offset, row.opname, one_line(row.argument), LANES.index(row.lane),
             self._span(row.span), row.target]
            for row in code.rows
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
        return [line, _count_units(shown[0]), end, _count_units(shown[1])]

    def _word(self, words: str) -> int:
        return _index(self._words, one_line(words))


def _count_units(words: str) -> int:
    return len(words.encode("utf-16-le")) // 2


def _printed(step: Step) -> str:
    found = (p.content for p in step.panels if p.title in PRINTED and type(p.content) is str)
    return next(found, "")


def _draw_steps(model: Timeline, steps: Sequence[Step]):
    """Return one picture of the graphs of all steps, if any, and the titles of their panels."""
    drawn = [[p for p in step.panels if type(p.content) is Graph] for step in steps]
    graphs = [panels[0].content if panels else Graph("", (), ()) for panels in drawn]
    keys = {node.key for graph in graphs for node in graph.nodes}
    if not 0 < len(keys) <= MOST_NODES:
        return None, ()
    if isinstance(model, DynamoRun):
        return animated_graph.growing_graph(replace(model, steps=tuple(steps))), DYNAMO
    titles = list(dict.fromkeys(panel.title for panels in drawn for panel in panels))
    return animated_graph.animated_graph(graphs, one_line(titles[0])), titles


timeline = View(_text, _html, stage_widget)
