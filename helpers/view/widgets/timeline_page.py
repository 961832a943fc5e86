"""A timeline -> its steps one below the other: text, or HTML with a fold for each step.
A step has panels: each has a title, and as content a text or another model, such as a graph.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from markupsafe import Markup, escape

from ...model.stage_records import Panel, Step, Timeline
from ..ceilings import cut_text, limit_rows, list_source_lines
from ..markup import MONO, render
from ..picture_views import find_view
from ..plain_text import escape_invisible, escape_to_one_line, join_nonempty

NEXT_MARK = "▶"  # the line that runs next
LEFT_MARK = "↩"  # the line that was just left
PRINTED_TITLES = ("printed", "printed so far")
NO_STEPS = "No steps were recorded, so there is nothing to step through."
WHERE_ALL_STEPS = "the model has all of them (`.model.steps`)"

MOST_FOLDED = 100  # steps
TEXT_ROOM = 200_000  # characters
HTML_ROOM = 600_000  # bytes
PANEL_MARKUP = 200  # bytes around the content of a panel
STEP_MARKUP = 400  # bytes around the panels of a step
LINE_MARKUP = 10  # bytes around a line of the source
LONGEST_PROSE = 40_000  # characters of a panel

_PROSE = Markup(
    '<pre style="margin:0;padding:0;background:none;white-space:pre-wrap;'
    f"word-break:normal;overflow-wrap:anywhere;font-family:{escape(MONO)};"
    'color:var(--jp-content-font-color1,inherit)">{}</pre>'
)

DrawPanel = Callable[[Panel, str], str]  # panel, `text` or `html` -> its content in that form


@dataclass(frozen=True)
class FoldedStep:
    """A step in the HTML form."""

    label: str
    """What happens."""
    line: int
    """The line that runs next, from 1; 0 for none."""
    left: tuple[int, str]
    """The line that was just left, and how."""
    panels: list[tuple[str, Markup]]
    """The heading and the content of each panel."""


def describe_note(model: Timeline) -> str:
    """Return the note of the timeline; if it has no steps, the note begins by saying so."""
    if model.steps:
        return model.note
    return f"{NO_STEPS} {model.note}".strip()


def get_heading(panel: Panel) -> str:
    """Return the title of a panel; empty if its content has the same title and shows it itself."""
    if getattr(panel.content, "title", None) == panel.title:
        return ""
    return panel.title


def draw_panel(panel: Panel, form: str) -> str:
    """Return the content of a panel in a form: `text` or `html`.

    A model, such as a graph, is drawn by its view. Any other content is text.
    """
    view = find_view(panel.content)
    if view:
        return getattr(view, form)(panel.content)

    prose = escape_invisible(cut_text(panel.content.rstrip("\n"), LONGEST_PROSE)) or "(nothing)"
    return prose if form == "text" else str(_PROSE.format(prose))


# -- text ------------------------------------------------------------------------------------------


def render_timeline_text(model: Timeline) -> str:
    """Return the steps as text, up to about `TEXT_ROOM` characters, and how many are left out."""
    lines = list_source_lines(model)
    draw = cache(draw_panel)  # most panels do not change from one step to the next
    room = TEXT_ROOM  # characters that are left
    steps = []
    for number, step in enumerate(model.steps, start=1):
        heading = f"Step {number} of {len(model.steps)}"
        text = _render_step_text(model, step, heading, lines, draw)
        steps.append(text)
        room -= len(text)
        if room < 0:
            break

    opening = join_nonempty(model.title, describe_note(model))
    _, left_out_note = limit_rows(model.steps, WHERE_ALL_STEPS, "Steps", len(steps))
    return "\n\n".join(part for part in (opening, *steps, left_out_note) if part)


def _render_step_text(
    model: Timeline, step: Step, heading: str, lines: list[str], draw: DrawPanel
) -> str:
    """Return a step: its heading, the line that runs next, the line that was left, its panels.

    `lines` are those of the source. `draw` returns the text of a panel.
    """
    parts = [f"{heading} · {cut_text(escape_to_one_line(step.label))}"]
    # A step without such a line has 0; a line beyond the end was cut from a very long source.
    if 1 <= step.line <= len(lines):
        parts.append(f"{NEXT_MARK} {model.place(step.line)}: {lines[step.line - 1]}")
    if 1 <= step.left <= len(lines):
        place = model.place(step.left)
        parts.append(f"{LEFT_MARK} {place}, {step.deed}: {lines[step.left - 1]}")

    for panel in step.panels:
        has_printed_nothing = panel.title in PRINTED_TITLES and not panel.content
        if has_printed_nothing:
            continue
        if get_heading(panel):
            parts.append(escape_invisible(f"{get_heading(panel)}:"))
        parts += [f"  {line}".rstrip() for line in draw(panel, "text").split("\n")]
    return "\n".join(parts)


# -- HTML ------------------------------------------------------------------------------------------


def render_timeline_html(model: Timeline) -> str:
    """Return the first steps as HTML, up to about `HTML_ROOM` bytes; one of them is open."""
    lines = list_source_lines(model)
    steps = _fold_steps(model, lines)
    numbered = []
    # Without strict, because a very long source is cut and has fewer lines than numbers.
    for number, line in zip(model.numbers, lines, strict=False):
        numbered.append(escape(f"{number:>3}  {line}"))
    return render(
        "timeline.html",
        title=model.title,
        note=describe_note(model),
        lines=numbered,
        steps=steps,
        total=len(model.steps),
        mark=NEXT_MARK,
        opened=_choose_opened_step(model.steps[: len(steps)]),
    )


def _fold_steps(model: Timeline, lines: list[str]) -> list[FoldedStep]:
    """Return the steps that the page shows: one at least, and as many as there is room for.

    `lines` are those of the source, which stands in each step.
    """
    draw = cache(draw_panel)  # most panels do not change from one step to the next
    source_size = len("".join(lines).encode()) + LINE_MARKUP * len(lines)
    room = HTML_ROOM  # bytes that are left
    folded = []
    for step in model.steps[:MOST_FOLDED]:
        panels = [(get_heading(panel), Markup(draw(panel, "html"))) for panel in step.panels]
        panels_size = sum(len(content.encode()) + PANEL_MARKUP for _, content in panels)
        room -= source_size + STEP_MARKUP + panels_size
        if folded and room < 0:
            break
        left = (step.left, f"{LEFT_MARK} {step.deed}")
        folded.append(FoldedStep(cut_text(step.label), step.line, left, panels))
    return folded


def _choose_opened_step(steps: tuple[Step, ...]) -> int:
    """Return the number, from 1, of the step that is open: the first with a picture or a table.

    The first steps of a run may have only texts. Step 1 is open if no step has more than that.
    """
    for number, step in enumerate(steps, start=1):
        if any(not isinstance(panel.content, str) for panel in step.panels):
            return number
    return 1
