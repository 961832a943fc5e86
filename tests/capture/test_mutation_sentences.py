"""What two calls changed -> the verdict of a way: which call, which tone, and what is not known."""

import pytest

from helpers.capture.tensorflow.mutation_runs import MutatingCall, WayRun
from helpers.capture.tensorflow.mutation_sentences import (
    AT_BOTH,
    AT_FIRST,
    AT_SECOND,
    AT_TRACE,
    MODIFIED,
    NOT_KNOWN,
    SEEDED,
    UNCHANGED,
    describe_run,
)
from helpers.capture.tensorflow.reachable_state import ReachableState


def run_of(first=(), second=(), traces=(0, 0), error="", **facts) -> WayRun:
    """Return the record of two calls that changed these paths."""
    changes = [dict.fromkeys(first, 1), dict.fromkeys(second, 1)]
    defaults = {
        "reachable": ReachableState([]),
        "leaked_paths": [],
        "frameworks": set(),
        "draws_with_seed": False,
        "thread_errors": [],
        "library_settings": {},
    }
    calls = [MutatingCall(paths, count) for paths, count in zip(changes, traces, strict=True)]
    return WayRun(calls=calls, error=error, **defaults | facts)


@pytest.mark.parametrize(
    ("run", "moments", "tone"),
    [
        (run_of(), [UNCHANGED], "plain"),
        (run_of(["a"], ["a"]), [f"{AT_BOTH}: a"], "plain"),
        (run_of(["a"]), [f"{AT_FIRST}: a"], "changed"),
        (run_of(["a"], traces=(1, 0)), [f"{AT_TRACE}: a"], "changed"),
        (run_of(["a"], traces=(1, 1)), [f"{AT_FIRST}: a"], "changed"),
        (run_of([], ["a"]), [f"{AT_SECOND}: a"], "changed"),
        (run_of(["a", "b"], ["b"]), [f"{AT_FIRST}: a", f"{AT_BOTH}: b"], "changed"),
    ],
)
def test_the_verdict_groups_the_paths_by_the_calls_that_changed_them(run, moments, tone):
    verdict, sentences = describe_run(run)
    assert verdict.word.split("; ")[1:] == moments
    assert (verdict.tone, sentences) == (tone, [])


def test_a_graph_tensor_that_stays_is_a_failure():
    verdict, _ = describe_run(run_of(["a"], ["a"], leaked_paths=["kept[0]"]))
    assert verdict.tone == "failed" and verdict.word.endswith("kept[0]")


def test_nothing_is_called_unchanged_that_was_not_compared():
    reachable = ReachableState([])
    reachable.is_cut = True
    verdict, sentences = describe_run(run_of(reachable=reachable))
    assert NOT_KNOWN in verdict.word and len(sentences) == 1
    verdict, sentences = describe_run(run_of(reachable=ReachableState([("x", memoryview(b"a"))])))
    assert NOT_KNOWN in verdict.word and sentences[0].endswith("memoryview")


@pytest.mark.parametrize(("changed", "tone"), [([], "refused"), (["a"], "failed")])
def test_tensorflow_has_refused_a_change_only_if_nothing_did_change(changed, tone):
    run = run_of(changed, error=f"ValueError: step() {MODIFIED} rows")
    verdict, (sentence, *_) = describe_run(run)
    assert verdict.tone == tone and verdict.word.startswith("ValueError;")
    assert sentence.endswith("rows") and MODIFIED not in sentence


def test_any_other_error_is_shown_whole():
    verdict, sentences = describe_run(run_of(error="KeyError: 'a'"))
    assert verdict.tone == "failed" and sentences == ["KeyError: 'a'"]


def test_the_row_says_what_could_not_be_restored():
    run = run_of(draws_with_seed=True, thread_errors=["OSError: full"])
    _, (seeded, thread_error) = describe_run(run)
    assert seeded == SEEDED and thread_error.endswith("OSError: full")
