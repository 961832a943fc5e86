"""A translation as a table: text and HTML say the same, and nothing in it is markup."""

import re

from helpers.model.dynamo import DynamoRun, DynamoStep
from helpers.model.graph import Graph, Node
from helpers.model.timeline import Panel
from helpers.view.instruction_tables import dynamo, dynamo_table
from helpers.view.widgets.stage import stage_script

HOSTILE = "<img src=x onerror=alert(1)></script>"


def step(label, **fields):
    graph = Graph("graph so far", (Node("a", HOSTILE),), ())
    return DynamoStep(label, 1, (Panel("graph so far", graph),), **fields)


RUN = DynamoRun(
    "Dynamo translates f",
    f"def f(a):  # {HOSTILE}",
    (
        step("0 LOAD_FAST a", opname="LOAD_FAST", argrepr="a"),
        step("2 BINARY_OP +", stack=("a (lazy)", HOSTILE), made=("add = add(a, 1)",)),
        step("graph break", kind="break", ending=HOSTILE),
    ),
    "1 graph.",
)


def cells(markup):
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", markup)]


def test_table_says_in_html_what_it_says_in_text():
    headings, rows = dynamo_table(RUN)
    assert len(cells(dynamo.html(RUN))) == len(rows) * len(headings)
    words = dynamo.text(RUN)
    assert all(word in words for row in rows for cell in row for word in cell.split())


def test_columns_that_nobody_needs_are_left_out():
    headings, rows = dynamo_table(RUN)
    assert "guards taken" not in headings and "added to the graph" in headings
    assert all(len(row) == len(headings) for row in rows)


def test_why_a_graph_broke_stands_with_its_step():
    _, rows = dynamo_table(RUN)
    assert rows[-1][1] == f"graph break ({HOSTILE})"


def test_nothing_is_markup():
    assert "<img src=x" not in dynamo.html(RUN) and "&lt;img" in dynamo.html(RUN)
    assert "<img src=x" not in "".join(stage_script(RUN)["strings"])


def test_widget_steps_through_every_row():
    assert stage_script(RUN)["total"] == len(RUN.steps)


def test_empty_run_says_so():
    model = DynamoRun("t", "", (), "It raised X.")
    assert "No steps" in dynamo.text(model) and "No steps" in dynamo.html(model)
