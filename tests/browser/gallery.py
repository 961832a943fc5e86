"""Nothing -> a notebook with one exhibit of every kind, hostile strings in all of them."""

import nbformat

HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\">",
    "</script><script>document.title='owned'</script>",
    "</pre></td></table><h1>out</h1>",
    "&amp; \" ' ` {{ 7 * 7 }} \u202e\x00",
)
STAGE, PREDICTION = "A loop, step by step", "What does `2 + 2` give?"

_SETUP = f"""
from dataclasses import dataclass
from helpers.exhibit import Exhibit
from helpers.model.graphs import Edge, Graph, Node
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.model.tables import Column, Listing
from helpers.model.stage_records import Panel, Step, Timeline
from helpers.study.predict import predict
from helpers.view.table_view import ledger, table
from helpers.view.widgets.stage import timeline
from helpers.view.diagram.graph_view import graph

HOSTILE = {HOSTILE!r}

@dataclass(frozen=True)
class Row:
    name: str
    value: str

def listing(title, *pairs):
    columns = Column("name", "name", True), Column("value", "value", True)
    return Listing(title, columns, tuple(Row(*pair) for pair in pairs))
"""

_TABLE = """
hostile = [(f"h{i}", s) for i, s in enumerate(HOSTILE)]
Exhibit(listing("Names and values", ("x", "1"), *hostile), table)
"""

_LEDGER = """
tones = "plain", "changed", "failed", "plain"
entries = [Entry(s, (Verdict(s[:9], t),), s) for s, t in zip(HOSTILE, tones)]
entries += [Entry("attribute", (Verdict("new", "changed"),)), Entry("closure", (Verdict("old"),))]
Exhibit(Ledger("Where it reaches", "route", ("verdict",), tuple(entries), HOSTILE[0]), ledger)
"""

_DIAGRAM = """
nodes = [Node("a", "a", "name"), Node("b", "b", "name"), Node("f", "f()", "function")]
nodes += [Node(s, s) for s in HOSTILE]
edges = [Edge("a", "f", "holds"), Edge("b", "f", "holds")] + [Edge("f", s, s) for s in HOSTILE]
picture = Graph("Two names, one function", tuple(nodes), tuple(edges))
Exhibit(picture, graph)
"""

_STAGE = f"""
source = "def total(items):\\n    out = 0\\n    for item in items:\\n        out += item\\n"
source += "    return out\\n"
small = Graph("who holds it", picture.nodes[:2], (Edge("a", "b", "then"),))

def step(line, label, printed, *pairs):
    locals_ = Panel("locals", listing("locals", *pairs))
    return Step(label, line, (locals_, Panel("printed", printed), Panel("holders", small)))

steps = [step(2, "enter total", "", ("items", "[1, 2]"))]
for i in range(1, 4):
    pairs = [("items", "[1, 2]"), ("out", str(i)), ("item", str(i))]
    steps += [step(3, f"pass {{i}} of the loop", "x" * 30 * i, *pairs)]
steps += [step(5, HOSTILE[0], HOSTILE[1], *((s, s) for s in HOSTILE))]
loop = Timeline({STAGE!r}, source, tuple(steps), "Two calls are left out.")
Exhibit(loop, timeline)
"""

_PREDICT = f"""
predict({PREDICTION!r}, ["3", "4", "22", HOSTILE[0]], run=lambda: 2 + 2,
        why={{"4": "Both are numbers, so `+` adds. " + HOSTILE[1]}})
"""

_TRANSCRIPTS = """
from helpers.model.transcripts import Transcript, Transcripts
from helpers.verbs.switches import Switches
from helpers.view.source_views import transcript

runs = [Transcript(f"{i}: {s}", s, s, s, -11 * (i % 2)) for i, s in enumerate(HOSTILE)]
Exhibit(Transcripts("Two children", tuple(runs[:2]), HOSTILE[0]), transcript)
"""

_SWITCHES = """
again = lambda label, source: Transcript(label, source, "42 " + HOSTILE[1], HOSTILE[0], 0)
Switches(Transcripts("Switches, to be tried again", tuple(runs), HOSTILE[2]), again)
"""

_CALLS = """
from helpers.model.call_records import Call, CallTree
from helpers.view.call_view import call_tree
calls = [Call(n, s, s, c=n % 2 == 1, door=n == 2) for n, s in enumerate(HOSTILE)]
Exhibit(CallTree("Calls", tuple(calls), (), HOSTILE[1], HOSTILE[2]), call_tree)
"""

CELLS = (_SETUP, _TABLE, _LEDGER, _DIAGRAM, _STAGE, _PREDICT, _TRANSCRIPTS, _SWITCHES, _CALLS)


def build() -> nbformat.NotebookNode:
    """Return the gallery as a notebook that was never run."""
    notebook = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        }
    )
    for number, source in enumerate(CELLS):
        cell = nbformat.v4.new_code_cell(source.strip())
        cell["id"] = f"gallery-{number}"
        notebook.cells.append(cell)
    return notebook
