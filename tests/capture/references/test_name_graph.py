"""Names and objects are boxes, drawn once each and breadth first from the names."""

import functools
import sys

import numpy as np
import pytest

from helpers.capture.references.name_graph import (
    DEEPEST,
    MOST_BOXES,
    ObjectNumbers,
    build_names_graph,
    build_names_graph_of_frame,
)
from helpers.capture.references.object_references import MOST_ITEMS
from helpers.model.graphs import Edge, Graph, Node


def draw(**names):
    return build_names_graph(names, list(names))


def operate(): ...


def test_a_name_leads_to_its_object():
    assert draw(a=5) == Graph(
        "",
        (Node("name a", "a", "name"), Node("object 1", "5", "object", "int")),
        (Edge("name a", "object 1"),),
        "",
    )


def test_a_container_leads_to_its_items():
    item = [1]
    graph = draw(rows=[item, item], table={"k": item})
    assert [(edge.source, edge.target, edge.label) for edge in graph.edges] == [
        ("name rows", "object 1", ""),
        ("name table", "object 2", ""),
        ("object 1", "object 3", "[0]"),
        ("object 1", "object 3", "[1]"),
        ("object 2", "object 3", "['k']"),
        ("object 3", "object 4", "[0]"),
    ]
    kinds = {node.key: node.kind for node in graph.nodes if node.kind != "name"}
    assert kinds == {
        "object 1": "holder",
        "object 2": "holder",
        "object 3": "holder",
        "object 4": "object",
    }


def test_a_function_is_a_function_and_a_tensor_has_its_type_below():
    array = np.arange(3)
    graph = draw(f=operate, a=array)
    function, tensor = (node for node in graph.nodes if node.kind != "name")
    assert (function.kind, function.label) == ("function", "operate()")
    assert tensor.kind == "object"
    assert tensor.detail == "ndarray"


def test_an_object_of_a_library_has_its_type_and_another_its_detail():
    graph = draw(own=[1, 2])
    assert graph.nodes[1].detail == "2 items"


def test_a_name_is_drawn_once():
    graph = build_names_graph({"a": 1, "b": 2}, ["a", "a"], title="t")
    assert [node.key for node in graph.nodes] == ["name a", "object 1"]
    assert graph.title == "t"


def test_contents_are_drawn_only_of_what_is_followed():
    asked = []

    def follow(value):
        asked.append(value)
        return False

    graph = build_names_graph({"a": [1]}, ["a"], follow=follow)
    assert asked == [[1]]
    assert [node.kind for node in graph.nodes] == ["name", "object"]


@pytest.mark.parametrize("depth", [DEEPEST - 1, DEEPEST, DEEPEST + 1])
def test_what_is_far_from_a_name_is_not_drawn_and_a_note_says_so(depth):
    nested = ()
    for _ in range(depth):
        nested = [nested]
    graph = draw(a=nested)
    assert len(graph.nodes) == 1 + min(depth, DEEPEST) + 1
    assert bool(graph.note) is (depth > DEEPEST)


@pytest.mark.parametrize("extra", [0, 2])
def test_of_many_items_the_first_are_drawn_and_the_rest_is_counted(extra):
    graph = draw(a=list(range(MOST_ITEMS + extra)))
    assert len(graph.edges) == 1 + MOST_ITEMS
    assert (f"{extra} more" in graph.note) is bool(extra)
    assert bool(graph.note) is bool(extra)


def test_the_number_of_boxes_has_a_limit():
    names = {f"n{number}": object() for number in range(MOST_BOXES)}
    graph = draw(**names)
    assert len(graph.nodes) == MOST_BOXES
    assert str(MOST_BOXES) in graph.note
    few = {name: names[name] for name in list(names)[: MOST_BOXES // 2 - 1]}
    assert draw(**few).note == ""


def test_numbers_stay_from_one_moment_to_the_next_and_no_longer():
    numbers = ObjectNumbers()
    one, two = [1], [2]
    numbers.begin_moment()
    assert (numbers.number(one), numbers.number(two), numbers.number(one)) == (1, 2, 1)
    numbers.begin_moment()
    assert numbers.number(two) == 2
    numbers.begin_moment()
    assert numbers.number(two) == 2
    assert numbers.number(one) == 3


def test_an_object_of_another_type_with_the_same_id_has_another_number(monkeypatch):
    numbers = ObjectNumbers()
    value = [1]
    numbers._previous = {id(value): (dict, 7)}
    assert numbers.number(value) == 1


def test_pictures_of_one_run_share_their_numbers():
    numbers = ObjectNumbers()
    value = [1]
    keys = set()
    for _ in range(3):
        numbers.begin_moment()
        graph = build_names_graph({"a": value}, ["a"], numbers=numbers)
        keys.update(graph.targets("name a"))
    assert keys == {"object 1"}


def test_names_are_text_and_there(refused):
    refused(TypeError, "not 3", build_names_graph, {}, [3])
    refused(NameError, "'b'.*make it", build_names_graph, {"a": 1}, ["a", "b"], cure="make it")


kept = [1]
hidden = 1


def test_a_frame_has_its_variables_before_its_globals(refused):
    hidden = "local"
    frame = sys._getframe()
    graph = build_names_graph_of_frame(frame, ["hidden", "kept"])
    assert graph.node(graph.targets("name hidden")[0]).label == repr(hidden)
    assert graph.targets("name kept")
    refused(NameError, "make it first", build_names_graph_of_frame, frame, ["nowhere"])
    refused(TypeError, "names to draw", build_names_graph_of_frame, frame, [])


def test_a_partial_leads_to_its_function():
    graph = draw(p=functools.partial(operate))
    assert graph.edges[1].label == "func"
