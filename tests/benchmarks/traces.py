"""What the ledger of a tf.function adds to a call that hits: at most as much again as the call."""

from functools import partial

from helpers.capture.tensorflow.trace_ledger import watch
from tests.benchmarks.harness import Goal, needs


def goals():
    needs("tensorflow")
    import tensorflow as tf

    bare = tf.function(lambda x, n: x + n, autograph=False)
    kept, x = watch(bare), tf.ones([2])
    hit, bare_hit = partial(kept, x, 1), partial(bare, x, 1)
    yield Goal("a watched hit", hit, "the bare call", bare_hit, at_most=2, rounds=21)
