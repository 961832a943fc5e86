"""Instructions, steps of a run and code objects -> tables with the source that they belong to."""

from functools import partial

from . import View
from .bytecode_table import render_bytecode_html, render_bytecode_text
from .code_objects import make_code_widget, render_code_html, render_code_text
from .steps_table import (
    list_dynamo_steps,
    list_stack_steps,
    render_steps_html,
    render_steps_text,
)
from .widgets.stage import stage_widget

bytecode = View(render_bytecode_text, render_bytecode_html)
code = View(render_code_text, render_code_html, make_code_widget)
stack = View(
    partial(render_steps_text, list_stack_steps),
    partial(render_steps_html, list_stack_steps),
    stage_widget,
)
dynamo = View(
    partial(render_steps_text, list_dynamo_steps),
    partial(render_steps_html, list_dynamo_steps),
    stage_widget,
)
