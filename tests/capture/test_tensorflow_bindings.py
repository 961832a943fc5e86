"""Where TensorFlow 2.21 holds `tf.nn.bias_add`, and which routes a rebinding of it reaches."""

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
import functools, json
import tensorflow as tf
from helpers.capture.references.rebind import code_swapped, rebind_everywhere
from helpers.capture.references.routes import watch_callers
from helpers.capture.references.holder_search import bindings, find_holders, scan_modules
from tensorflow.python.ops import nn, nn_ops, array_ops, math_ops
from tensorflow.python.framework import ops as tfops

told = {}
tell = told.__setitem__
op = lambda: nn_ops.bias_add
as_rows = lambda: [[r.kind, r.path, r.scan, r.rebindable] for r in bindings(op()).rows]

tell("rows", as_rows())
tell("scan", [place.binding.path for place in scan_modules(op())])
before = bindings(op())

def deterministic_bias_add(value, bias, data_format=None, name=None):
    with tfops.name_scope(name, "BiasAdd", [value, bias]) as name:
        return math_ops.add(value, bias, name=name)

def patched(**options):
    return rebind_everywhere(op(), deterministic_bias_add, **options)

# A look-up while rebound fills the cache in C; it was empty before and is empty afterwards.
for how in ("scan", "thorough"):
    with patched(search=how):
        tf.compat.v1.nn.bias_add
        tell("cached " + how, tf.compat.v1.nn.bias_add is deterministic_bias_add)
    tell("same after " + how, bindings(op()) == before)
tf.compat.v1.nn.bias_add
tell("rows once looked up", as_rows())
filled = bindings(op())
for how in ("scan", "thorough"):
    with patched(search=how):
        tell("three copies " + how, tf.compat.v1.nn.bias_add is deterministic_bias_add)
    tell("same cache after " + how, bindings(op()) == filled)

x4, b2 = tf.ones([1, 4, 4, 2]), tf.constant([1.0, 2.0])
traced = tf.function(lambda v: tf.nn.bias_add(v, b2))
traced(x4)
conv = tf.keras.layers.Conv2D(2, 3)
conv(x4)
dense = tf.keras.layers.Dense(2)
dense(tf.ones([1, 3]))
from tensorflow.python.keras.layers import convolutional as old_layers
from tensorflow.python.keras import backend as old_backend
old_conv = old_layers.Conv2D(2, 3)
old_conv.build([None, 4, 4, 2])

def user_default(v, b, f=tf.nn.bias_add):
    return f(v, b)

from tensorflow.nn import bias_add as copied
part = functools.partial(op(), bias=b2)

class Holder:
    op = staticmethod(nn_ops.bias_add)

routes = {
    "tf.nn": lambda: tf.nn.bias_add(x4, b2),
    "compat.v1": lambda: tf.compat.v1.nn.bias_add(x4, b2),
    "ops.nn": lambda: nn.bias_add(x4, b2),
    "ops.nn_ops": lambda: nn_ops.bias_add(x4, b2),
    "Keras 3 Conv2D": lambda: conv(x4),
    "Keras 3 Dense": lambda: dense(tf.ones([1, 3])),
    "old Conv2D": lambda: old_conv.call(x4),
    "old K.bias_add": lambda: old_backend.bias_add(x4, b2),
    "from-import copy": lambda: copied(x4, b2),
    "default argument": lambda: user_default(x4, b2),
    "partial": lambda: part(x4),
    "class attribute": lambda: Holder.op(x4, b2),
    "raw op": lambda: tf.raw_ops.BiasAdd(value=x4, bias=b2),
}

def ops_of(function, *args):
    graph = tf.function(function, autograph=False).get_concrete_function(*args).graph
    return {node.op for node in graph.as_graph_def().node}

def judge(route):
    return "old" if "BiasAdd" in ops_of(route) else "new"

def only(*owners):
    return lambda: patched(only=[owner + ".bias_add" for owner in owners])

def inner(value, bias, data_format=None, name=None):
    with ops.name_scope(name, "BiasAdd", [value, bias]) as name:
        return math_ops.add(value, bias, name=name)

alone = ["tensorflow.nn", "tensorflow._api.v2.nn", "tensorflow.python.ops.nn",
         "tensorflow.python.ops.nn_ops", "tensorflow._api.v2.compat.v2.nn",
         "tensorflow._api.v2.compat.v1.nn"]
board = watch_callers(routes, judge, {
    **{name: only(name) for name in alone},
    "three": only("tensorflow.nn", "tensorflow.python.ops.nn", "tensorflow.python.ops.nn_ops"),
    "scan": lambda: patched(search="scan"),
    "thorough": patched,
    "__code__": lambda: code_swapped(op().__wrapped__, inner),
})
tell("matrix", {heading: [entry.verdicts[at].word for entry in board.entries]
                for at, heading in enumerate(board.headings)})

def gradient(v, b):
    with tf.GradientTape() as tape:
        tape.watch([v, b])
        y = tf.reduce_sum(tf.nn.bias_add(v, b))
    return tape.gradient(y, b)

shapes = tf.TensorSpec([1, 4, 4, 2]), tf.TensorSpec([2])
seen = lambda: sorted(ops_of(gradient, *shapes) & {"BiasAdd", "BiasAddGrad", "AddV2"})
tell("gradient", seen())
before = bindings(op())
with patched() as rebinding:
    tell("new gradient", seen())
    tell("equal", bool(tf.reduce_all(tf.nn.bias_add(x4, b2) == rebinding.old(x4, b2))))
    traced(x4)
    tell("traced", [traced.experimental_get_tracing_count(),
                    "BiasAdd" in ops_of(lambda v: traced(v), x4) or "BiasAdd" in {
                        n.op for n in traced.get_concrete_function(x4).graph.as_graph_def().node}])
    tell("left", [[row.path, row.reason] for row in rebinding.left])
tell("identical", bindings(op()) == before)
tell("leftover", len(rebinding.leftover))

print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told():
    command = [sys.executable, "-c", PLAY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


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


MATRIX = {
    "nothing": "old old old old old old old old old old old old old",
    "tensorflow.nn": "new old old old new new old old old old old old old",
    "tensorflow._api.v2.nn": "old old old old old old old old old old old old old",
    "tensorflow.python.ops.nn": "old old new old old old new new old old old old old",
    "tensorflow.python.ops.nn_ops": "old old old new old old old old old old old old old",
    "tensorflow._api.v2.compat.v2.nn": "old old old old old old old old old old old old old",
    "tensorflow._api.v2.compat.v1.nn": "old new old old old old old old old old old old old",
    "three": "new old new new new new new new old old old old old",
    "scan": "new new new new new new new new new old old old old",
    "thorough": "new new new new new new new new new new new new old",
    "__code__": "new new new new new new new new new new new new old",
}


def test_each_way_in_reaches_its_routes(told):
    assert {heading: " ".join(told["matrix"][heading]) for heading in MATRIX} == MATRIX


def test_the_gradient_kernel_is_gone_and_the_values_are_equal(told):
    assert told["gradient"] == ["BiasAdd", "BiasAddGrad"]
    assert told["new gradient"] == ["AddV2"]
    assert told["equal"]


def test_a_function_traced_before_keeps_the_old_op(told):
    assert told["traced"] == [1, True]


def test_after_the_block_every_place_is_as_before(told):
    assert told["identical"]
    assert told["leftover"] == 0
    assert told["left"] == [
        [
            "tensorflow.python.util.dispatch._TYPE_BASED_DISPATCH_SIGNATURES{key}",
            "a key is found by its hash",
        ]
    ]
