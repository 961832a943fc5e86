"""A function or module -> the same, compiled by a backend that writes down its graphs and runs."""

import logging
from contextlib import contextmanager

from helpers.internals import torch_private


class Compiled:
    """What `torch.compile` made of `fn`; `compiles` counts its graphs, `ran` those of a last call.

    All else is an attribute of `fn`. The backend runs a graph as it is.
    """

    def __init__(self, fn):
        torch_private.refuse_late_dynamo()
        import torch

        self.compiles, self.ran, self._fn = 0, 0, fn
        torch._dynamo.reset()
        self.compiled = torch.compile(fn, backend=self._backend)

    def __call__(self, *args):
        """Call it compiled."""
        self.ran = 0
        with unsaid():
            return self.compiled(*args)

    def __getattr__(self, name):
        return getattr(self._fn, name)

    def _backend(self, graph, inputs):
        if graph_ops(graph):
            self.compiles += 1

        def run(*args):
            self.ran += bool(graph_ops(graph))
            return graph(*args)

        return run


def graph_ops(graph) -> int:
    """Return how many calls there are in an FX graph."""
    return sum(node.op.startswith("call") for node in graph.graph.nodes)


@contextmanager
def unsaid():
    """Keep back what torch logs of recompiles: a check says it in its own words."""
    logger = logging.getLogger("torch._dynamo")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
