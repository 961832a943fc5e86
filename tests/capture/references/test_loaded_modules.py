"""Dicts of modules and of singledispatch functions have names, by their ids."""

import functools
import sys
import types
from gc import get_referents

import numpy as np

from helpers.capture.references.loaded_modules import (
    find_module_names,
    find_singledispatch_functions,
    find_singledispatch_names,
    format_module_name,
    read_module_name,
)


@functools.singledispatch
def describe(value):
    return "any"


@describe.register
def _(value: int):
    return "a number"


def test_every_loaded_module_gives_its_dict_a_name():
    names = find_module_names()
    for name in ("numpy", "sys", "functools", "builtins", __name__):
        assert names[id(vars(sys.modules[name]))] == name


def test_a_module_under_several_names_has_its_own_name_or_the_first_by_alphabet(monkeypatch):
    own = types.ModuleType("made_m")
    unnamed = types.ModuleType("made_of_no_entry")
    for alias in ("made_z", "made_m", "made_a"):
        monkeypatch.setitem(sys.modules, alias, own)
    for alias in ("made_y", "made_b"):
        monkeypatch.setitem(sys.modules, alias, unnamed)
    names = find_module_names()
    assert names[id(vars(own))] == "made_m"
    assert names[id(vars(unnamed))] == "made_b"


def test_what_is_no_module_or_has_no_text_as_name_is_passed_over(monkeypatch):
    named = types.ModuleType("made_last")
    monkeypatch.setitem(sys.modules, "made_blocked", None)
    monkeypatch.setitem(sys.modules, "made_mock", types.SimpleNamespace(__name__="made_mock"))
    monkeypatch.setitem(sys.modules, "made_last", named)
    monkeypatch.setitem(sys.modules, 3, named)
    names = find_module_names()
    assert names[id(vars(named))] == "made_last"
    assert not {"made_blocked", "made_mock"} & set(names.values())


def test_a_lazy_module_is_not_loaded(monkeypatch):
    class Lazy(types.ModuleType):
        def __getattribute__(self, name):
            raise AssertionError(f"{name} was read")

    lazy = Lazy("made_lazy")
    monkeypatch.setitem(sys.modules, "made_lazy", lazy)
    assert "made_lazy" in find_module_names().values()


def test_functions_of_singledispatch_are_found_and_no_others():
    functions = find_singledispatch_functions()
    assert any(function is describe for function in functions)
    assert not any(function is functools.wraps for function in functions)
    assert not any(function is functools.singledispatch for function in functions)
    assert all(hasattr(function, "registry") for function in functions)


def test_the_registry_and_the_cache_of_a_singledispatch_function_have_names():
    assert describe(3) == "a number"
    names = find_singledispatch_names()
    (registry,) = get_referents(describe.registry)
    assert registry[int](3) == "a number"
    assert names[id(registry)] == f"{__name__}.describe.registry"
    cache_ids = [
        key for key, name in names.items() if name == f"{__name__}.describe.dispatch_cache"
    ]
    assert len(cache_ids) == 1
    assert cache_ids[0] != id(registry)


def test_a_module_is_called_by_its_dict_and_a_question_mark_stands_for_no_text():
    assert read_module_name(vars(np)) == "numpy"
    assert read_module_name({}) == "?"
    assert read_module_name({"__name__": 3}) == "?"
    assert format_module_name(None) == "?"
    assert len(format_module_name("a" * 1000)) < 1000
