"""Where TensorFlow 2.21 holds `tf.nn.bias_add`; notebook 01 shows which routes are reached."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("tensorflow", reason="needs TensorFlow")

MODULES = {
    "tensorflow._api.v2.compat.v1.nn",
    "tensorflow._api.v2.compat.v2.nn",
    "tensorflow._api.v2.nn",
    "tensorflow.python.ops.nn",
    "tensorflow.python.ops.nn_ops",
}
WRAPPER = "tensorflow._api.v2.compat.v1.nn"
HIDDEN = f"{WRAPPER}._tfmw_wrapped_module.bias_add"
REGISTRY = "tensorflow.python.util.tf_export._NAME_TO_SYMBOL_MAPPING"

# Everything that TensorFlow does to its own modules happens in a process of its own.
PLAY = """
import json
import tensorflow as tf
from helpers.capture.references.rebind import rebind_everywhere
from helpers.capture.references.holder_search import bindings, scan_modules
from tensorflow.python.ops import nn_ops

told = {}
tell = told.__setitem__
op = lambda: nn_ops.bias_add
as_rows = lambda: [[r.kind, r.path, r.scan, r.rebindable] for r in bindings(op()).rows]

tell("rows", as_rows())
tell("scan", [place.binding.path for place in scan_modules(op())])
before = bindings(op())

def other(value, bias, data_format=None, name=None):
    return value

def patched(**options):
    return rebind_everywhere(op(), other, **options)

# A look-up while rebound fills the cache in C; it was empty before and is empty afterwards.
for how in ("scan", "thorough"):
    with patched(search=how):
        tf.compat.v1.nn.bias_add
        tell("cached " + how, tf.compat.v1.nn.bias_add is other)
    tell("same after " + how, bindings(op()) == before)
tf.compat.v1.nn.bias_add
tell("rows once looked up", as_rows())
filled = bindings(op())
for how in ("scan", "thorough"):
    with patched(search=how):
        tell("three copies " + how, tf.compat.v1.nn.bias_add is other)
    tell("same cache after " + how, bindings(op()) == filled)

before = bindings(op())
with patched() as rebinding:
    tell("left", [[row.path, row.reason] for row in rebinding.left])
tell("identical", bindings(op()) == before)

print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told():
    command = [sys.executable, "-c", PLAY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_the_scan_finds_the_function_in_five_modules(told):
    assert set(told["scan"]) == {f"{name}.bias_add" for name in MODULES}


def test_the_thorough_search_adds_a_hidden_module_a_closure_and_three_registry_entries(told):
    found = {path: kind for kind, path, _, _ in told["rows"]}
    assert {path for path, kind in found.items() if kind == "module attribute"} == set(told["scan"])
    assert found[HIDDEN] == "hidden module attribute"
    assert found[f"{REGISTRY}['nn.bias_add']"] == "dict value"
    assert found[f"{REGISTRY}['compat.v1.nn.bias_add']"] == "dict value"
    signatures = "tensorflow.python.util.dispatch._TYPE_BASED_DISPATCH_SIGNATURES{key}"
    assert found[signatures] == "dict key"
    (cell,) = [path for path, kind in found.items() if kind == "closure cell"]
    assert cell.endswith("op_dispatch_handler.op_dispatch_handler")


def test_only_the_key_of_the_registry_cannot_be_rebound(told):
    assert [kind for kind, _, _, rebindable in told["rows"] if not rebindable] == ["dict key"]


def test_the_cache_in_c_is_a_place_only_once_the_name_was_looked_up(told):
    cached = ["C-level cache", f"{WRAPPER}.bias_add", False, True]
    assert cached not in told["rows"]
    assert cached in told["rows once looked up"]
    assert len(told["rows once looked up"]) == len(told["rows"]) + 1


@pytest.mark.parametrize("how", ["scan", "thorough"])
def test_the_cache_in_c_is_full_or_empty_afterwards_as_it_was_before(told, how):
    assert told[f"cached {how}"]
    assert told[f"same after {how}"]
    assert told[f"three copies {how}"]
    assert told[f"same cache after {how}"]


def test_after_the_block_every_place_is_as_before(told):
    assert told["identical"]
    assert told["left"] == [
        [
            "tensorflow.python.util.dispatch._TYPE_BASED_DISPATCH_SIGNATURES{key}",
            "a key is found by its hash",
        ]
    ]
