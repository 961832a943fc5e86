"""What a graph says must be seen is what is seen, in every run of every program."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.capture.tensorflow import variable_outcomes
from helpers.capture.tensorflow.variable_outcomes import (
    build_race_histogram,
    build_variables_ledger,
)
from helpers.capture.tensorflow.variable_runs import KINDS, count_outcomes
from helpers.capture.tensorflow.variable_values import format_result

tf = pytest.importorskip("tensorflow")
after = tf.control_dependencies
REF, RESOURCE = KINDS


def read_then_use(v, one):
    before = v.read_value()
    with after([before]):
        update = v.assign_add(one)
    with after([update]):
        return before + 10


def read_and_update(v, one):
    before = v.read_value()
    with after([before]):
        return [before, v.assign_add(one)]


def three_updates(v, one):
    reads = []
    for _ in range(3):
        with after(reads[-1:]):
            update = v.assign_add(one)
        with after([update]):
            reads.append(v.read_value())
    return reads


def classic(v, one):
    with after([v.assign_add(one)]):
        return v + 0


def unordered(v, one):
    return [v.read_value(), v.assign_add(one)]


def test_the_three_certain_differences_and_the_famous_example_without_one():
    named = {f.__name__: f for f in (read_then_use, read_and_update, three_updates, classic)}
    ledger = build_variables_ledger(named, runs=200)
    told = {entry.subject: [v.word for v in entry.verdicts] for entry in ledger.entries}
    one = {"read_then_use": ["11", "10"], "classic": ["1", "1"]}
    many = {"read_and_update": ["1, 1", "0, 1"], "three_updates": ["3, 3, 3", "1, 2, 3"]}
    assert told == one | many
    assert "200 times" in ledger.note and ledger.entries[0].verdicts[1].tone == "changed"


def test_a_race_stays_within_what_is_allowed():
    histogram = build_race_histogram(unordered, runs=300)
    assert histogram.saw(REF) == ("1, 1",)
    assert set(histogram.saw(RESOURCE)) <= {"0, 1", "1, 1"}
    assert sum(row.runs for row in histogram.rows) == 600


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=9), min_size=1, max_size=5))
def test_the_range_of_an_outcome_is_that_of_its_share_in_each_round(runs_of_rounds):
    rounds = [Counter(runs) for runs in runs_of_rounds]
    total = sum(rounds, Counter())
    for row in variable_outcomes.build_race_rows(RESOURCE, total, rounds, max(total.total(), 1)):
        shares = [100 * runs.count(row.saw) / len(runs) for runs in runs_of_rounds if runs]
        assert row.between == f"{min(shares):.0f} to {max(shares):.0f} %"


def test_the_range_of_many_rare_outcomes_is_one(monkeypatch):
    monkeypatch.setattr(variable_outcomes, "MOST_OUTCOMES", 1)
    rounds = [Counter("aab"), Counter("acd")]
    rows = list(variable_outcomes.build_race_rows(REF, sum(rounds, Counter()), rounds, 6))
    assert [(row.runs, re.findall(r"\d+", row.between)) for row in rows] == [
        (3, ["33", "67"]),
        (3, ["33", "67"]),
    ]
    assert rows[0].saw == "a" and re.findall(r"\d+", rows[1].saw) == ["3"]


def test_an_error_in_a_run_is_an_outcome():
    def divides(v, one):
        return tf.compat.v1.assert_equal(
            v.read_value(), one, data=[one]
        ).outputs or tf.check_numerics((v - v) / (v - v), "not a number")

    (saw,) = count_outcomes(divides, RESOURCE, 2)
    assert saw.startswith("InvalidArgumentError")


def test_only_other_results_are_marked_not_another_number_of_runs():
    one, other = Counter({"1": 3, "2": 1}), Counter({"2": 3, "1": 1})
    row = variable_outcomes.build_program_entry
    assert row("a", one, other).verdicts[1].tone == "plain"
    assert row("a", one, one).verdicts[1].tone == "plain"
    assert row("a", one, Counter({"1": 4})).verdicts[1].tone == "changed"
    first, second = row("a", one, other).verdicts[0].word.split(variable_outcomes.SEVERAL)
    assert first.startswith("1 (3 ") and second.startswith("2 (")


def test_results_that_are_not_equal_have_other_words():
    arrays = [np.zeros(2), np.ones(2), np.zeros((2, 2)), np.zeros(99), np.ones(99), np.arange(99)]
    numbers = [
        np.float32(1 / 3),
        np.float64(1 / 3),
        np.float32(0.333333),
        2**60,
        np.int64(2**60 + 1),
    ]
    texts = [b"a", b"b", {"a": np.float32(1)}, {"a": np.float32(2)}, True, None]
    words = [format_result(value) for value in (*arrays, *numbers, *texts)]
    assert len({*words}) == len(words), words
    assert words[0] == "[0, 0]" and words[-4] == "a: 1"
