"""A timeline -> its steps: text, folded HTML, or a stage that the page plays by itself."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from markupsafe import Markup, escape

from ...model.graphs import Graph
from ...model.stage_records import LANES, NOWHERE, Card, Panel, Step, Timeline, Value
from ...model.torch_records import DynamoRun
from .. import View
from ..ceilings import cut_text, limit_rows, list_source_lines
from ..diagram.animated_graph import draw_animated_graph
from ..diagram.growing_graphs import list_growing_graphs
from ..markup import MONO, render
from ..picture_views import find_view
from ..plain_text import join_parts, spell_in_one_line, spell_out
from . import make_widget

MARK, LEFT = "▶", "↩"  # the line that runs next, and the one that was just left
NO_STEPS = "No steps were recorded, so there is nothing to step through."
FOLDED_AFTER = 100  # steps
LAZY = " (lazy)"  # of a symbolic value that Dynamo has not looked at
TEXT_ROOM, ROOM, STATE_ROOM = 200_000, 600_000, 700_000  # characters; bytes of HTML; of the script
ALL = "the model has all of them (`.model.steps`)"
LONGEST_PROSE = 40_000  # characters of a panel
_PROSE = Markup('<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;')
_PROSE += Markup(f"word-break:normal;overflow-wrap:anywhere;font-family:{escape(MONO)};")
_PROSE += Markup('color:var(--jp-content-font-color1,inherit)">{}</pre>')
PRINTED = ("printed", "printed so far")
INSTRUCTION = "instruction"  # of the kinds of a Dynamo step, the one that has a stack
MOST_NODES = 400  # in all steps together; more have no place for each of their own
# Panels that a stage shows in a part of its own.
STACKED = ("value stack", "value stack (recomputed)", "symbolic stack", "locals", "on an exception")
STACKED += ("why",)  # that is also what the step says
CARDED = ("frames on the stack", "frames off the stack, kept by generators")
# a letter per part and step of a picture
to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
_LETTERS = {"": "0", "shown": "1", "new": "2", "ghost": "3"}


def note_of(model: Timeline) -> str:
    """Return the timeline's note; without steps it says so."""
    return model.note if model.steps else f"{NO_STEPS} {model.note}".strip()


def _heading_of(panel: Panel) -> str:
    """Return the panel's title, or nothing where its content bears the same title itself."""
    return "" if getattr(panel.content, "title", None) == panel.title else panel.title


def _draw_panel(panel: Panel, form: str) -> str:
    """Return a panel's content as `text` or `html` from the view of its kind, or as plain words."""
    if view := find_view(panel.content):
        return getattr(view, form)(panel.content)
    prose = spell_out(cut_text(panel.content.rstrip("\n"), LONGEST_PROSE)) or "(nothing)"
    return prose if form == "text" else str(_PROSE.format(prose))


def _text(model: Timeline) -> str:
    lines, steps, room, draw = list_source_lines(model), [], TEXT_ROOM, cache(_draw_panel)
    for number, step in enumerate(model.steps, 1):
        parts = [f"Step {number} of {len(model.steps)} · {cut_text(spell_in_one_line(step.label))}"]
        if 1 <= step.line <= len(lines):
            parts.append(f"{MARK} {model.place(step.line)}: {lines[step.line - 1]}")
        if 1 <= step.left <= len(lines):
            parts.append(f"{LEFT} {model.place(step.left)}, {step.deed}: {lines[step.left - 1]}")
        for panel in (one for one in step.panels if one.content or one.title not in PRINTED):
            parts += [spell_out(f"{_heading_of(panel)}:")] if _heading_of(panel) else []
            parts += [f"  {line}".rstrip() for line in draw(panel, "text").split("\n")]
        steps.append("\n".join(parts))
        room -= len(steps[-1])
        if room < 0:
            break
    rest = limit_rows(model.steps, ALL, "Steps", len(steps))[1]
    opening = join_parts(model.title, note_of(model))
    return "\n\n".join(part for part in (opening, *steps, rest) if part)


def _html(model: Timeline) -> str:
    """Open is the first step with a picture or a table: at the start there may be nothing yet."""
    lines, shown, room, opened = list_source_lines(model), [], ROOM, 0
    draw = cache(_draw_panel)  # at most steps a panel is as it was
    above = len("".join(lines).encode()) + 10 * len(lines) + 400
    for step in model.steps[:FOLDED_AFTER]:
        parts = [(_heading_of(each), Markup(draw(each, "html"))) for each in step.panels]
        room -= above + sum(len(words.encode()) + 200 for _, words in parts)
        if shown and room < 0:
            break
        shown.append((cut_text(step.label), step.line, (step.left, f"{LEFT} {step.deed}"), parts))
        if not opened and any(type(panel.content) is not str for panel in step.panels):
            opened = len(shown)
    rows = zip(model.numbers, lines, strict=False)
    lines = [escape(f"{number:>3}  {line}") for number, line in rows]
    values = {"lines": lines, "steps": shown, "total": len(model.steps), "mark": MARK}
    values |= {"opened": opened or 1, "note": note_of(model)}
    return render("timeline.html", title=model.title, **values)


def stage_widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step on show."""
    script = stage_script(model)
    says = f"{script['title']!r}, {script['total']} steps"
    state = {"script": to_json(script), "index": 0}
    return make_widget("stage", "picture stage stage_parts", says, state)


def stage_script(model: Timeline) -> dict:
    """Return what the page plays: the source, what steps have in common, and a track per field."""
    shown = len(model.steps)
    while True:
        rest = limit_rows(model.steps, ALL, "Steps", shown)[1]
        played = {"title": spell_in_one_line(model.title), "note": join_parts(note_of(model), rest)}
        played |= {"lines": list_source_lines(model), "numbers": model.numbers}
        played |= _Script(model, model.steps[:shown]).parts()
        size = len(to_json(played).encode())
        if size <= STATE_ROOM or shown <= 1:
            return played
        shown = max(1, min(shown - 1, shown * STATE_ROOM // size))


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
        self._below = ()  # the stack of the step before
        self._slots = [{name: n for n, name in enumerate(code.names)} for code in self._codes]

    def parts(self) -> dict:
        """Return the script's parts: the steps, tables, and pools of what recurs."""
        steps, codes = [self._step(n, step) for n, step in enumerate(self.steps)], []
        for code in self._codes:
            rows = [
                [row.offset, row.opname, spell_in_one_line(row.argument), LANES.index(row.lane),
                 self._span(row.span), row.target]
                for row in code.rows
            ]  # fmt: skip
            names = [spell_in_one_line(name) for name in code.names]
            head = {"name": spell_in_one_line(code.function), "depth": code.depth}
            codes.append({**head, "rows": rows, "names": names})
        drawn = self._picture and {
            "svg": self._picture.svg,
            "title": spell_in_one_line(self._titles[0]),
        }
        pools = {"words": self._words, "values": self._values, "cards": self._cards}
        parts = {name: list(pool) for name, pool in (pools | {"panels": self._panels}).items()}
        parts |= {"total": len(self.steps), "steps": steps, "codes": codes}
        parts["lanes"] = [lane or "step" for lane in self._lanes]
        parts["picture"] = drawn and {**drawn, "keys": self._keys}
        return parts | {"printed": spell_out(self._printed)}

    def _step(self, n: int, step: Step) -> dict:
        told = {"line": step.line, "span": self._span(step.span), "left": step.left}
        words = {"label": step.label, "says": step.says, "short": step.short or step.label}
        told |= {name: self._word(cut_text(said)) for name, said in words.items()}
        told["lane"] = self._lanes.index(step.lane) if step.lane in self._lanes else -1
        told["deed"] = self._word(step.deed)
        if self._printed:  # how much of all output is there; where it is no beginning, words
            printed = _printed(step)
            starts = self._printed.startswith(printed)
            told["printed"] = _count_units(spell_out(printed)) if starts else [self._word(printed)]
        if getattr(step, "stack", None) is not None:
            told |= self._stacked(step)
        for name in ("callers", "cards", "shelf"):
            if hasattr(step, name):
                told[name] = [self._card(card) for card in getattr(step, name)]
        if hasattr(step, "handed"):
            told["handed"] = self._word(cut_text(step.handed))
        if self._picture:
            state = self._picture.states[n]
            told["picture"] = "".join(_LETTERS[state.get(key, "")] for key in self._keys)
        apart = {*self._titles}  # of panels that have a part of their own
        apart |= {*STACKED} if hasattr(step, "stack") else set()
        apart |= {*CARDED} if hasattr(step, "cards") else set()
        printed = [p for p in step.panels if p.title in PRINTED and type(p.content) is str]
        for panel in step.panels:
            if panel.title not in apart and panel not in printed:
                shown = _index(self._panels, _draw_panel(panel, "html"))
                told.setdefault("panels", []).append((spell_out(_heading_of(panel)), shown))
        return told

    def _stacked(self, step: Step) -> dict:
        if getattr(step, "left_out", 0) or getattr(step, "kind", INSTRUCTION) != INSTRUCTION:
            return {}
        values, function = getattr(step, "values", ()), getattr(step, "function", "")
        if not values:  # known only by its words: at the same place it is the same one
            keys = [self._symbol(function, n, step.stack) for n in range(len(step.stack))]
            self._below = step.stack
            values = [Value(w, key=key) for w, key in zip(step.stack, keys, strict=True)]
        told = {"stack": list(map(self._value, values)), "taken": getattr(step, "taken", 0)}
        if getattr(step, "code", -1) >= 0:
            slots = self._slots[step.code]
            told |= {"code": step.code, "offset": step.offset, "call": step.call}
            told["locals"] = [-1] * len(slots)
            for (name, _), value in zip(step.names, step.variables, strict=True):
                told["locals"][slots[name]] = self._value(value)
            told |= {"handler": self._word(step.handler), "ending": self._word(step.ending)}
            told["raised"] = step.raised
        elif hasattr(step, "function"):
            told["call"] = self._word(function)
        return told

    def _symbol(self, function: str, n: int, stack: tuple[str, ...]) -> int:
        """Return the key of a symbolic value; one that was lazy has another word from now on."""
        place, before = (function, n, stack[n].removesuffix(LAZY)), self._below[n : n + 1]
        if n < len(stack) - 1 and stack[n] != "NULL" and "".join(before).endswith(LAZY):
            known = self._symbols.get((function, n, before[0].removesuffix(LAZY)))
            self._symbols.setdefault(place, len(self._symbols) if known is None else known)
        return _index(self._symbols, place)

    def _value(self, value: Value) -> int:
        words = (self._word(value.words), self._word(value.kind), self._word(value.same))
        return _index(self._values, (*words, value.key))

    def _card(self, card: Card) -> int:
        head = card.number, self._word(card.function), card.line, self._word(card.state)
        names = tuple((self._word(name), self._word(words)) for name, words in card.names)
        return _index(self._cards, (*head, names, tuple(map(self._word, card.stack))))

    def _span(self, span) -> list[int] | None:
        """Return a place in the source as the page counts: tabs are four wide, letters UTF-16."""
        line, column, end, end_column = span
        if span == NOWHERE or end > len(self._source):
            return None
        places = ((line, column), (end, end_column))
        shown = [spell_in_one_line(self._source[at - 1][:to].expandtabs(4)) for at, to in places]
        return [line, _count_units(shown[0]), end, _count_units(shown[1])]

    def _word(self, words: str) -> int:
        return _index(self._words, spell_in_one_line(words))


def _count_units(words: str) -> int:
    return len(words.encode("utf-16-le")) // 2


def _printed(step: Step) -> str:
    found = (p.content for p in step.panels if p.title in PRINTED and type(p.content) is str)
    return next(found, "")


def _draw_steps(model: Timeline, steps: Sequence[Step]):
    """Return one picture of the graphs of all steps, if any, and the titles of their panels."""
    drawn = [[p for p in step.panels if type(p.content) is Graph] for step in steps]
    graphs = [panels[0].content if panels else Graph("", (), ()) for panels in drawn]
    if not 0 < len({node.key for graph in graphs for node in graph.nodes}) <= MOST_NODES:
        return None, ()
    titles, grows = list(dict.fromkeys(p.title for panels in drawn for p in panels)), False
    if isinstance(model, DynamoRun):
        graphs, grows = list_growing_graphs(replace(model, steps=tuple(steps))), True
    return draw_animated_graph(graphs, spell_in_one_line(titles[0]), grows), titles


timeline = View(_text, _html, stage_widget)
