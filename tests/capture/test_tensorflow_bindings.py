"""Where TensorFlow 2.21 holds `tf.nn.bias_add`; notebook 01 shows which routes are reached."""

import json
import sys

import pytest

from helpers.capture.references.places import FIXED_REASONS
from tests.pythons import finished

pytest.importorskip("tensorflow", reason="needs TensorFlow")

MODULES = {f"tensorflow._api.v2.{name}nn" for name in ("compat.v1.", "compat.v2.", "")}
MODULES |= {"tensorflow.python.ops.nn", "tensorflow.python.ops.nn_ops"}
SIGNATURES = "tensorflow.python.util.dispatch._TYPE_BASED_DISPATCH_SIGNATURES{key}"
WRAPPER = "tensorflow._api.v2.compat.v1.nn"
HIDDEN = f"{WRAPPER}._tfmw_wrapped_module.bias_add"
REGISTRY = "tensorflow.python.util.tf_export._NAME_TO_SYMBOL_MAPPING"

# Everything that TensorFlow does to its own modules happens in a process of its own.
PLAY = """
import json
import tensorflow as tf
from helpers.capture.references.rebind import rebind_everywhere
from helpers.capture.references.binding_list import list_bindings
from helpers.capture.references.holder_search import scan_modules
from tensorflow.python.ops import nn_ops

told = {}
tell = told.__setitem__
op = lambda: nn_ops.bias_add
as_rows = lambda: [[r.kind, r.path, r.scan, r.rebindable] for r in list_bindings(op()).rows]

tell("rows", as_rows())
tell("scan", [place.binding.path for place in scan_modules(op())])
before = list_bindings(op())

def other(value, bias, data_format=None, name=None):
    return value

def patched(**options):
    return rebind_everywhere(op(), other, **options)

# A look-up while rebound fills the cache in C; it was empty before and is empty afterwards.
for how in ("scan", "thorough"):
    with patched(search=how):
        tf.compat.v1.nn.bias_add
        tell("cached " + how, tf.compat.v1.nn.bias_add is other)
    tell("same after " + how, list_bindings(op()) == before)
tf.compat.v1.nn.bias_add
tell("rows once looked up", as_rows())
filled = list_bindings(op())
for how in ("scan", "thorough"):
    with patched(search=how):
        tell("three copies " + how, tf.compat.v1.nn.bias_add is other)
    tell("same cache after " + how, list_bindings(op()) == filled)

before = list_bindings(op())
with patched() as rebinding:
    tell("left", [[row.path, row.reason] for row in rebinding.left])
tell("identical", list_bindings(op()) == before)

print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told():
    done = finished([sys.executable, "-c", PLAY], timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_the_scan_finds_the_function_in_five_modules(told):
    assert set(told["scan"]) == {f"{name}.bias_add" for name in MODULES}


def test_the_thorough_search_adds_places_of_which_the_registry_s_key_cannot_be_rebound(told):
    found = {path: kind for kind, path, _, _ in told["rows"]}
    assert {path for path, kind in found.items() if kind == "module attribute"} == set(told["scan"])
    assert found[HIDDEN] == "hidden module attribute"
    assert found[f"{REGISTRY}['nn.bias_add']"] == "dict value"
    assert found[f"{REGISTRY}['compat.v1.nn.bias_add']"] == "dict value"
    assert found[SIGNATURES] == "dict key"
    (cell,) = [path for path, kind in found.items() if kind == "closure cell"]
    assert cell.endswith("op_dispatch_handler.op_dispatch_handler")
    assert [kind for kind, _, _, rebindable in told["rows"] if not rebindable] == ["dict key"]


def test_the_cache_in_c_is_a_place_only_once_the_name_was_looked_up(told):
    cached = ["C-level cache", f"{WRAPPER}.bias_add", False, True]
    assert cached not in told["rows"] and cached in told["rows once looked up"]
    assert len(told["rows once looked up"]) == len(told["rows"]) + 1


@pytest.mark.parametrize("how", ["scan", "thorough"])
def test_the_cache_in_c_is_full_or_empty_afterwards_as_it_was_before(told, how):
    for words in ("cached", "same after", "three copies", "same cache after"):
        assert told[f"{words} {how}"], words


def test_after_the_block_every_place_is_as_before(told):
    assert told["identical"]
    assert told["left"] == [[SIGNATURES, FIXED_REASONS["dict key"]]]
