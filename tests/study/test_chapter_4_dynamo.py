"""The steps of the mini-Dynamo and the cache: finished parts pass, stubs are untried."""

import pytest

pytestmark = [pytest.mark.own_process, pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch")

from helpers import check  # noqa: E402
from helpers.mini import dynamo  # noqa: E402
from helpers.study.chapter_4 import dynamo_steps, evicting  # noqa: E402

STEPS = {
    "binary_op": (dynamo.PARTS.binary_op, dynamo_steps.BINARY_OP),
    "recorder": (dynamo.PARTS.recorder, dynamo_steps.RECORDER),
    "guards": (dynamo.PARTS.guards, dynamo_steps.GUARDS),
    "lookup": (dynamo.PARTS.lookup, dynamo_steps.LOOKUP),
    "receives": (dynamo.PARTS.receives, dynamo_steps.RECEIVES),
}
EXERCISES = {e.name: e for e in (*dynamo_steps.STEP_EXERCISES, evicting.EVICTING)}


def learnt(source, name):
    space = {}
    exec(compile(source, "<answer>", "exec"), space)
    return space[name]


def answer_name(exercise):
    if exercise is evicting.EVICTING:
        return "Cache"
    name = exercise.name.removeprefix("dynamo_")
    return "Recorder" if name == "recorder" else name


@pytest.mark.parametrize("name", STEPS)
def test_finished_part_and_sample_pass(name):
    exercise = EXERCISES[f"dynamo_{name}"]
    for answer in (STEPS[name][0], learnt(STEPS[name][1], answer_name(exercise))):
        outcome = exercise(answer).model
        assert outcome.state == "passed", outcome.because


def test_sample_of_the_cache_passes():
    outcome = check.evicting_cache(learnt(evicting.CACHE, "Cache")).model
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [(exercise, mistake) for exercise in EXERCISES.values() for mistake in exercise.mistakes],
    ids=lambda thing: getattr(thing, "name", None) or getattr(thing, "says", "mistake"),
)
def test_known_mistake_is_named(exercise, mistake):
    outcome = exercise(learnt(mistake.sample, answer_name(exercise))).model
    assert outcome.state == "failed"
    assert mistake.says in outcome.because


@pytest.mark.parametrize("name", EXERCISES)
def test_what_gives_an_ellipsis_is_untried(name):
    class Stub:
        def __init__(self, *args):
            self.graph, self.inputs = torch.fx.Graph(), {}

        find = add = input = call = lambda self, *args: ...

    stub = Stub if name in ("dynamo_recorder", "evicting_cache") else lambda *args: ...
    assert EXERCISES[name](stub).model.state == "untried"


@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize("wrong", [3, "binary_op", None, print, int])
def test_what_is_no_answer_is_refused_in_words(name, wrong):
    assert EXERCISES[name](wrong).model.state in ("failed", "untried")
