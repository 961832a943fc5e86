"""How fast the two searches are, each against another way to look, in one run."""

import gc
import io
import time

import pytest

from helpers.capture.references import bindings, find_holders, scan_modules

tf = pytest.importorskip("tensorflow", reason="needs TensorFlow")
objgraph = pytest.importorskip("objgraph", reason="needs objgraph")


def shortest(action, rounds=3):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def scan():
    return scan_modules(tf.nn.bias_add)


def thorough():
    return find_holders(tf.nn.bias_add)


def referrer_search():
    return objgraph.show_backrefs([tf.nn.bias_add], max_depth=3, output=io.StringIO())


def test_the_scan_is_at_least_eight_times_as_fast_as_the_thorough_search(benchmark):
    benchmark.pedantic(scan, rounds=10, warmup_rounds=1)
    ratio = shortest(thorough) / shortest(scan, rounds=10)
    benchmark.extra_info["thorough / scan"] = round(ratio, 1)
    assert ratio >= 8


def test_the_thorough_search_is_no_slower_than_a_referrer_search(benchmark):
    benchmark.pedantic(thorough, rounds=3, warmup_rounds=1)
    ratio = shortest(referrer_search, rounds=2) / shortest(thorough)
    benchmark.extra_info["objgraph / thorough"] = round(ratio, 1)
    assert ratio >= 1


def test_the_thorough_search_names_every_direct_referrer():
    gc.collect()
    direct = gc.get_referrers(tf.nn.bias_add)
    rows = bindings(tf.nn.bias_add).rows
    assert len(rows) >= len(direct)
    assert all(row.owner and "not found" not in row.owner for row in rows)
