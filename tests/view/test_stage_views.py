"""Steps of a run: each stands alone in text and HTML, and a stage plays them all."""

import json
import linecache
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import watch_stack
from helpers.capture.cpython.bytecode import code_tree
from helpers.capture.cpython.disassembly import MOST_NAMED
from helpers.capture.cpython.stack_run import stack_run
from helpers.model.graph import Edge, Graph, Node
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column, Listing
from helpers.model.stage import Value
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view import ink, instruction_tables, panels
from helpers.view.instruction_tables import stack as stack_view
from helpers.view.instruction_tables import stack_table
from helpers.view.widgets import stage, stage_parts
from helpers.view.widgets.code_view import code as code_view
from helpers.view.widgets.stage import timeline as view
from helpers.view.widgets.stage_parts import MOST_ROWS
from tests.capture.stack_programs import loops, recursion
from tests.view.page_script import played, whole

# -- timeline --------------------------------------------------------------------------------------


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


def panels_of(script):
    """Return every panel's HTML, put together as the page does it."""
    return [whole(told, script["strings"], script["groups"]) for told in script["panels"]]


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


def test_html_opens_the_first_step_and_marks_its_line_in_bold():
    markup = view.html(timeline(Step("begin", 2, ()), Step("end", 3, ())))
    assert markup.count("<details") == 2 and markup.count("<details open") == 1
    assert re.findall(r"<b>(.+?)</b>", markup) == ["▶   2  if x:", "▶   3      y = 2"]
    assert "<script" not in markup and "<style" not in markup and " id=" not in markup


def test_timeline_without_steps_says_so_in_every_form():
    model = timeline(note="It never began.")
    for words in (view.text(model), view.html(model), stage.stage_script(model)["note"]):
        assert panels.NO_STEPS in words and "It never began." in words


def test_each_kind_of_panel_is_drawn_by_its_own_view():
    graph = Graph("who", (Node("a", "a"), Node("f", "f")), (Edge("a", "f", "holds"),))
    scores = Ledger("reach", "route", ("verdict",), (Entry("alias", (Verdict("old"),)),))
    drawn = {"<table": listing(("x", "1")), "<img src=": graph, '<th scope="row"': scores}
    for sign, content in drawn.items():
        assert sign in view.html(one_step(content))
        if content is not graph:  # which the stage draws as one picture of all steps
            assert sign in panels_of(stage.stage_script(one_step(content)))[0]
    assert "<svg" in stage.stage_script(one_step(graph))["picture"]["svg"]


# -- stage -----------------------------------------------------------------------------------------


HERE = Path(stage.__file__).parent


def a_run(*steps, source="x = 1\nif x:\n    y = 2\n"):
    return Timeline("A run", source, steps)


def fibonacci(n):
    if n < 2:
        return n
    one, other = fibonacci(n - 1), fibonacci(n - 2)
    return one + other


def values(*words):
    return Listing("locals", (Column("words", "value"),), tuple(Value(w) for w in words))


def words(script, steps, field):
    return [script["words"][step[field]] for step in steps]


def test_tracks_play_back_every_step():
    steps = [
        {"line": 1, "stack": [1, 2], "span": None},
        {"line": 1, "stack": [1, 2, 3], "span": [1, 0, 1, 2]},
        {"line": 2, "stack": [1, 3], "span": [1, 0, 1, 2]},
        {"line": 0, "stack": [], "span": None},
        {"line": 0},
        {"stack": [1, 3], "line": 7},
    ]
    tracks = stage_parts.tracks_of(steps)
    whole = [{"line": None, "stack": None, "span": None} | step for step in steps]
    assert played(tracks, len(steps)) == whole
    assert tracks["line"] == [0, 1, 2, 2, 1, 0, 2, 7]
    assert tracks["stack"][:6] == [0, [0, 1, 2], 1, [2, 3], 1, [1, 3]]


@pytest.mark.parametrize("program", [loops, recursion])
def test_stage_plays_the_stack_and_the_names_of_every_step(program):
    model = stack_run(program, 4)
    script = json.loads(stage.stage_widget(model).script)
    steps = played(script["tracks"], script["total"])
    assert len(steps) == len(model.steps)
    told = [script["words"][value[0]] for value in script["values"]]
    for step, shown in zip(model.steps, steps, strict=True):
        if step.left_out:
            assert shown["stack"] is None
            continue
        assert [told[n] for n in shown["stack"]] == list(step.stack)
        code = script["codes"][shown["code"]]
        pairs = zip(code["names"], shown["locals"], strict=True)
        bound = {name: told[n] for name, n in pairs if n >= 0}
        assert bound == dict(step.names)
        assert [row[1] for row in code["rows"] if row[0] == shown["offset"]] == [step.opname]
    assert words(script, steps, "says") == [step.says for step in model.steps]


def test_thousand_steps_take_less_than_300_kb():
    model = stack_run(fibonacci, 9)
    steps = model.steps[:1000]
    assert len(steps) == 1000
    model = type(model)(model.title, model.source, steps, codes=model.codes)
    told = json.dumps(stage.stage_widget(model).get_state()["script"]).encode()
    assert len(told) < 300_000


def test_output_is_stored_once_and_told_by_its_length():
    steps = [Step("s", 1, (Panel("printed", "a\U0001f600\n" * n),)) for n in range(4)]
    script = stage.stage_script(a_run(*steps))
    assert script["printed"] == "a\U0001f600\n" * 3 and script["panels"] == []
    shown = [step["printed"] for step in played(script["tracks"], 4)]
    assert shown == [0, 4, 8, 12]  # as a page counts letters: two for one beyond U+FFFF


def test_place_in_the_source_is_counted_as_the_page_shows_it():
    source = "\ta = '\U0001f600' + b"
    step = Step("s", 1, span=(1, 11, 1, 12))
    script = stage.stage_script(a_run(step, source=source))
    (shown,) = played(script["tracks"], 1)
    line, start, _, end = shown["span"]
    text = script["lines"][line - 1].encode("utf-16-le")
    assert text[2 * start : 2 * end].decode("utf-16-le") == "b"


def test_equal_panels_are_stored_and_drawn_once(monkeypatch):
    drawn = []
    draw = stage_parts.panel_html
    monkeypatch.setattr(stage_parts, "panel_html", lambda panel: drawn.append(1) or draw(panel))
    steps = [Step(f"step {n}", 1, (Panel("locals", values(str(n % 3))),)) for n in range(999)]
    script = stage.stage_script(a_run(*steps))
    assert len(script["panels"]) == len(drawn) == 3
    shown = [step["panels"][0][1] for step in played(script["tracks"], 4)]
    assert shown == [0, 1, 2, 0]


@pytest.mark.parametrize("script", sorted(HERE.glob("*.js")), ids=lambda path: path.name)
def test_scripts_are_small_and_local(script):
    text = script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert len(text) < 20_000
    assert "http" not in text and not re.search(r"^import |import\(", text, re.M)


def test_no_two_scripts_of_the_stage_use_one_name():
    made = stage.stage_widget(a_run())
    names = re.findall(r"^(?:function|const|let) (\w+)", str(made._esm), re.M)
    assert len(names) > 40 and len(names) == len(set(names))


# -- stack -----------------------------------------------------------------------------------------


def evil(x="<img src=x onerror=alert(1)></script>"):
    for _ in x:
        return [x, "<b>", "<img src=x>"]


def cells(markup):
    return [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", markup)]


def test_inner_code_lists_the_fields_that_differ_from_the_first():
    def outer(n):
        return lambda: n

    tree = code_tree(outer)
    first, inner = code_view.text(tree).split("\n\nCode object ")[1:]
    assert "what it is" in first and "what it is" not in inner
    listed = {line.split()[0] for line in inner.splitlines() if line.startswith("co_")}
    fields = {row.name: (row.value, row.used) for row in tree.fields.rows}
    other = {row.name: (row.value, row.used) for row in tree.nested[0].fields.rows}
    assert listed == {name for name in other if other[name] != fields[name]} > {"co_name"}
    assert "The other fields read as in" in inner


def test_stack_table_says_in_html_what_it_says_in_text():
    ran = stack_run(evil, "ab")
    headings, rows = stack_table(ran)
    words = stack_view.text(ran)
    shown = cells(stack_view.html(ran))
    assert len(shown) == len(rows) * len(headings)
    for row in rows:
        assert all(word in words for cell in row for word in cell.split())


def test_what_a_row_repeats_is_pale_and_the_page_says_so():
    markup = instruction_tables.steps_html(
        Timeline("t", "x = 1", ()), ["a", "b"], [["1", ""], ["1", ""], ["2", "3"], ["4", "3"]]
    )
    pale = [cell for cell in markup.split("<td")[1:] if f"color:{ink.PALE}" in cell[:400]]
    told = [cell.partition(">")[2][0] for cell in pale]
    assert told == ["1", "3"] and instruction_tables.SAME in markup
    assert instruction_tables.SAME not in instruction_tables.steps_html(
        Timeline("t", "x", ()), ["a"], [["1"], ["2"]]
    )


# -- long functions --------------------------------------------------------------------------------


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
    script = stage.stage_script(model)
    assert f"Of the {len(code.rows):,} instructions of many those near a step" in script["note"]
    assert len(stage._told(script)) <= stage.STATE_ROOM
