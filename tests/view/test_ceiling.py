"""Every view has a ceiling: very much stays below a megabyte, and what is left out is said."""

import json
import re
from dataclasses import dataclass

import pytest

from helpers.exhibit import Exhibit
from helpers.model.call_records import Call, CallTree
from helpers.model.code_records import Bytecode, Instruction
from helpers.model.dynamo_records import DynamoRun, DynamoStep
from helpers.model.file_records import File, Files
from helpers.model.graphs import Edge, Graph, Node
from helpers.model.job_records import Blob, JobGraph, JobOp
from helpers.model.question_records import Choice
from helpers.model.side_by_side import Pair, SideBySide
from helpers.model.stack_records import StackRun, StackStep
from helpers.model.stage_records import Panel, Step, Timeline
from helpers.model.tables import Column, Entry, Ledger, Listing, Verdict
from helpers.model.transcripts import Transcript, Transcripts
from helpers.view import charts
from helpers.view.call_view import call_tree
from helpers.view.diagram.graph_view import graph
from helpers.view.diagram.job_view import job
from helpers.view.instruction_tables import bytecode as bytecode_view
from helpers.view.instruction_tables import dynamo, stack
from helpers.view.source_views import files, side_by_side, transcript
from helpers.view.table_view import ledger, table
from helpers.view.widgets.forms import choice
from helpers.view.widgets.stage import stage_script, timeline

MEGABYTE = 1_000_000
ODD = "<script>&[31m\x1b\0\u202e\ud800\x9b"


@dataclass(frozen=True)
class Row:
    name: str
    value: str


def listing(rows, title="t", note=""):
    columns = Column("name", "name", True), Column("value", "value", True)
    return Listing(title, columns, tuple(rows), note)


def many(count=20_000, word="word"):
    return listing(Row(f"n{n}", f"{word} {n}") for n in range(count))


def entries(count=20_000):
    return tuple(Entry(f"call {n}", (Verdict("new", "changed"),), "why " * 9) for n in range(count))


def instruction(n):
    return Instruction(2 * n, "NOP", -1, "", "0900", 0, 1, (1, 0, 1, 1), "x", 0, "+0", target=2 * n)


# Each is made when it is asked for: pytest collects this file in each worker.
LARGE = {
    "table": lambda: (table, many(60_000)),
    "ledger": lambda: (ledger, Ledger("t", "call", ("verdict",), entries())),
    "code": lambda: (bytecode_view, Bytecode("t", many().columns[:0], tuple(
        map(instruction, range(3_000))), source="x = 1\n" * 99_999)),
    "side by side": lambda: (side_by_side, SideBySide("t", "a", "b", tuple(
        Pair(n, "x" * 60, n, "y" * 60) for n in range(1, 20_001)))),
    "transcripts": lambda: (transcript, Transcripts("t", tuple(
        Transcript(f"r{n}", "s", "out" * 9_999, "", 0) for n in range(99)))),
    "arrows": lambda: (graph, Graph("t", tuple(Node(f"n{n}", f"n{n}") for n in range(60)), tuple(
        Edge(f"n{n % 60}", f"n{n * 7 // 5 % 60}", f"label {n}") for n in range(20_000)))),
    "steps": lambda: (timeline, Timeline("t", "x = 1\n" * 300, tuple(
        Step(f"s{n}", 1, (Panel("p", many(200, f"{n}")),)) for n in range(300)))),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_large_model_stays_below_the_ceiling_and_says_what_it_leaves_out(name):
    view, model = LARGE[name]()
    words, markup = view.text(model), view.html(model)
    assert len(words.encode()) < MEGABYTE and len(markup.encode()) < MEGABYTE
    for shown in (words, markup):
        assert re.search(r"left out|more lines|more characters|not drawn", shown)


def state_of(model):
    state = {k: v for k, v in timeline.widget(model).get_state().items() if k[0] != "_"}
    assert json.loads(state["script"]) == json.loads(json.dumps(stage_script(model)))
    return state


@pytest.mark.long
def test_state_of_endless_change_says_which_steps_it_has_not():
    steps = (Step(f"s{n}", 1, (Panel("p", many(90, f"{n * n}")),)) for n in range(200))
    model = Timeline("t", "x", tuple(steps), "It ended.")
    state = state_of(model)
    assert len(json.dumps(state).encode()) < MEGABYTE
    script = json.loads(state["script"])
    kept = script["total"]
    assert re.findall(r"\d+", script["note"]) == [str(kept + 1), "200", "200"]
    assert script["note"].startswith("It ended.")


STEP = {"label": ODD, "line": 1}
ODD_MODELS = [
    (table, listing([Row(ODD, ODD)], ODD, ODD)),
    (ledger, Ledger(ODD, ODD, (ODD,), (Entry(ODD, (Verdict(ODD),), ODD),), ODD)),
    (timeline, Timeline(ODD, ODD, (Step(ODD, 1, (Panel(ODD, ODD),)),), ODD)),
    (stack, StackRun(ODD, ODD, (StackStep(**STEP, stack=(ODD,)),), ODD)),
    (dynamo, DynamoRun(ODD, ODD, (DynamoStep(**STEP, stack=(ODD,), ending=ODD),), ODD)),
    (side_by_side, SideBySide(ODD, ODD, ODD, (Pair(1, ODD, 1, ODD),), ODD)),
    (transcript, Transcripts(ODD, (Transcript(ODD, ODD, ODD, ODD, 0),), ODD)),
    (files, Files(ODD, (File(ODD, ODD),), ODD)),
    (graph, Graph(ODD, (Node("a", ODD, ODD), Node("b", ODD)), (Edge("a", "b", ODD),), ODD)),
    (job, JobGraph(ODD, (JobOp(ODD, ODD, "forward", writes=(("o", Blob(ODD, ODD, ())),)),), ODD)),
    (bytecode_view, Bytecode(ODD, (Column("opname", ODD),), (instruction(0),), ODD, ODD)),
    (choice, Choice(ODD, (ODD, "b"), ODD, ODD)),
    (charts.curve, charts.make_curve(ODD, [1, 2], ODD)),
    (call_tree, CallTree(ODD, (Call(0, ODD, ODD, door=True),), (), ODD, ODD)),
]


@pytest.mark.parametrize(("view", "model"), ODD_MODELS)
def test_odd_letters_are_seen_and_markup_is_words_in_every_form(view, model):
    data, _ = Exhibit(model, view)._repr_mimebundle_()
    for words in (repr(Exhibit(model, view)), data["text/html"], view.text(model)):
        assert not set(words) & set(ODD) - set(ODD[:13]) and "\\x1b" in words
    assert "<script" not in data["text/html"] and "&lt;script&gt;" in data["text/html"]
    json.dumps(data, ensure_ascii=False).encode()
