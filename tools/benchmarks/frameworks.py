"""What the course's own tools cost beside those of others: OneFlow, pictures, searches, imports."""

import gc
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import types
from functools import partial
from pathlib import Path
from time import perf_counter

from tools.benchmarks.harness import Goal, Missing, needs, prepared, size

ROOT = Path(__file__).parents[2]


def measure_front_door():
    """A chapter's first cell, set against importing all that the front door offers (CPU time)."""
    from tests.test_front_door import first_cell

    names = "import helpers\n[getattr(helpers, name) for name in helpers.__all__]\n"
    other = start_python(f"{names}list(helpers.check)")
    for chapter in size(("01", "03", "06"), ("01",)):
        one, options = start_python(first_cell(chapter)), {"rounds": 5, "clock": time_children}
        yield Goal(f"chapter {chapter}", one, "all", other, at_most=0.5, **options)


def time_children() -> float:
    """Return the CPU seconds of all children that have ended."""
    return sum(os.times()[2:4])


def start_python(source: str):
    """Return a function that runs this source in a fresh interpreter."""
    return partial(subprocess.run, [sys.executable, "-c", source], cwd=ROOT, check=True)


def measure_traces():
    """What the ledger of a tf.function adds to a call that hits: at most as much again."""
    needs("tensorflow")
    import tensorflow as tf

    from helpers.capture.tensorflow.trace_ledger import watch_function

    bare = tf.function(lambda x, n: x + n, autograph=False)
    kept, x = watch_function(bare), tf.ones([2])
    hit, bare_hit = partial(kept, x, 1), partial(bare, x, 1)
    yield Goal("a watched hit", hit, "the bare call", bare_hit, at_most=2, rounds=21)


def measure_blocks():
    """What a `with` block adds to a tiny training step inside it, and to the steps after it."""
    import helpers

    for name, (most, step) in training_steps().items():
        block = getattr(helpers, name)

        @prepared
        def watched(block=block, step=step):
            with block():
                yield partial(repeat, step)

        @prepared
        def after(block=block, step=step):
            with block():
                step()
            yield partial(repeat, step)

        @prepared
        def bare(step=step):
            step()
            yield partial(repeat, step)

        yield Goal(f"a step in {name}", watched, "a step", bare, at_most=most)
        yield Goal(f"a step after {name}", after, "a step", bare, at_most=1.1)


def repeat(step):
    for _ in range(size(100, 1)):
        step()


def training_steps():
    """Return block -> how many times as long a step may take in it, and a step, compiled before."""
    needs("torch", "tensorflow")
    import torch
    import torch._dynamo

    tf = importlib.import_module("tensorflow")  # after Dynamo
    layer, x = torch.nn.Linear(4, 1), torch.ones(8, 4)
    adam, compiled = torch.optim.Adam(layer.parameters()), torch.compile(layer, backend="eager")
    weights, given = tf.Variable(tf.ones([4, 1])), tf.ones([8, 4])

    def in_torch(model=layer):
        adam.zero_grad()
        model(x).sum().backward()
        adam.step()

    @tf.function
    def in_tensorflow():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(given @ weights)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))

    dynamo = partial(in_torch, compiled)
    dynamo(), in_tensorflow()
    steps = {"watching_recompiles": (1.1, dynamo), "watching_breaks": (1.1, dynamo)}
    return steps | {"watching_traces": (1.1, in_tensorflow), "watching_ops": (3, in_torch)}


def measure_references():
    """How fast the two searches for references are, each beside another way to look."""
    from helpers.capture.references.holder_search import find_holders, scan_modules

    few, many = (hold(count, find_holders) for count in size((600, 6000), (6, 60)))
    yield Goal("ten times as many holders", many, "600 holders", few, at_most=40, rounds=5)
    needs("tensorflow", "objgraph")
    import objgraph
    import tensorflow as tf

    scan, thorough = (partial(search, tf.nn.bias_add) for search in (scan_modules, find_holders))
    yield Goal("the thorough search", thorough, "the scan", scan, at_least=8, rounds=7)

    def ask():
        objgraph.show_backrefs([tf.nn.bias_add], max_depth=3, output=io.StringIO())

    yield Goal("objgraph's referrers", ask, "the thorough search", thorough, at_least=1, rounds=5)


def hold(count, search):
    """Return the search for a function that so many lists hold, in a heap of little else."""

    @prepared
    def side():
        gc.collect()
        gc.freeze()
        stage = sys.modules["stage"] = types.ModuleType("stage")
        exec("def op(): ...", vars(stage))
        stage.crowd = [[stage.op] for _ in range(count)]
        try:
            yield partial(search, stage.op)
        finally:
            del sys.modules["stage"]
            gc.unfreeze()

    return side


def measure_oneflow():
    """What a job of the small OneFlow costs beside numpy, torch and TensorFlow; loading an op."""
    import numpy as np

    from helpers.mini import oneflow as flow
    from tests.mini.oneflow.folders import KERNEL, RELU, load, predict, write

    files = {**RELU, "py_kernel.py": KERNEL.replace("np.maximum(x, 0)", "(x > 0) * x")}
    with tempfile.TemporaryDirectory() as folder, flow.fresh_session():
        relu = load(write(Path(folder), files)).api.relu
        for n, most in ((5, 15), (size(10**6, 10), 1.3)):
            x = np.random.default_rng(0).normal(size=n).astype(np.float32)
            job, bare = partial(predict(relu, ((n,), "float32")), x), partial(rectify, x)
            yield Goal(f"predict job, {n:,} numbers", job, "the bare kernel", bare, at_most=most)
    yield from load_from_cache()
    needs("torch", "tensorflow")
    import tensorflow as tf
    import torch

    @torch.library.custom_op("course_benchmark::relu", mutates_args=())
    def as_op(t: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(rectify(t.numpy()))

    x = np.random.default_rng(0).normal(size=5).astype(np.float32)
    tensor, constant, bare = torch.from_numpy(x), tf.constant(x), partial(rectify, x)
    ways = {
        "torch.library.custom_op": lambda: as_op(tensor),
        "tf.numpy_function": lambda: tf.numpy_function(rectify, [constant], tf.float32).numpy(),
    }
    for name, way in ways.items():
        yield Goal(f"{name}, 5 numbers", way, "the bare kernel", bare)


def rectify(x):
    return (x > 0) * x


def load_from_cache():
    """Yield the goal for an op that is defined in C++, from the cache."""
    from helpers.mini import oneflow as flow
    from helpers.mini.oneflow import cpp_program
    from helpers.safety.folders import ManagedDirectory
    from tests.mini.oneflow.folders import RELU, RELU_CPP, load, write

    if cpp_program.find_compiler() is None:
        raise Missing("no C++ compiler")
    usual = cpp_program.cache_folder
    with tempfile.TemporaryDirectory() as op, tempfile.TemporaryDirectory() as cache:
        cpp_program.cache_folder = lambda: ManagedDirectory(Path(cache))
        try:
            with flow.fresh_session():
                write(Path(op), {**RELU, **RELU_CPP})
                ways = (partial(load, Path(op), front_end=f"{way}_def") for way in ("cpp", "py"))
                cpp, py = ways
                name, other = "loading an op, C++ definition from the cache", "Python definition"
                yield Goal(name, cpp, other, py, at_most=10, clock=perf_counter)
        finally:
            cpp_program.cache_folder = usual


def measure_diagram():
    """A GraphDef of 300 nodes, as it is shown, is drawn no slower than by Graphviz's `dot`."""
    needs("tensorflow", program="dot")
    from helpers.capture.tensorflow.tf_graph import build_graph
    from helpers.view.diagram.graph_drawing import draw_graph
    from helpers.view.diagram.graph_view import graph

    nodes = size(300, 20)
    graph_def = stack_layers(nodes)
    dot = partial(draw_by_dot, graph_def)
    # The page folds a large graph. With all boxes open, the time goes into fewer crossings.
    ways = {"folded": (graph.html, 1), "all boxes": (draw_graph, None)}
    for name, (draw, most) in ways.items():

        def ours(draw=draw):
            return draw(build_graph(graph_def))

        name, options = f"{nodes} nodes, {name}", {"rounds": 7, "clock": perf_counter}
        yield Goal(name, ours, "dot", dot, at_most=most, **options)


def draw_by_dot(graph_def) -> bytes:
    """Return the SVG that Graphviz's program makes; CalledProcessError if it makes none."""
    quoted = {node.name: json.dumps(node.name) for node in graph_def.node}
    lines = ["digraph {", "rankdir=LR; node [shape=box];"]
    for node in graph_def.node:
        label = json.dumps(f"{node.name}\n{node.op}")
        lines.append(f"{quoted[node.name]} [label={label}];")
        lines += [f"{quoted[source]} -> {quoted[node.name]};" for source in node.input]
    text = "\n".join([*lines, "}"])
    drawn = subprocess.run(
        ["dot", "-Tsvg"], input=text.encode(), stdout=subprocess.PIPE, check=True
    )
    return drawn.stdout


def stack_layers(count):
    """Return a GraphDef of exactly `count` nodes: layers of two branches, scopes in scopes."""
    import tensorflow as tf

    made = tf.compat.v1.GraphDef()
    made.node.add(name="x", op="Placeholder")
    before, layer = "x", 0
    while len(made.node) < count:
        scope = f"model/layer_{layer}"
        for name, op, *inputs in (
            ("left/Sin", "Sin", before),
            ("left/Neg", "Neg", f"{scope}/left/Sin"),
            ("right/Cos", "Cos", before),
            ("right/Neg", "Neg", f"{scope}/right/Cos"),
            ("Add", "AddV2", f"{scope}/left/Neg", f"{scope}/right/Neg"),
        ):
            if len(made.node) < count:
                made.node.add(name=f"{scope}/{name}", op=op, input=inputs)
        before, layer = made.node[-1].name, layer + 1
    return made
