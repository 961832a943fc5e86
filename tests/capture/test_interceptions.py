"""Whoever stands in a way is named; afterwards nobody is."""

import builtins
import collections.abc
import colorsys
import json
import sys
import threading

import pytest

from helpers import rebind_everywhere, show_interceptions
from helpers.capture.frameworks.call_interceptions import AROUND
from helpers.capture.references.holder_search import patched_names
from helpers.model.spine import SPINE
from helpers.view.spine_view import interceptions


def mine(*args, **kwargs):
    """Stand in for somebody else's function."""


def taken():
    return show_interceptions().model.taken


@pytest.fixture(autouse=True)
def before():
    return taken()


def test_hooks_and_tracers_are_named_for_this_thread_and_for_new_ones(monkeypatch, before):
    tracers = sys.gettrace(), sys.getprofile()
    for name in ("breakpointhook", "unraisablehook", "displayhook", "excepthook"):
        monkeypatch.setattr(sys, name, mine)
    for owner in (sys, threading):
        owner.settrace(mine), owner.setprofile(mine)
    try:
        found = taken()
    finally:
        sys.settrace(tracers[0]), sys.setprofile(tracers[1])
        threading.settrace(None), threading.setprofile(None)
    named = {way for way, who in found.items() if who == "mine"}
    assert {"sys.settrace", "sys.setprofile", "sys.displayhook", "sys.excepthook"} < named
    assert {"threading.settrace", "threading.setprofile", "sys.unraisablehook"} < named
    monkeypatch.undo()
    assert taken() == before


def test_a_finder_and_a_builtin_are_named(monkeypatch, before):
    class Finder:
        def find_spec(self, *given):
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    monkeypatch.setattr(builtins, "print", mine)
    found = taken()
    assert "Finder" in found["import finders"] and found["builtins"] == "mine for print"


class Stands:
    """Replaces a method, as a descriptor does."""


def test_a_method_of_a_library_that_leads_to_the_learners_code_is_named(monkeypatch):
    monkeypatch.setattr(collections.abc.Mapping, "zap", mine, raising=False)  # of a metaclass
    monkeypatch.setattr(json.JSONDecoder, "decode", Stands())
    found = patched_names(9)
    assert "collections.abc.Mapping.zap: mine (made at test_interceptions.py" in found
    assert "json.decoder.JSONDecoder.decode: an instance of Stands" in found


def test_the_column_of_source_files_contains_files():
    sources = [row.source for row in show_interceptions().model.rows if row.station == "name"]
    assert sources == ["Python/ceval.c", "Python/ceval.c", "importlib/_bootstrap.py"]


def test_a_name_of_a_library_that_leads_to_the_learners_code_is_named(before):
    source = "def install():\n def stand_in(): pass\n return stand_in"
    for file, words in {"<stdin>": "", "/own/x.py": " (made at x.py:2, in install)"}.items():
        space = {"__name__": "__main__"}
        exec(compile(source, file, "exec"), space)
        with rebind_everywhere(colorsys.rgb_to_hls, space["install"]()):
            assert f", colorsys.rgb_to_hls: stand_in{words}," in f", {taken()['patched names']},"
        assert taken() == before


def test_who_is_there_hangs_at_its_station_and_the_list_of_ways_folds(monkeypatch):
    monkeypatch.setattr(builtins, "print", mine)
    exhibit = show_interceptions()
    stations = {row.station for row in exhibit.model.rows}
    assert stations == {station.name for station in SPINE} | {AROUND}
    assert [row.way for row in exhibit.model.at("evaluator")][0] == "frame evaluator"
    page = interceptions.html(exhibit.model)
    drawn, _, listed = page.partition("<details")
    assert drawn.index(">name<") < drawn.index("mine for print") < drawn.index(">cache key<")
    assert "nobody" not in page and "unused</div>" in drawn
    assert "unused, frame: sys.settrace, " in listed and "mine for print" in listed


@pytest.mark.own_process(sharing="torch")
def test_modes_of_torch_are_named():
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Ops(TorchDispatchMode):
        pass

    class Functions(TorchFunctionMode):
        pass

    assert torch and not {"torch dispatch modes", "torch function modes"} & {*taken()}
    with Ops(), Functions():
        found = taken()
    assert found["torch dispatch modes"] == "Ops" and found["torch function modes"] == "Functions"


@pytest.mark.own_process(sharing="tensorflow")
def test_callbacks_and_graphs_of_tensorflow_are_named():
    import tensorflow as tf
    from tensorflow.python.framework import op_callbacks

    found = {}

    @tf.function(autograph=False)
    def traced():
        found.update(taken())
        return tf.constant(1)

    op_callbacks.add_op_callback(mine)
    try:
        assert taken()["TensorFlow op callbacks"] == "mine"
    finally:
        op_callbacks.remove_op_callback(mine)
    traced()
    assert found["a graph being built"] == "FuncGraph"
    assert "a graph being built" not in taken()
