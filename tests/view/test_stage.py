"""helpers/view/widgets/stage.py: what the page plays is what the steps hold, stored once."""

import json
import re
from pathlib import Path

import pytest

from helpers.capture.cpython.stack_run import stack_run
from helpers.model.listing import Column, Listing
from helpers.model.stage import Value
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view.widgets import stage, stage_parts
from tests.capture.stack_programs import loops, recursion
from tests.view.page_script import played

HERE = Path(stage.__file__).parent


def timeline(*steps, source="x = 1\nif x:\n    y = 2\n"):
    return Timeline("A run", source, steps)


def fibonacci(n):
    if n < 2:
        return n
    one, other = fibonacci(n - 1), fibonacci(n - 2)
    return one + other


def listing(*words):
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
    script = stage.stage_script(timeline(*steps))
    assert script["printed"] == "a\U0001f600\n" * 3 and script["panels"] == []
    shown = [step["printed"] for step in played(script["tracks"], 4)]
    assert shown == [0, 4, 8, 12]  # as a page counts letters: two for one beyond U+FFFF


def test_place_in_the_source_is_counted_as_the_page_shows_it():
    source = "\ta = '\U0001f600' + b"
    step = Step("s", 1, span=(1, 11, 1, 12))
    script = stage.stage_script(timeline(step, source=source))
    (shown,) = played(script["tracks"], 1)
    line, start, _, end = shown["span"]
    text = script["lines"][line - 1].encode("utf-16-le")
    assert text[2 * start : 2 * end].decode("utf-16-le") == "b"


def test_equal_panels_are_stored_and_drawn_once(monkeypatch):
    drawn = []
    draw = stage_parts.panel_html
    monkeypatch.setattr(stage_parts, "panel_html", lambda panel: drawn.append(1) or draw(panel))
    steps = [Step(f"step {n}", 1, (Panel("locals", listing(str(n % 3))),)) for n in range(999)]
    script = stage.stage_script(timeline(*steps))
    assert len(script["panels"]) == len(drawn) == 3
    shown = [step["panels"][0][1] for step in played(script["tracks"], 4)]
    assert shown == [0, 1, 2, 0]


def test_panels_that_are_equal_but_read_differently_are_kept_apart():
    steps = [Step("s", 1, (Panel("locals", listing(value)),)) for value in (1, True)]
    assert len(stage.stage_script(timeline(*steps))["panels"]) == 2


@pytest.mark.parametrize("script", sorted(HERE.glob("*.js")), ids=lambda path: path.name)
def test_scripts_are_small_and_local(script):
    text = script.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert len(text) < 20_000
    assert "http" not in text and not re.search(r"^import |import\(", text, re.M)


def test_no_two_scripts_of_the_stage_use_one_name():
    made = stage.stage_widget(timeline())
    names = re.findall(r"^(?:function|const|let) (\w+)", str(made._esm), re.M)
    assert len(names) > 40 and len(names) == len(set(names))
