"""The harness, on clocks that stand still but for what a side takes: verdicts, choice, crashes."""

import itertools

import pytest

import tests.benchmarks.__main__ as bench
from tests.benchmarks import harness
from tests.benchmarks.harness import ENDED, LACKING, MET, MISSED, NOISY, RAN, TOLD, Goal, Result

pytestmark = pytest.mark.long


class Clock:
    """A clock that only its sides move."""

    now = 0.0

    def __call__(self):
        return self.now

    def side(self, *seconds):
        """Return a side that takes so long, by turns."""
        turns = itertools.cycle(seconds)

        def side():
            self.now += next(turns)

        return side


@pytest.mark.parametrize(
    ("one", "bounds", "verdict"),
    [
        ([3], {"at_most": 3}, MET),
        ([4], {"at_most": 3}, MISSED),
        ([2, 4], {"at_most": 3}, NOISY),
        ([7], {"at_least": 8}, MISSED),
        ([7, 9], {"at_least": 8}, NOISY),
        ([2], {"at_least": 1, "at_most": 3}, MET),
        ([0.5], {"at_least": 1, "at_most": 3}, MISSED),
        ([2] * 15 + [99], {"at_most": 3}, MET),  # one round that is spoilt
        ([2], {}, TOLD),
    ],
)
def test_the_quartiles_of_the_ratio_decide(one, bounds, verdict):
    clock = Clock()
    goal = Goal("a", clock.side(*one), "b", clock.side(1), rounds=16, clock=clock, **bounds)
    [result] = harness.measured([goal])
    assert (result.compared, result.verdict) == ("a / b", verdict)
    assert result.median in (sorted(one)[len(one) // 2], sum(one) / len(one))


def test_sides_take_turns_and_what_is_slow_at_first_or_to_prepare_is_not_measured():
    clock, slow = Clock(), [1, 1, 50, 1, 7, 1]
    both = [clock.side(*slow), clock.side(*slow)]
    assert harness.ratios(Goal("", both[0], "", both[1], rounds=12, clock=clock)) == [1] * 12
    quick = harness.ENOUGH / 100
    assert harness.repeats(clock.side(9, *[quick] * 10_000), clock) == 128
    assert harness.repeats(clock.side(0), clock) == harness.MOST_CALLS

    @harness.prepared
    def ready():
        clock.now += 1000
        yield clock.side(2)

    assert harness.ratios(Goal("", ready, "", clock.side(1), rounds=5, clock=clock)) == [2] * 5


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [([MET, NOISY, TOLD, LACKING, RAN], 0), ([MET, MISSED], 1), ([ENDED, MET], 1)],
)
def test_the_table_and_the_exit_code_tell_what_is_missed(capsys, verdicts, code):
    results = [Result("a / b", verdict, "at most 1", 0.5, (0.25, 0.75)) for verdict in verdicts]
    assert bench.report({"one": "module"}, lambda *names: results) == code
    said = capsys.readouterr()
    assert all(f"0.25 to 0.75  at most 1  {verdict}" in said.out for verdict in verdicts)
    told = ["[1/1] one", *(f"  a / b: {verdict}" for verdict in verdicts)]
    assert said.err.splitlines() == told


def test_ctrl_c_shows_what_was_measured(capsys):
    def run(*names):
        yield Result("a / b", MET, "at most 1", 0.5, (0.25, 0.75))
        raise KeyboardInterrupt

    assert bench.report({"one": "", "two": ""}, run) == 130
    said = capsys.readouterr()
    assert "a / b" in said.out and "rest was not measured" in said.out


@pytest.mark.parametrize("short", [False, True])
def test_a_short_run_calls_each_side_once_with_the_smallest_size_and_judges_nothing(
    monkeypatch, short
):
    monkeypatch.setattr(harness._Length, "short", short)
    clock, calls = Clock(), []

    def slow():
        calls.append(harness.size(1000, 1))
        clock.now += 50

    goal = Goal("a", slow, "b", clock.side(1), at_most=3, rounds=4, clock=clock)
    [result] = harness.measured([goal])
    assert result.verdict == (RAN if short else MISSED)
    assert calls == [1] if short else calls.count(1000) == len(calls) > 4


SAMPLE = """
import os
from tests.benchmarks.harness import Goal, needs

def measure_it():
    print("from Python")
    os.write(1, b"from C\\n")
    yield Goal("a", list, "b", dict, rounds=2)
    {ending}
"""


@pytest.mark.parametrize(
    ("ending", "words", "verdict"),
    [
        ("os._exit(3)", "exit code 3", ENDED),
        ("1 / 0", "exit code 1", ENDED),
        ("import time; time.sleep(600)", "no end in 4 s", ENDED),
        ("needs('no_such_module')", "no_such_module not installed", LACKING),
    ],
)
@pytest.mark.parametrize("short", [False, True])
def test_a_benchmark_that_ends_early_is_told(tmp_path, monkeypatch, ending, words, verdict, short):
    (tmp_path / "sample.py").write_text(SAMPLE.format(ending=ending))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    *before, last = bench.in_child("it", "sample", 4 if "sleep" in ending else 300, short)
    assert "sleep" in ending or [result.compared for result in before] == ["a / b"]
    assert (last.compared, last.verdict) == (words, verdict)
    assert bench.row("it", last) == ["it", words, "", "", "", verdict]


def test_a_benchmark_without_a_result_has_ended_early(tmp_path, monkeypatch):
    (tmp_path / "sample.py").write_text("def measure_it():\n    yield from ()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert [*bench.in_child("it", "sample", short=True)] == [Result("no result", ENDED)]
