"""How fast the two searches for references are, each beside another way to look."""

import gc
import io
import sys
import types
from functools import partial

from helpers.capture.references.holder_search import find_holders, scan_modules
from tests.benchmarks.harness import Goal, needs, prepared


def goals():
    few, many = held(600), held(6000)
    yield Goal("6000 holders", many, "600 holders", few, at_most=40, rounds=5)
    needs("tensorflow")
    import tensorflow as tf

    scan = partial(scan_modules, tf.nn.bias_add)
    thorough = partial(find_holders, tf.nn.bias_add)
    yield Goal("the thorough search", thorough, "the scan", scan, at_least=8, rounds=7)
    needs("objgraph")
    import objgraph

    def referrers():
        objgraph.show_backrefs([tf.nn.bias_add], max_depth=3, output=io.StringIO())

    yield Goal(
        "objgraph's referrers", referrers, "the thorough search", thorough, at_least=1, rounds=5
    )


def held(count):
    """Return the search for a function that so many lists hold, in a heap of little else."""

    @prepared
    def side():
        gc.collect()
        gc.freeze()
        stage = sys.modules["stage"] = types.ModuleType("stage")
        exec("def op(): ...", vars(stage))
        stage.crowd = [[stage.op] for _ in range(count)]
        try:
            yield partial(find_holders, stage.op)
        finally:
            del sys.modules["stage"]
            gc.unfreeze()

    return side
