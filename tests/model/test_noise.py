"""An order of two times is claimed only where the ranges of their rounds do not overlap."""

import pickle
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.capture.cpython import costs
from helpers.model.noise import (
    AS_LONG,
    TOO_NOISY,
    Ratio,
    describe_cost,
    drop_warm_up,
    measure_ratio,
    ranges_overlap,
)
from helpers.view.charts import plot

SECONDS = st.floats(1e-7, 1e2)
ROUNDS = st.lists(SECONDS, min_size=2, max_size=7)
# Rounds that spread little, so that many pairs of them do not overlap.
STEADY = st.builds(
    lambda middle, spread: [middle * factor for factor in spread],
    SECONDS,
    st.lists(st.floats(0.9, 1.1), min_size=2, max_size=7),
)
EITHER = st.one_of(ROUNDS, STEADY)


def are_apart(first, second):
    """Return whether each counted round of one is longer than each of the other; said anew here."""
    first, second = drop_warm_up(first), drop_warm_up(second)
    return max(first) < min(second) or max(second) < min(first)


@given(EITHER, EITHER)
def test_an_order_is_claimed_only_where_the_rounds_do_not_overlap(action, unit):
    ratio = measure_ratio(action, unit)
    assert ratio.low <= ratio <= ratio.high and ratio <= ratio.middle <= ratio.high
    if not ratio.unsure:
        assert are_apart(action, unit)
        assert (ratio > 1) == (min(drop_warm_up(action)) > max(drop_warm_up(unit)))
    elif are_apart(action, unit):  # then the two are as good as equal
        assert ratio.high == pytest.approx(1) or ratio.low == pytest.approx(1)


@given(EITHER, EITHER, EITHER)
def test_two_bars_whose_lines_do_not_overlap_have_rounds_that_do_not(first, second, unit):
    bars = measure_ratio(first, unit), measure_ratio(second, unit)
    if not ranges_overlap(*bars):
        assert are_apart(first, second)


@given(st.lists(EITHER, min_size=1, max_size=4), EITHER)
def test_text_table_and_picture_say_of_each_bar_whether_it_claims_an_order(actions, unit):
    ratios = {f"action {n}": measure_ratio(rounds, unit) for n, rounds in enumerate(actions)}
    bars = plot("T", ratios)
    lines, page = repr(bars).splitlines()[3:], bars._repr_mimebundle_()["text/html"]
    labels = re.findall(r"<b [^>]*>([^<]*)</b>", page)
    lengths = re.findall(r"top:4px;width:([\d.]+)%", page)
    for line, label, length, (name, ratio) in zip(
        lines, labels, lengths, ratios.items(), strict=False
    ):
        noisy = not are_apart(*map(count_rounds_again, (actions[int(name[-1])], unit)))
        assert ratio.between in line
        if noisy:
            said = ratio.unsure
            assert said in (TOO_NOISY, AS_LONG) and said in line and said == label
            assert float(length) == 0, "a bar without an order has no length"
            assert said == describe_cost(ratio)
        elif not ratio.unsure:
            assert not re.search(f"{TOO_NOISY}|{AS_LONG}", line + label)


def count_rounds_again(rounds):
    """Return the counted rounds with a first one that does not count."""
    counted = list(drop_warm_up(rounds))
    return [counted[0], *counted] if len(counted) > 1 else [*counted, *counted]


def test_rounds_that_spread_are_too_noisy_and_equal_ones_take_about_as_long():
    spread = measure_ratio([9, 0.8, 1.1, 2.4], [9, 1.0, 1.0, 1.0])
    assert (spread.unsure, spread.between) == (TOO_NOISY, "0.8 and 2.4")
    assert describe_cost(spread) == TOO_NOISY
    equal = measure_ratio([9, 1.0, 1.05], [9, 1.0, 1.02])
    assert equal.unsure == AS_LONG
    sure = measure_ratio([9, 2.0, 2.1], [9, 1.0, 1.1])
    assert not sure.unsure and describe_cost(sure) == "about 2"


def test_the_first_round_warms_up_and_counts_only_beside_one_other():
    assert list(drop_warm_up([9, 1, 2])) == [1, 2]
    assert list(drop_warm_up([9, 1])) == [9, 1]


def test_a_ratio_can_be_pickled_with_its_rounds():
    ratio = measure_ratio([9, 2.0, 2.1], [9, 1.0, 1.1])
    assert vars(pickle.loads(pickle.dumps(ratio))) == vars(ratio)
    assert vars(pickle.loads(pickle.dumps(Ratio(2.0, 3.0, 7))))["high"] == 3.0


@pytest.mark.parametrize(("slow_round", "said"), [(1.0, "about 2"), (3.0, TOO_NOISY)])
def test_a_busy_moment_in_one_round_is_said(monkeypatch, slow_round, said):
    clock = SimpleNamespace(now=0.0, rounds=0)

    def unit():
        clock.rounds += 1
        clock.now += slow_round if clock.rounds == 4 else 1.0

    def twice():
        clock.now += 2.0

    monkeypatch.setattr(costs, "ENOUGH", 100)
    monkeypatch.setattr(costs, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(costs, "seconds_waited", lambda: 0.0)
    [row] = costs.measure_costs(unit, {"twice": twice}).rows
    assert row.words.startswith(said)


class BusyClock:
    """A clock under which other programs take the processor away, by the same rule each time."""

    def __init__(self, away, after):
        self.now, self.worked, self.waited = 0.0, 0.0, 0.0
        self.away, self.after = away, after

    def work(self, seconds):
        """Work so long; after each `after` seconds of it, others have the processor for `away`."""
        before = self.worked // self.after
        self.worked += seconds
        waited = self.away * (self.worked // self.after - before)
        self.waited += waited
        self.now += seconds + waited


@given(
    st.floats(1e-5, 1e-3),
    st.floats(1.5, 50),
    st.floats(0.004, 0.1),
    st.floats(0.006, 0.02),
    st.booleans(),
)
def test_a_busy_machine_turns_no_order_round(unit, times, away, after, counted):
    """Case of a stored table: a tracer seemed 16 times as quick as the call without it."""
    clock = BusyClock(away, after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "perf_counter", lambda: clock.now)
        patch.setattr(costs, "seconds_waited", lambda: clock.waited if counted else 0.0)
        actions = {"slower": lambda: clock.work(unit * times), "long": lambda: clock.work(0.07)}
        row, _ = costs.measure_costs(lambda: clock.work(unit), actions).rows
    assert row.ratio > 1 or row.ratio.unsure
    if counted:
        assert row.ratio == pytest.approx(times, rel=0.03), "how busy the machine was is left out"


def test_no_action_always_follows_the_same_one(monkeypatch):
    clock, order = SimpleNamespace(now=0.0), []

    def action(name):
        def takes_a_second():
            order.append(name)
            clock.now += 1.0

        return takes_a_second

    monkeypatch.setattr(costs, "ENOUGH", 100)
    monkeypatch.setattr(costs, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(costs, "seconds_waited", lambda: 0.0)
    costs.measure_costs(action("unit"), {name: action(name) for name in "ab"})
    assert order[:9] == ["unit", "a", "b", "a", "b", "unit", "b", "unit", "a"]
