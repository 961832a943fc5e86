"""A timeline -> its steps: text, folded HTML, or a stage that steps in the page by itself."""

from markupsafe import Markup

from helpers.model.graph import Graph
from helpers.model.timeline import Step, Timeline
from helpers.view import panels, row_limit
from helpers.view.markup import joined, one_line, render, visible
from helpers.view.panels import heading, note, source_lines
from helpers.view.widgets import stage

MARK, LEFT = "▶", "↩"  # the line that runs next, and the one that was just left
FOLDED_AFTER, MOST_ARROWS = 100, 1_000  # steps, and arrows in the pictures of all of them
ALL = stage.ALL

widget = stage.widget


def text(model: Timeline) -> str:
    """Return every step, one after another, each readable without the others."""
    model = row_limit.trimmed(model)
    lines = source_lines(model)
    room, steps = row_limit.TEXT_ROOM, []
    for number, step in enumerate(model.steps, 1):
        words = _step_text(model, step, number, lines)
        room -= len(words)
        if steps and room < 0:
            break
        steps.append(words)
    rest = row_limit.Part(len(steps), 0, len(model.steps)).says(ALL, "Steps")
    opening = joined(model.title, note(model))
    return "\n\n".join(part for part in (opening, *steps, rest) if part)


def html(model: Timeline) -> str:
    """Return one folded part per step; beyond a hundred it says what is left out.

    Open is the first with a picture or a table: at the start of a call there may be nothing yet.

    Nothing in it needs a style sheet or a script, so it survives an untrusted notebook.
    """
    model = row_limit.trimmed(model)
    lines, shown, room, arrows = source_lines(model), [], row_limit.ROOM, MOST_ARROWS
    above = sum(row_limit.cost(line) - row_limit.CELL + 10 for line in lines)
    for step in model.steps[:FOLDED_AFTER]:
        parts = [(heading(panel), Markup(panels.html(panel))) for panel in step.panels]
        room -= above + 400 + sum(len(markup.encode()) + 200 for _, markup in parts)
        arrows -= sum(len(p.content.edges) for p in step.panels if type(p.content) is Graph)
        if shown and (room < 0 or arrows < 0):
            break
        left = step.left, f"{LEFT} {step.deed}"
        shown.append((row_limit.cut(step.label), step.line, left, parts))
    return render(
        "timeline.html",
        title=model.title,
        note=note(model),
        lines=lines,
        first=model.first,
        steps=shown,
        total=len(model.steps),
        mark=MARK,
        opened=_first_drawn(model.steps[: len(shown)]),
    )


def _first_drawn(steps) -> int:
    """Return the number of the first step, from 1, with more than words in a panel; or else 1."""
    words = (all(type(panel.content) is str for panel in step.panels) for step in steps)
    return next((number for number, only in enumerate(words, 1) if not only), 1)


def _step_text(model: Timeline, step: Step, number: int, lines: list[str]) -> str:
    parts = [f"Step {number} of {len(model.steps)} · {row_limit.cut(one_line(step.label))}"]
    if 1 <= step.line <= len(lines):
        parts.append(f"{MARK} {model.place(step.line)}: {lines[step.line - 1]}")
    if 1 <= step.left <= len(lines):
        parts.append(f"{LEFT} {model.place(step.left)}, {step.deed}: {lines[step.left - 1]}")
    for panel in step.panels:
        parts += [visible(f"{heading(panel)}:")] if heading(panel) else []
        parts.append(_indented(panels.text(panel)))
    return "\n".join(parts)


def _indented(words: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in words.split("\n"))
