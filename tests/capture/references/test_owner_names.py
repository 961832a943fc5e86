"""An object goes by the shortest path from what has a name, or by a few words."""

import functools
import sys
import types

import numpy as np
import pytest

from helpers.capture.references.holder_graph import HolderGraph
from helpers.capture.references.owner_names import (
    NOT_FOUND,
    describe_by_type,
    describe_object,
    find_own_name,
    find_path,
    format_class_name,
)
from helpers.capture.references.places import HiddenList

HERE = __name__


class Model:
    def __init__(self, *layers):
        self.layers = list(layers)

    def method(self): ...

    def __call__(self): ...


def operate(*args): ...


def make_wrapper(wrapped):
    @functools.wraps(wrapped)
    def wrapper():
        return wrapped()

    return wrapper


MODEL = Model(0)
TABLE = {"rows": [[7, ["deep"]]]}
BEHIND_CELL = make_wrapper(operate)


def find_path_of(value):
    return find_path(value, HolderGraph(HiddenList([value])))


def test_a_path_leads_from_a_module_to_an_object():
    assert find_path_of(MODEL) == f"{HERE}.MODEL"
    assert find_path_of(MODEL.layers) == f"{HERE}.MODEL.layers"
    assert find_path_of(TABLE["rows"][0][1]) == f"{HERE}.TABLE['rows'][0][1]"


def test_of_several_paths_the_shortest_and_then_the_first_by_alphabet_is_chosen(monkeypatch):
    value = [1]
    module = sys.modules[HERE]
    monkeypatch.setattr(module, "far", [[value]], raising=False)
    assert find_path_of(value) == f"{HERE}.far[0][0]"
    monkeypatch.setattr(module, "near", value, raising=False)
    assert find_path_of(value) == f"{HERE}.near"
    monkeypatch.setattr(operate, "attribute", value, raising=False)
    assert find_path_of(value) == f"{HERE}.near"
    monkeypatch.setattr(Model, "attribute", value, raising=False)
    monkeypatch.delattr(module, "near")
    assert find_path_of(value) == f"{HERE}.Model.attribute"


def test_an_object_with_a_name_of_its_own_needs_no_path():
    for value, name in (
        (operate, f"{HERE}.operate"),
        (Model, f"{HERE}.Model"),
        (types, "types"),
        (list, "list"),
        (sys.modules, "sys.modules"),
        (vars(types), "types"),
    ):
        assert find_path(value, HolderGraph(HiddenList())) == name


def test_an_object_that_no_path_reaches_is_described():
    nested = [1]
    for _ in range(10):
        nested = [nested]
    inner = nested
    while type(inner[0]) is list:
        inner = inner[0]
    assert find_path_of(inner).endswith(NOT_FOUND)


def test_own_names_are_those_of_code_classes_modules_and_named_dicts():
    graph = HolderGraph(HiddenList())
    named = {}
    graph.names_by_id[id(named)] = "app"
    assert find_own_name(named, graph) == "app"
    assert find_own_name({}, graph) is None
    assert find_own_name(BEHIND_CELL, graph) == f"{HERE}.make_wrapper.<locals>.wrapper"
    assert find_own_name(sys._getframe(), graph).startswith(f"{HERE}.test_own_names")
    assert find_own_name(types.ModuleType("unloaded"), graph) is None
    for value in (3, [], MODEL, MODEL.method, len):
        assert find_own_name(value, graph) is None


def test_a_lambda_has_its_place():
    graph = HolderGraph(HiddenList())
    first = lambda: 1  # noqa: E731
    line = first.__code__.co_firstlineno
    name = find_own_name(first, graph)
    assert name.endswith(f"<lambda test_owner_names.py:{line}>")
    assert name.startswith(f"{HERE}.test_a_lambda")


def test_a_class_has_its_module_unless_it_is_built_in():
    assert format_class_name(Model) == f"{HERE}.Model"
    assert format_class_name(list) == "list"
    assert len(format_class_name(type("N" * 1000, (), {}))) < 300


# value -> its description by its type alone
BY_TYPE = [
    ([], f"a list {NOT_FOUND}"),
    (3, f"an int {NOT_FOUND}"),
    (object(), f"an object {NOT_FOUND}"),
    (MODEL, f"an instance of {HERE}.Model"),
]


@pytest.mark.parametrize(("value", "text"), BY_TYPE)
def test_an_object_is_described_by_its_type(value, text):
    assert describe_by_type(value) == text


DESCRIBED = [
    (operate, "the function operate"),
    (len, "the function len"),
    (Model, f"the class {HERE}.Model"),
    (int, "the class int"),
    (types, "the module types"),
    (3, "3"),
    (None, "None"),
    ("text", "'text'"),
    ([], "a list"),
    (MODEL.layers, "a list"),
    (np.add, "the ufunc np.add"),
    (functools.partial(operate), "an instance of functools.partial around the function operate"),
    (functools.partial(len), "an instance of functools.partial"),
    (MODEL, f"an instance of {HERE}.Model"),
]


@pytest.mark.parametrize(("value", "text"), DESCRIBED, ids=[text for _, text in DESCRIBED])
def test_any_object_is_described_in_a_few_words(value, text):
    assert describe_object(value) == text


def test_a_bound_method_is_called_by_its_name():
    text = describe_object(MODEL.method)
    assert text.startswith("the bound method ")
    assert text.endswith("method")
