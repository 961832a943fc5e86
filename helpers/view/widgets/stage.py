"""A timeline -> its steps: text, HTML with a fold for each step, or a *stage*, which plays them."""

from ...model.stage_records import Timeline
from .. import View
from . import make_widget
from .stage_script import stage_script, to_json
from .timeline_page import render_timeline_html, render_timeline_text


def stage_widget(model: Timeline):
    """Return an anywidget with the whole timeline in its state; `index` is the step it shows."""
    script = stage_script(model)
    says = f"{script['title']!r}, {script['total']} steps"
    state = {"script": to_json(script), "index": 0}
    return make_widget("stage", "picture stage stage_parts", says, state)


timeline = View(render_timeline_text, render_timeline_html, stage_widget)
