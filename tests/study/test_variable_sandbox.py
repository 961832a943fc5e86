"""The what-if says whether a guess was right, and why, and draws the graph."""

import itertools

import pytest

from helpers import variable_sandbox
from helpers.study.chapter_6 import variable_sandbox as programs

pytest.importorskip("tensorflow")
LOOSE = {"variable": "ResourceVariable", "the update waits for the read": "no"}


def test_a_guess_is_told_right_or_wrong_with_the_reason():
    sandbox = variable_sandbox()
    assert sandbox.run("11") == (
        "you said 11, and it is 11. AssignAdd runs before seen: a way in the graph leads there. "
        "1 of 1 foretold."
    )
    assert "it is 10. Read/ReadVariableOp runs before" in sandbox.run(
        "11", variable=LOOSE["variable"]
    )
    assert "nothing orders them. 2 of 3 foretold." in sandbox.run(programs.EITHER, **LOOSE)


def test_the_widget_asks_and_the_answer_holds_counts_and_graph():
    sandbox = variable_sandbox()
    before = repr(sandbox)
    data, _ = sandbox._repr_mimebundle_()
    assert repr(sandbox) == before == data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data
    answer = sandbox._pressed(sandbox.model.start(), "10")
    assert not answer["right"] and "200 runs: 11 ×200." in answer["says"]
    assert "The program with a RefVariable" in answer["rows"]
    graph = programs.program_picture(programs.SANDBOX.picked(**LOOSE))
    assert graph.found == ("Read/ReadVariableOp", "AssignAddVariableOp")


def choices():
    """Yield every choice of the sandbox that matters."""
    for picked in itertools.product(*(c.options for c in programs.SANDBOX.controls)):
        named = dict(zip(programs.SANDBOX.start(), picked, strict=True))
        if named["read"] != programs.READS[2] or picked[2] == "yes":
            yield named


def test_what_the_graph_makes_certain_is_seen_in_every_run():
    certain = races = 0
    for picked in choices():
        must, seen = programs.verdict(programs.program_picture(picked)), programs.seen(picked, 60)
        assert set(seen) <= {"10", "11"} and sum(seen.values()) == 60
        if must == programs.EITHER:
            races += 1
        else:
            certain += 1
            assert set(seen) == {must}, (picked, must, seen)
    assert (certain, races) == (10, 10)


def test_the_picture_has_only_the_program():
    graph = programs.program_picture(programs.SANDBOX.start())
    assert graph.found == ("seen", "AssignAdd")
    assert not [n.key for n in graph.nodes if "initial" in n.key or n.key == "v/Assign"]
    assert graph == programs.program_picture(programs.SANDBOX.start())


def test_the_code_says_what_is_picked():
    assert programs.program_code(programs.SANDBOX.start()) == (
        "before = v.read_value()\n"
        "with control_dependencies([before]): update = v.assign_add(1)\n"
        "with control_dependencies([update]): seen = before + 10"
    )
    loose = programs.SANDBOX.picked(
        read=programs.READS[2], **{"the use waits for the update": "no"}
    )
    assert programs.program_code(loose) == "update = v.assign_add(1)\nseen = v + 10"
