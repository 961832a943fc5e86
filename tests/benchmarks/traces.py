"""What the ledger adds to a call that hits: at most as much again as the call itself."""

from time import perf_counter

import pytest

from helpers.capture.traces import watch

tf = pytest.importorskip("tensorflow")
MOST = 2.0
ROUNDS, CALLS = 15, 100


def seconds(call, x):
    start = perf_counter()
    for _ in range(CALLS):
        call(x, 1)
    return perf_counter() - start


def test_a_watched_hit_takes_at_most_twice_the_bare_call():
    bare = tf.function(lambda x, n: x + n, autograph=False)
    kept = watch(bare)
    x = tf.ones([2])
    kept(x, 1)
    pairs = [(seconds(bare, x), seconds(kept, x)) for _ in range(ROUNDS)]
    without, with_ledger = map(min, zip(*pairs, strict=True))
    ratio = with_ledger / without
    print(f"a watched hit takes {ratio:.2f} times the bare call")
    assert ratio <= MOST
