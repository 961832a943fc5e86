"""Guard trees are torch's own, in words that repeat; each guard fails where it says, and alone."""

import collections
import re

import pytest

from helpers import show_guards, watch_recompiles
from helpers.capture.torch.cache_entries import read_cache_entries
from helpers.capture.torch.frame_arguments import bind_frame_locals
from helpers.capture.torch.guard_failures import find_first_failure, list_failing_guards
from helpers.capture.torch.guard_leaves import list_leaf_guards, walk_nodes
from helpers.capture.torch.guard_words import STATE_OF_TORCH
from helpers.model.guard_failures import Failure, explain_failures

pytestmark = pytest.mark.own_process(sharing="torch")
torch = pytest.importorskip("torch")

RATE = 1.5
NUMBERS_THAT_CHANGE = re.compile(r"0x[0-9a-f]+|\d{9,}|[0-9a-f]{8}_[0-9a-f]{4}|[/\\]\S*\.py\b")


def priced(x, y, n, names, options):
    total = x * n * RATE + y + len(names)
    return total.round() if options["round"] else total


FIRST = {"x": torch.ones(3), "y": torch.zeros(3), "n": 2, "names": ["a", "b"]}
FIRST["options"] = {"round": False}


@pytest.fixture(scope="module")
def game():
    live = watch_recompiles(priced)
    live(**FIRST)
    return live


def marked():
    x = torch.ones(3)
    torch._dynamo.mark_dynamic(x, 0)
    return x


CHANGES = {
    "L['n'] EQUALS_MATCH": {"n": 3},
    "L['names'] LENGTH_CHECK": {"names": ["a"]},
    "L['names'] TYPE_MATCH": {"names": ("a", "b")},
    "L['options']['round'] FALSE_MATCH": {"options": {"round": True}},
    "L['options'] TYPE_MATCH": {"options": collections.OrderedDict(round=False)},
    "L['x'] TENSOR_MATCH": {"x": torch.ones(4)},
    "L['x'] DIMENSION_DYNAMIC_MARKING_GUARD": {"x": marked()},
    "(between values) NO_TENSOR_ALIASING": {"y": FIRST["x"]},
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_change_fails_one_guard(game, name):
    fn = game.compiled_function
    entry = read_cache_entries(fn.__code__)[0]
    seen = bind_frame_locals(fn, (), {**FIRST, **CHANGES[name]})
    assert [guard.name for guard in list_failing_guards(1, entry, fn, seen)] == [name]
    first = find_first_failure(1, entry, fn, seen)
    assert first.kind == name.split()[-1]
    assert not entry.guard_manager.root.check(seen)


def test_every_leaf_of_the_tree_is_shown(game):
    entry = read_cache_entries(game.compiled_function.__code__)[0]
    found = [g for m in walk_nodes(entry.guard_manager.root) for g in m.get_leaf_guards()]
    graph = show_guards(game).model
    twice = sum(leaf.kind == "NO_TENSOR_ALIASING" for leaf in list_leaf_guards(entry)) - 1
    assert len(found) == len(list_leaf_guards(entry)) == len(graph.guards) + twice
    assert {g.kind for g in graph.guards} == {type(g).__name__ for g in found}


def test_the_table_has_the_guards_of_the_graph(game):
    graph, listing = show_guards(game).model, show_guards(game, as_table=True).model
    assert listing.rows == graph.guards and listing.rows[-1].source == STATE_OF_TORCH
    assert {row.entry for row in listing.rows} == {1} and "entry" not in repr(listing.columns)
    assert "DIMENSION_<wbr/>DYNAMIC_<wbr/>" in show_guards(game, as_table=True)._page()
    rows = [(Failure(n, "x", "EQUALS_MATCH", f"it equals {n}", "x * k", "9"),) for n in (1, 2, 3)]
    rows[0] += (Failure(1, "y", "EQUALS_MATCH", "it equals 1", "x * k", "2"),)
    shared, single = explain_failures(rows)
    assert shared.count("1 to 3") == 2 and "x is 9" in shared and "`x * k`" in shared
    assert "y is 2" in single and "x" not in single
    found = show_guards(game, find="names", as_table=True).model
    only = found.rows
    assert only and len(only) < len(listing.rows)
    assert all("names" in f"{row.name} {row.line}" for row in only)
    rest = len(listing.rows) - len(only)
    assert f"Not listed: {rest};" in found.note and "listed" not in listing.note


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.scale = torch.nn.Parameter(torch.ones(3)), 3

    def forward(self, x):
        return torch.nn.functional.relu(x * self.weight) + self.scale


def dynamic(x, y):
    return x + y


def closed(factor):
    return lambda x: x * factor


def test_no_word_holds_an_id_an_address_or_a_path():
    for fn, calls in (
        (Model().forward, [(torch.ones(3),)]),
        (dynamic, [(torch.ones(n), torch.ones(n)) for n in (3, 4, 1)]),
        (closed(2), [(torch.ones(3),)]),
    ):
        live = watch_recompiles(fn)
        live.each(*calls)
        text = f"{show_guards(live)!r}{show_guards(live, as_table=True)!r}{live!r}"
        assert not NUMBERS_THAT_CHANGE.search(text), NUMBERS_THAT_CHANGE.search(text)


def test_what_was_never_compiled_has_no_guards(refused):
    refused(LookupError, "compile it with torch.compile", show_guards, lambda x: x)
    same = lambda x: x  # noqa: E731
    torch.compile(same, backend="eager")(torch.ones(2))
    refused(LookupError, "a call without torch ops leaves none", show_guards, same)
    live = watch_recompiles(dynamic)
    live(torch.ones(2), torch.ones(2))
    refused(LookupError, "none of the", show_guards, live, find="no such words")


def test_a_search_that_finds_nothing_names_the_other_frames_with_such_guards(refused):
    class Net(torch.nn.Module):
        def forward(self, x):
            torch._dynamo.graph_break()
            return x * 2 if self.training else x

    step = torch.compile(Net(), backend="eager")
    step(torch.ones(2))
    words = r"such guards: forward, resumed \(test_guards.py:"
    refused(LookupError, words, show_guards, step, find="training", as_table=True)
    refused(LookupError, "in its words$", show_guards, step, find="no such word", as_table=True)
