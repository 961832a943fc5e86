"""The harness, on clocks that stand still but for what a side takes: verdicts, choice, crashes."""

import itertools

import pytest

import tests.benchmarks.__main__ as bench
from tests.benchmarks import harness
from tests.benchmarks.harness import ENDED, LACKING, MET, MISSED, NOISY, TOLD, Goal, Result


class Clock:
    """A clock that only its sides move."""

    def __init__(self):
        self.now, self.ran = 0.0, []

    def __call__(self):
        return self.now

    def side(self, *seconds, name=""):
        """Return a side that takes so long, by turns."""
        turns = itertools.cycle(seconds)

        def side():
            self.ran.append(name)
            self.now += next(turns)

        return side


@pytest.fixture
def clock():
    return Clock()


def measured(clock, one, other=(1,), **options):
    goal = Goal("a", clock.side(*one), "b", clock.side(*other), clock=clock, **options)
    (result,) = harness.measured([goal])
    return result


@pytest.mark.parametrize(
    ("one", "bounds", "verdict"),
    [
        ([2], {"at_most": 3}, MET),
        ([3], {"at_most": 3}, MET),
        ([4], {"at_most": 3}, MISSED),
        ([2, 4], {"at_most": 3}, NOISY),
        ([9], {"at_least": 8}, MET),
        ([7], {"at_least": 8}, MISSED),
        ([7, 9], {"at_least": 8}, NOISY),
        ([2], {"at_least": 1, "at_most": 3}, MET),
        ([4], {"at_least": 1, "at_most": 3}, MISSED),
        ([0.5], {"at_least": 1, "at_most": 3}, MISSED),
        ([2], {}, TOLD),
    ],
)
def test_the_quartiles_decide(clock, one, bounds, verdict):
    result = measured(clock, one, rounds=16, **bounds)
    assert result.verdict == verdict
    assert result.quartiles == (min(one), max(one))


def test_one_round_that_is_spoilt_changes_no_verdict(clock):
    result = measured(clock, [2] * 8 + [99], rounds=9, at_most=3)
    assert (result.median, result.verdict) == (2, MET)
    assert (result.compared, result.goal) == ("a / b", "at most 3")


def test_what_slows_both_sides_slows_no_ratio(clock):
    slow = [1, 1, 50, 1, 7, 1]
    assert measured(clock, slow, slow, rounds=12, at_most=1).quartiles == (1, 1)


def test_the_sides_take_turns(clock):
    one, other = (clock.side(1, name=name) for name in "ab")
    harness.ratios(Goal("", one, "", other, rounds=4, clock=clock))
    assert "".join(clock.ran) == "aabb" + "abba" * 2


def test_what_is_quick_is_repeated_until_the_clock_can_tell(clock):
    result = measured(clock, [harness.ENOUGH / 100], [harness.ENOUGH / 50])
    assert result.median == pytest.approx(0.5)
    assert harness.repeats(clock.side(harness.ENOUGH / 100), clock) == 128
    assert harness.repeats(clock.side(0), clock) == harness.MOST_CALLS


def test_a_first_call_that_is_slow_counts_for_nothing(clock):
    quick = harness.ENOUGH / 100
    side = clock.side(9, *[quick] * 10_000)
    assert harness.repeats(side, clock) == 128
    assert measured(clock, [9] + [1] * 99, rounds=8).quartiles == (1, 1)


def test_what_prepares_a_side_is_not_measured(clock):
    ended = []

    @harness.prepared
    def ready():
        clock.now += 1000
        yield clock.side(2)
        ended.append(1)

    goal = Goal("", ready, "", clock.side(1), rounds=5, clock=clock)
    assert harness.ratios(goal) == [2] * 5
    assert len(ended) == 6  # a round each, and one to warm up


def test_what_is_missing_ends_a_benchmark_and_keeps_what_was_measured(clock):
    def goals():
        harness.needs("json")
        yield Goal("a", clock.side(1), "b", clock.side(1), clock=clock)
        harness.needs("json", "no_such_module", program="no such program")
        yield None

    first, last = harness.measured(goals())
    assert first.verdict == TOLD and last.verdict == LACKING
    assert last.compared == "no_such_module and no such program not installed"


# -- the command -----------------------------------------------------------------------------------


def test_every_file_with_goals_is_a_benchmark(tmp_path):
    (tmp_path / "one.py").write_text('"""One line.\n\nMore."""\ndef goals(): ...\n')
    (tmp_path / "other.py").write_text("goals = 1\n")
    assert bench.benchmarks(tmp_path) == {"one": "One line."}
    here = {"__init__", "__main__", "byterun_style", "harness", "test_harness"}
    here |= {"layout", "layout_graphs"}  # they count crossings, which takes no clock
    assert set(bench.benchmarks()) == {file.stem for file in bench.HERE.glob("*.py")} - here


def test_words_choose_by_name():
    names = {"frame_hook": "", "traces": "", "tracers": ""}
    assert bench.chosen([], names) == list(names)
    assert bench.chosen(["trace"], names) == ["traces", "tracers"]
    assert bench.chosen(["traces", "hook"], names) == ["frame_hook", "traces"]


def test_an_unknown_name_is_one_sentence(capsys):
    assert bench.main(["hook", "hok"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "'hok'" in said
    assert all(name in said for name in bench.benchmarks())


def test_list_names_the_benchmarks_and_runs_none(capsys):
    assert bench.main(["--list", "hook"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("frame_hook  What the frame hook costs") and told.count("\n") == 1


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [([MET, NOISY, TOLD, LACKING], 0), ([MET, MISSED], 1), ([ENDED, MET], 1), ([], 0)],
)
def test_the_exit_code_tells_what_is_missed(capsys, verdicts, code):
    results = [Result("a / b", verdict, "at most 1", 0.5, (0.25, 0.75)) for verdict in verdicts]
    assert bench.report(["one"], lambda name: results) == code
    said = capsys.readouterr()
    assert all(f"at most 1  {verdict}" in said.out for verdict in verdicts)
    told = ["[1/1] one", *(f"  a / b: {verdict}" for verdict in verdicts)]
    assert said.err.splitlines() == told


def test_ctrl_c_shows_what_was_measured(capsys):
    def run(name):
        yield Result("a / b", MET, "at most 1", 0.5, (0.25, 0.75))
        raise KeyboardInterrupt

    assert bench.report(["one", "two"], run) == 130
    said = capsys.readouterr()
    assert "a / b" in said.out and "rest was not measured" in said.out
    assert "two" not in said.err


SAMPLE = """
import os
from tests.benchmarks.harness import Goal, needs

def goals():
    print("from Python")
    os.write(1, b"from C\\n")
    yield Goal("a", list, "b", dict, rounds=2)
    {ending}
"""
ENDINGS = {
    "dies": ("os._exit(3)", "exit code 3", ENDED),
    "raises": ("1 / 0", "exit code 1", ENDED),
    "hangs": ("import time; time.sleep(600)", "no end in 2 s", ENDED),
    "lacks": ("needs('no_such_module')", "no_such_module not installed", LACKING),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_benchmark_that_ends_early_is_told_with_its_name(tmp_path, monkeypatch, capfd, name):
    ending, words, verdict = ENDINGS[name]
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples" / f"{name}.py").write_text(SAMPLE.format(ending=ending))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    *before, last = bench.in_child(name, "samples", limit=2 if name == "hangs" else 300)
    assert name == "hangs" or [result.compared for result in before] == ["a / b"]
    assert (last.compared, last.verdict) == (words, verdict)
    assert bench.row(name, last) == [name, words, "", "", "", verdict]
    assert ("ZeroDivisionError" in capfd.readouterr().err) == (name == "raises")
