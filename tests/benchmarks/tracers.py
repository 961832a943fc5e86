"""What CPython's tracers cost: the more they see, the more."""

from functools import partial

from helpers.capture.cpython.costs import tracers
from tests.benchmarks.harness import Goal


def goals():
    ways = tracers(work, partial(work))
    calls, lines = ways["sys.settrace: calls"], ways["sys.settrace: lines"]
    yield Goal("instructions", ways["sys.settrace: instructions"], "calls", calls, at_least=1)
    yield Goal("watch_stack's record", ways["watch_stack's record"], "lines", lines, at_least=1)


def work():
    total = 0
    for n in range(300):
        total += n
    return total
