"""A timeline -> its steps: text, folded HTML, or a stage that steps in the page by itself.

No step of a stage needs the kernel: the widget's state is one script (JSON) that the page plays. It
holds what the text form holds; only the stepping is new. Steps without room are counted.
"""

import json

from markupsafe import Markup

from helpers.model.graph import Graph
from helpers.model.timeline import Step, Timeline
from helpers.view import View, row_limit
from helpers.view.markup import joined, one_line, render, visible
from helpers.view.panels import heading_of, note_of, panel_html, panel_text, source_lines
from helpers.view.widgets.make_widget import make_widget
from helpers.view.widgets.stage_parts import Script

MARK, LEFT = "▶", "↩"  # the line that runs next, and the one that was just left
FOLDED_AFTER, MOST_ARROWS = 100, 1_000  # steps, and arrows in the pictures of all of them
STATE_ROOM = 700_000  # bytes of the script
ALL = "the model has all of them (`.model.steps`)"
# the scripts of the stage, in their order
PARTS = ("source", "instructions", "arcs", "stack", "marks", "calls", "panels", "travel")
PARTS += ("strip", "controls", "question", "legend")


def _text(model: Timeline) -> str:
    """Return every step, one after another, each readable without the others."""
    lines = source_lines(model)
    room, steps = row_limit.TEXT_ROOM, []
    for number, step in enumerate(model.steps, 1):
        words = _step_text(model, step, number, lines)
        room -= len(words)
        if steps and room < 0:
            break
        steps.append(words)
    rest = row_limit.first(len(steps), len(model.steps)).says(ALL, "Steps")
    opening = joined(model.title, note_of(model))
    return "\n\n".join(part for part in (opening, *steps, rest) if part)


def _step_text(model: Timeline, step: Step, number: int, lines: list[str]) -> str:
    parts = [f"Step {number} of {len(model.steps)} · {row_limit.cut(one_line(step.label))}"]
    if 1 <= step.line <= len(lines):
        parts.append(f"{MARK} {model.place(step.line)}: {lines[step.line - 1]}")
    if 1 <= step.left <= len(lines):
        parts.append(f"{LEFT} {model.place(step.left)}, {step.deed}: {lines[step.left - 1]}")
    for panel in step.panels:
        parts += [visible(f"{heading_of(panel)}:")] if heading_of(panel) else []
        parts += [f"  {line}".rstrip() for line in panel_text(panel).split("\n")]
    return "\n".join(parts)


def _html(model: Timeline) -> str:
    """Return one folded part per step; beyond a hundred it says what is left out.

    Open is the first with a picture or a table: at the start of a call there may be nothing yet.
    Nothing in it needs a style sheet or a script, so it survives an untrusted notebook.
    """
    lines, shown, room, arrows = source_lines(model), [], row_limit.ROOM, MOST_ARROWS
    above = sum(row_limit.cost(line) - row_limit.CELL + 10 for line in lines)
    for step in model.steps[:FOLDED_AFTER]:
        parts = [(heading_of(panel), Markup(panel_html(panel))) for panel in step.panels]
        room -= above + 400 + sum(len(markup.encode()) + 200 for _, markup in parts)
        arrows -= sum(len(p.content.edges) for p in step.panels if type(p.content) is Graph)
        if shown and (room < 0 or arrows < 0):
            break
        left = step.left, f"{LEFT} {step.deed}"
        shown.append((row_limit.cut(step.label), step.line, left, parts))
    drawn = (
        any(type(p.content) is not str for p in step.panels) for step in model.steps[: len(shown)]
    )
    return render(
        "timeline.html",
        title=model.title,
        note=note_of(model),
        lines=lines,
        first=model.first,
        steps=shown,
        total=len(model.steps),
        mark=MARK,
        opened=next((n for n, any_drawn in enumerate(drawn, 1) if any_drawn), 1),
    )


def stage_widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step on show."""
    script = stage_script(model)
    scripts = " ".join(("picture", "stage_script", *(f"stage_{part}" for part in PARTS)))
    says, state = (
        f"{script['title']!r}, {script['total']} steps",
        {"script": _told(script), "index": 0},
    )
    return make_widget("stage", "picture stage stage_parts", says, state, scripts)


def stage_script(model: Timeline) -> dict:
    """Return what the page plays: the source, what steps have in common, and a track per field."""
    total = len(model.steps)
    shown = total
    while True:
        script = Script(model, model.steps[:shown])
        rest = row_limit.first(shown, total).says(ALL, "Steps")
        played = {
            "title": one_line(model.title),
            "note": joined(note_of(model), rest, script.rows_left_out()),
            "lines": source_lines(model),
            "first": model.first,
            **script.parts(),
        }
        size = len(_told(played).encode())
        if size <= STATE_ROOM or shown <= 1:
            return played
        shown = max(1, min(shown - 1, shown * STATE_ROOM // size))


def _told(script: dict) -> str:
    return json.dumps(script, ensure_ascii=False, separators=(",", ":"))


timeline = View(_text, _html, stage_widget)
