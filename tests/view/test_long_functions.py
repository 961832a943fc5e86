"""A function of very many instructions and variables -> a stage that still fits a notebook."""

import linecache

from helpers import watch_stack
from helpers.capture.cpython.instruction_words import MOST_NAMED
from helpers.view.widgets import stage
from helpers.view.widgets.stage_script import AROUND, MOST_ROWS, Script

LINES = 1_400


def _long():
    body = "".join(f"    v{n} = {n} + {n}\n" for n in range(LINES))
    source = f"def many():\n{body}    return v0\n"
    linecache.cache["<long>"] = len(source), None, source.splitlines(True), "<long>"
    space = {}
    exec(compile(source, "<long>", "exec"), space)
    return space["many"]


def test_long_function_says_what_its_stage_leaves_out():
    model = watch_stack(_long()).model
    assert f"Of the {LINES:,} variables of many the first {MOST_NAMED} are shown." in model.note
    assert len(model.codes[0].names) == MOST_NAMED == len(model.steps[-1].names)
    (code,) = model.codes
    assert len(code.rows) > MOST_ROWS
    script = stage.script(model)
    assert f"Of the {len(code.rows):,} instructions of many those near a step" in script["note"]
    assert len(stage._told(script)) <= stage.STATE_ROOM


def test_instructions_near_a_step_are_listed():
    model = watch_stack(_long()).model
    (code,) = Script(model, model.steps[:3]).parts()["codes"]
    offsets = [row[0] for row in code["rows"]]
    whole = [row.offset for row in model.codes[0].rows]
    assert offsets == whole[: whole.index(model.steps[2].offset) + AROUND + 1]
