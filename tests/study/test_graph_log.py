"""helpers/study/graph_log.py: graphs that call a function are counted, and their runs recorded."""

import pytest

from helpers.study.graph_log import GraphLog

torch = pytest.importorskip("torch")


class Double(torch.nn.Module):
    """A module whose graph calls a function."""

    def forward(self, x):
        return (x * 2,)


def test_a_graph_that_calls_a_function_is_counted_and_each_run_recorded():
    log = GraphLog()
    run = log.backend(torch.fx.symbolic_trace(Double()), [])
    assert (log.compiled, log.runs) == (1, [])

    results = [run(3), run(4)]
    assert results == [(6,), (8,)]
    assert log.runs == [((3,), (6,)), ((4,), (8,))]
    assert log.compiled == 1


def test_a_graph_that_only_returns_its_inputs_runs_uncounted():
    log = GraphLog()
    graph = torch.fx.symbolic_trace(torch.nn.Identity())
    run = log.backend(graph, [])

    assert run is graph
    assert run(3) == 3
    assert (log.compiled, log.runs) == (0, [])


def test_each_log_counts_its_own_graphs():
    log = GraphLog()
    graph = torch.fx.symbolic_trace(Double())
    log.backend(graph, [])
    log.backend(graph, [])
    assert log.compiled == 2
    assert GraphLog().compiled == 0
