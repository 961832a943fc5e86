"""One example of each view of helpers/view -> its page, and a document with all of them."""

import nbformat
from nbconvert import HTMLExporter

import helpers
from helpers.capture.cpython.evaluators import build_evaluator_graph
from helpers.capture.cpython.stack_run import record_stack_run
from helpers.capture.tensorflow.graph_steps import list_steps
from helpers.model.dynamo_records import DynamoRun, DynamoStep
from helpers.model.file_records import File, Files
from helpers.model.graphs import Edge, Graph, Node, join_graphs
from helpers.model.question_records import Beside, Choice, Outcome
from helpers.model.study_records import build_progress
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.model.transcripts import Transcripts
from helpers.study.words import show_word
from helpers.view.call_view import call_tree
from helpers.view.charts import curve, make_curve
from helpers.view.diagram.graph_view import figures, graph, graph_diff
from helpers.view.diagram.job_view import job
from helpers.view.instruction_tables import code, dynamo, stack
from helpers.view.progress_view import outcome
from helpers.view.progress_view import progress as learner_progress
from helpers.view.source_views import files, side_by_side, transcript
from helpers.view.spine_view import journey
from helpers.view.table_view import dots, lanes, ledger
from helpers.view.table_view import table as tables
from helpers.view.widgets.forms import choice, sandbox
from helpers.view.widgets.routes_view import routes
from helpers.view.widgets.stage import timeline
from tests.browser import stage_programs
from tests.model.test_bodies import branched
from tests.view import test_call_tree, test_journey, test_learner_progress, test_sandbox
from tests.view.test_graph_diff import diff
from tests.view.test_job import small
from tests.view.test_routes import route_map
from tests.view.test_table_views import DIED, LIVED, pair_up

THEMES = ("light", "dark")
TONES = ("plain", "changed", "failed", "refused")


def _graph(depth=5, words="a longer name of an op") -> Graph:
    kinds = ("input", "forward", "backward", "update", "constant")
    nodes = tuple(Node(str(n), f"{n} {words}", kinds[n % 5], "float32[2]") for n in range(depth))
    edges = tuple(Edge(str(n), str(n + 1), "out_0") for n in range(depth - 1))
    return Graph("A chain of ops", nodes, (*edges, Edge("0", str(depth - 1), "read again")))


def _wide() -> Graph:
    leaves = tuple(Node(f"leaf {n}", f"name number {n}", "name") for n in range(9))
    nodes = (Node("f", "function f", "function"), *leaves)
    edges = tuple(Edge(leaf.key, "f", "is bound to") for leaf in leaves)
    return Graph("Nine names of one function", nodes, edges)


def _ledger() -> Ledger:
    words = ("right", "right, recorded again", "wrong", "refused: AssertionError")
    entries = tuple(
        Entry(f"program {n}", tuple(map(Verdict, words[n:] + words[:n], TONES[n:] + TONES[:n])))
        for n in range(4)
    )
    return Ledger("Who is right", "program", ("Python", "tf.function", "Dynamo", "fx"), entries)


def _jumps(items):
    total = 0
    for item in items:
        while total > 10:
            total -= 10
        if item:
            total += item
    return total


def _dynamo() -> DynamoRun:
    made = DynamoStep("LOAD_FAST x", 2), DynamoStep("CALL sin", 2, stack=("x",), made=("sin = …",))
    return DynamoRun("Dynamo at work", "def f(x):\n    return sin(x)\n", made)


def _failed() -> Outcome:
    beside = Beside("for 3:", "[0, 1, 2]", "[0, 1, 4]", "Python")
    return Outcome("squares", "failed", "for 3: [0, 1, 2], but Python gives [0, 1, 4]", "", beside)


def page_of(exhibit) -> str:
    """Return the HTML form of an exhibit."""
    bundle = exhibit._repr_mimebundle_()
    return (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]


# view -> pages made by it
EXHIBITS = {
    "bars": lambda: page_of(helpers.plot_ratios("Time", {"a graph": 0.2, "a wrapper": 30.0})),
    "bytecode": lambda: page_of(helpers.show_bytecode(_jumps)),
    "call_tree": lambda: call_tree.html(test_call_tree.MODEL),
    "choice": lambda: choice.html(Choice("What does `2 + 2` give?", ("3", "4"), "4", "It adds.")),
    "code": lambda: code.html(helpers.show_code(_jumps).model),
    "curve": lambda: curve.html(make_curve("The loss", [9.0 / n for n in range(1, 200)])),
    "dots": lambda: dots.html(route_map()),
    "dynamo": lambda: dynamo.html(_dynamo()),
    "figures": lambda: figures.html(join_graphs("Two runs", {"one": _graph(4), "two": _graph(6)})),
    "figures: beside each other": lambda: figures.html(
        join_graphs("Two wide runs", {"one": _graph(9, "x" * 40), "two": _graph(9, "y" * 40)})
    ),
    "figures: alone": lambda: figures.html(join_graphs("One wide run", {"one": _wide()})),
    "files": lambda: files.html(
        Files("A project", (File("a_def.py", "def f(x):\n    return 'a', 1  # why"),))
    ),
    "graph": lambda: graph.html(build_evaluator_graph(_jumps)),
    "graph: branches": lambda: graph.html(branched()),
    "graph: deep": lambda: graph.html(_graph(14)),
    "graph: wide": lambda: graph.html(_wide()),
    "graph_diff": lambda: graph_diff.html(diff()),
    "interceptions": lambda: page_of(helpers.show_interceptions()),
    "job": lambda: job.html(small()),
    "journey": lambda: journey.html(test_journey.MODEL),
    "journey: three ways": lambda: journey.html(test_journey.by_three_ways()),
    "lanes": lambda: lanes.html(list_steps(_graph(6, "op"))),
    "learner_progress": lambda: learner_progress.html(
        build_progress(test_learner_progress.CHAPTERS, test_learner_progress.EVENTS)
    ),
    "ledger": lambda: ledger.html(_ledger()),
    "outcome": lambda: outcome.html(_failed()),
    "routes": lambda: routes.html(route_map()),
    "sandbox": lambda: sandbox.html(test_sandbox.MODEL),
    "side_by_side": lambda: side_by_side.html(
        pair_up(["if a:", "    b", "    c"], ["made", "B", "B again", "C"], {2: 2, 3: 2, 4: 3})
    ),
    "stack": lambda: stack.html(record_stack_run(stage_programs.loop, 3)),
    "table": lambda: tables.html(helpers.show_table("T", *[{"a": "x" * 90, "b": "y"}] * 3).model),
    "timeline": lambda: timeline.html(stage_programs.record_names(stage_programs.loop, 2)),
    "words": lambda: page_of(show_word()),
    "transcript": lambda: transcript.html(Transcripts("Two runs", (LIVED, DIED), "a note")),
}


def document(theme: str, pages: dict[str, str]) -> str:
    """Return an HTML document with each page in an output of its own, as nbconvert exports it."""
    notebook = nbformat.v4.new_notebook()
    for name, page in pages.items():
        data = {"text/html": page, "text/plain": name}
        output = nbformat.v4.new_output("display_data", data)
        notebook.cells.append(nbformat.v4.new_code_cell("", outputs=[output]))
    exporter = HTMLExporter(template_name="lab", theme=theme)
    exporter.exclude_input = True
    return exporter.from_notebook_node(notebook)[0]


def pages() -> dict[str, str]:
    """Return every example's page by its name."""
    return {name: make() for name, make in EXHIBITS.items()}
