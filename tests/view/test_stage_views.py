"""Steps of a run: each stands alone in text and HTML, and a stage plays them all."""

import json
import re
from dataclasses import dataclass

import pytest

from helpers.capture.cpython.code_fields import build_code_tree
from helpers.capture.cpython.stack_run import record_stack_run
from helpers.model.dynamo_records import DynamoRun, DynamoStep
from helpers.model.graphs import Edge, Graph, Node
from helpers.model.stage_records import Panel, Step, Timeline
from helpers.model.tables import Column, Entry, Ledger, Listing, Verdict
from helpers.view.code_objects import OTHER_FIELDS
from helpers.view.instruction_tables import code as code_view
from helpers.view.widgets import stage
from helpers.view.widgets.stage import timeline as view
from tests.capture.stack_programs import loops, recursion

SOURCE = "x = 1\nif x:\n    y = 2\n"


@dataclass(frozen=True)
class Row:
    name: str
    value: object


def listing(*pairs, title="locals"):
    columns = (Column("name", "name", True), Column("value", "value", True))
    return Listing(title, columns, tuple(Row(*pair) for pair in pairs))


def timeline(*steps, source=SOURCE, title="A run", note=""):
    return Timeline(title, source, steps, note)


def one_step(content, title="seen"):
    return timeline(Step("look", 1, (Panel(title, content),)))


def test_text_tells_every_step_with_its_source_line_and_panels():
    first = Step("begin", 1, (Panel("locals", listing()),))
    second = Step("inside", 3, (Panel("locals", listing(("x", "1"))), Panel("printed", "hello")))
    words = view.text(timeline(first, second, note="Two calls are left out."))
    assert words.startswith(
        "A run\nTwo calls are left out.\n\nStep 1 of 2 · begin\n▶ line 1: x = 1"
    )
    last = words[words.index("Step 2 of 2 · inside") :]
    assert "▶ line 3:     y = 2" in last
    assert re.search(r"x +1", last) and "printed:\n  hello" in last
    assert "printed" not in view.text(one_step("", "printed")) != view.text(one_step("", "seen"))


def test_each_kind_of_panel_is_drawn_by_its_own_view():
    graph = Graph("who", (Node("a", "a"), Node("f", "f")), (Edge("a", "f", "holds"),))
    scores = Ledger("reach", "route", ("verdict",), (Entry("alias", (Verdict("old"),)),))
    drawn = {"<table": listing(("x", "1")), "<img src=": graph, '<th scope="row"': scores}
    for sign, content in drawn.items():
        assert sign in view.html(one_step(content))
        if content is not graph:  # which the stage draws as one picture of all steps
            assert sign in stage.stage_script(one_step(content))["panels"][0]
    assert "<svg" in stage.stage_script(one_step(graph))["picture"]["svg"]


def a_run(*steps, source="x = 1\nif x:\n    y = 2\n"):
    return Timeline("A run", source, steps)


def words(script, steps, field):
    return [script["words"][step[field]] for step in steps]


@pytest.mark.parametrize("program", [loops, recursion])
def test_stage_plays_the_stack_and_the_names_of_every_step(program):
    model = record_stack_run(program, 4)
    script = json.loads(stage.stage_widget(model).script)
    steps = script["steps"]
    assert len(steps) == len(model.steps)
    told = [script["words"][value[0]] for value in script["values"]]
    for step, shown in zip(model.steps, steps, strict=True):
        if step.left_out:
            assert "stack" not in shown
            continue
        assert [told[n] for n in shown["stack"]] == list(step.stack)
        code = script["codes"][shown["code"]]
        pairs = zip(code["names"], shown["locals"], strict=True)
        bound = {name: told[n] for name, n in pairs if n >= 0}
        assert bound == dict(step.names)
        assert [row[1] for row in code["rows"] if row[0] == shown["offset"]] == [step.opname]
    assert words(script, steps, "says") == [step.says for step in model.steps]


def test_place_in_the_source_is_counted_as_the_page_shows_it():
    source = "\ta = '\U0001f600' + b"
    step = Step("s", 1, span=(1, 11, 1, 12))
    script = stage.stage_script(a_run(step, source=source))
    (shown,) = script["steps"]
    line, start, _, end = shown["span"]
    text = script["lines"][line - 1].encode("utf-16-le")
    assert text[2 * start : 2 * end].decode("utf-16-le") == "b"


def test_inner_code_lists_the_fields_that_differ_from_the_first():
    def outer(n):
        return lambda: n

    tree = build_code_tree(outer)
    first, inner = code_view.text(tree).split("\n\nCode object ")[1:]
    (meaning,) = [column.heading for column in tree.fields.columns if column.field == "meaning"]
    assert meaning in first and meaning not in inner
    listed = {line.split()[0] for line in inner.splitlines() if line.startswith("co_")}
    fields = {row.name: (row.value, row.used) for row in tree.fields.rows}
    other = {row.name: (row.value, row.used) for row in tree.nested[0].fields.rows}
    assert listed == {name for name in other if other[name] != fields[name]} > {"co_name"}
    assert OTHER_FIELDS.format(tree.name) in inner


def test_a_symbolic_value_that_is_looked_at_stays_where_it_is():
    stacks = ("a (lazy)", "NULL", "f"), ("l_a_", "abs_1"), ("NULL", "l_a_.sum")
    steps = [DynamoStep("s", 1, kind="instruction", stack=stack) for stack in stacks]
    script = stage.stage_script(DynamoRun("t", SOURCE, tuple(steps)))
    keys = [[script["values"][at][-1] for at in step["stack"]] for step in script["steps"]]
    assert keys[0][0] == keys[1][0] != keys[2][0] and keys[0][1] != keys[1][1]
