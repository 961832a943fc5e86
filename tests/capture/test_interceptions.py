"""Whoever stands in a way is named; afterwards nobody is."""

import builtins
import collections.abc
import colorsys
import json
import sys
import threading
import warnings

import pytest

from helpers import rebind_everywhere, show_interceptions
from helpers.capture.frameworks import call_interceptions
from helpers.capture.frameworks.call_interceptions import AROUND
from helpers.capture.references.patched_names import describe_patched_names
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
    found = describe_patched_names(9)
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


def at_work(way):
    """Return who is at work, without the slow search for patched names."""
    return (call_interceptions._find_modes() | call_interceptions.find_in_frameworks()).get(way, "")


def torch_situations():
    import torch

    def hook(*given):
        pass

    def transformed(x):
        found.append(at_work("torch.func layers"))
        return (x * x).sum()

    found = []
    torch.func.grad(transformed)(torch.ones(2))
    assert found == ["grad"]
    x = torch.ones(2)
    with torch.autocast("cpu", torch.bfloat16):
        assert at_work("torch autocast") == "cpu to bfloat16"
    with torch.no_grad():
        assert at_work("torch autograd modes") == "no_grad"
    with torch.inference_mode():
        assert at_work("torch autograd modes") == "inference mode"
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        assert at_work("torch autograd modes") == "saved tensors hooks"
    with torch.autograd.set_detect_anomaly(True):
        assert at_work("torch autograd modes") == "anomaly detection"
    handle = torch.nn.modules.module.register_module_forward_hook(hook)
    assert at_work("torch's hooks of all modules") == "hook"
    handle.remove()
    torch.use_deterministic_algorithms(True)
    assert at_work("torch settings") == "deterministic algorithms"
    torch.use_deterministic_algorithms(False)
    with torch.device("meta"):
        assert "DeviceContext" in at_work("torch function modes")
    torch.compile(lambda x: x, backend="eager")(x)
    with torch.compiler.set_stance("force_eager"):
        assert at_work("torch.compile turned off") == "stance force_eager"
    with torch._dynamo.config.patch(disable=True):
        assert "config.disable" in at_work("torch.compile turned off")


def tensorflow_situations():
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    assert at_work("tf.functions turned off") == "run_functions_eagerly"
    tf.config.run_functions_eagerly(False)
    with tf.device("/CPU:0"):
        assert "CPU:0" in at_work("TensorFlow placement")
    with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        assert "OneDeviceStrategy" in at_work("TensorFlow placement")
    tf.debugging.enable_check_numerics()
    assert at_work("TensorFlow op callbacks") == "CheckNumericsCallback.callback"
    tf.debugging.disable_check_numerics()
    with tf.GradientTape():
        assert at_work("gradient tapes") == "a tape records"
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    assert at_work("Keras scopes") == "dtype policy mixed_bfloat16"
    tf.keras.mixed_precision.set_global_policy("float32")
    found = []

    class Asking(tf.keras.layers.Layer):
        def call(self, x):
            found.append(at_work("Keras scopes"))
            return x

    Asking()(tf.keras.Input((2,)))
    assert "symbolic scope" in found[0]

    class Mine(tf.experimental.ExtensionType):
        value: tf.Tensor

    @tf.experimental.dispatch_for_api(tf.add, {"x": Mine})
    def add_mine(x, y, name=None):
        return x

    assert at_work("TensorFlow dispatchers") == "add_mine"
    tf.experimental.unregister_dispatch_for(add_mine)
    for way in ("gradient tapes", "TensorFlow dispatchers", "tf.functions turned off"):
        assert at_work(way) == "nobody"


@pytest.mark.parametrize(
    ("situations", "home"),
    [(torch_situations, "torch"), (tensorflow_situations, "tensorflow")],
)
def test_whatever_changes_how_a_framework_runs_a_call_is_named(situations, home):
    pytest.importorskip(home)
    situations()


def test_warnings_that_raise_are_named_and_what_cannot_be_read_is_unknown(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert "UserWarning" in at_work("warnings as errors")
    monkeypatch.setattr(warnings, "filters", None)
    assert at_work("warnings as errors") == "unknown: reading it raised TypeError"
