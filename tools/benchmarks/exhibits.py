"""What it costs to show a run: the HTML and the stage of an exhibit with a picture at each step."""

from time import process_time

from helpers import watch_names
from helpers.view.diagram import arrow_lines, layered_layout
from helpers.view.diagram.labels import shorten_label
from tools.benchmarks.harness import Goal, prepared, size

STEPS = 100


def deal(count):
    """Deal cards to three hands; all that it makes is drawn: tables of lists of lists."""
    hands, table, seen = {"a": [], "b": [], "c": []}, [[], []], set()
    for card in range(count):
        name = "abc"[card % 3]
        hands[name].append([card, name])
        table[card % 2] = hands[name][-3:]
        seen.add(card % 5)
    return hands, table


def measure_exhibit():
    """How long an exhibit of 100 steps takes, in seconds of this processor."""
    steps = size(STEPS, 5)
    run = watch_names(deal, 25, most=steps)
    assert len(run.model.steps) == 1 + steps

    @prepared
    def drawn():
        arrow_lines.list_points.cache_clear()
        arrow_lines._divide_curve.cache_clear()
        layered_layout._find_best_order.cache_clear()
        shorten_label.cache_clear()
        yield run._repr_mimebundle_

    yield Goal(f"{steps} steps drawn", drawn, "a second", spin, at_most=1, rounds=5)


def spin():
    """Keep the processor busy for a second."""
    end = process_time() + size(1.0, 0.0)
    while process_time() < end:
        pass
