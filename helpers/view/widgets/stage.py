"""A timeline -> a widget that steps through it in the page by itself.

No step needs the kernel: the widget's state is one script (JSON) that the page plays. It holds what
the text form holds; only the stepping is new. Steps that there is no room for are counted.
"""

import json

from helpers.model.timeline import Timeline
from helpers.view import panels, row_limit
from helpers.view.markup import joined, one_line
from helpers.view.widgets.base import widget_class
from helpers.view.widgets.stage_script import Script

STATE_ROOM = 700_000  # bytes of the script
ALL = "the model has all of them (`.model.steps`)"


def widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step on show."""
    return _widget_class()(script=_told(script(row_limit.trimmed(model))))


def script(model: Timeline) -> dict:
    """Return what the page plays: the source, what steps have in common, and a track per field."""
    total = len(model.steps)
    shown = total
    while True:
        played = _with(model, shown)
        size = len(_told(played).encode())
        if size <= STATE_ROOM or shown <= 1:
            return played
        shown = max(1, min(shown - 1, shown * STATE_ROOM // size))


def _with(model: Timeline, shown: int) -> dict:
    rest = row_limit.Part(shown, 0, len(model.steps)).says(ALL, "Steps")
    script = Script(model, model.steps[:shown])
    return {
        "title": one_line(model.title),
        "note": joined(panels.note(model), rest, script.rows_left_out()),
        "lines": panels.source_lines(model),
        "first": model.first,
        **script.parts(),
    }


def _told(script: dict) -> str:
    return json.dumps(script, ensure_ascii=False, separators=(",", ":"))


_widget_class = widget_class(
    __file__,
    styles=("picture.css", "stage.css", "stage_parts.css"),
    says=lambda w: _says(w.script),
    traits=lambda t: {"script": t.Unicode(), "index": t.Int(0)},
    scripts=(
        "picture.js",
        "stage_script.js",
        "stage_source.js",
        "stage_instructions.js",
        "stage_arcs.js",
        "stage_stack.js",
        "stage_marks.js",
        "stage_calls.js",
        "stage_panels.js",
        "stage_travel.js",
        "stage_strip.js",
        "stage_controls.js",
        "stage_question.js",
        "stage_legend.js",
    ),
)


def _says(words: str) -> str:
    told = json.loads(words)
    return f"{told['title']!r}, {told['total']} steps"
