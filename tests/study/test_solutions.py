"""The folded solutions are the one copy: splice each in and see it pass; likewise each mistake.

Each chapter's run in an interpreter of their own, as in its notebook.
"""

import json

import pytest

from helpers import check
from helpers.capture.processes import child
from tests.study.folded import EXERCISES, verdict
from tests.study.mistakes import MISTAKES, made

pytestmark = pytest.mark.own_process(by="chapter", sharing="judges")

NAMED = [(exercise.chapter, name) for name, exercise in EXERCISES.items()]
ANSWERS = {}  # request of a child, as JSON -> its result


@pytest.fixture(autouse=True)
def each_program_is_run_once(monkeypatch):
    """Give the result of an earlier child that was asked the same: most of its time are imports.

    A child starts in an empty folder, so its program and its limit decide what it answers.
    """
    ask = child.ask_child

    def ask_once(request, seconds, env=None, **options):
        key = json.dumps([request, seconds, sorted(env or {})])
        if key not in ANSWERS:
            ANSWERS[key] = ask(request, seconds, env, **options)
        return ANSWERS[key]

    monkeypatch.setattr(child, "ask_child", ask_once)


def test_notebooks_and_check_have_the_same_exercises():
    place = "`check` in helpers/study/__init__.py, or a notebook, lacks it"
    assert set(EXERCISES) == {exercise.name for exercise in check}, place


@pytest.mark.parametrize(("chapter", "name"), NAMED)
def test_stub_is_untried(chapter, name):
    assert verdict(name, EXERCISES[name].stub).state == "untried"


@pytest.mark.parametrize(("chapter", "name"), NAMED)
def test_solution_passes(chapter, name):
    outcome = verdict(name, EXERCISES[name].solution)
    assert outcome.state == "passed", outcome.because
    assert (outcome.picture is None) == (getattr(check, name).picture is None)


STEPS = [one for one in NAMED if one[1] in ("batches", "slow_training", "every_step")]


@pytest.mark.parametrize(("chapter", "name"), STEPS)
def test_a_step_that_has_its_graphs_already_passes_again(chapter, name, monkeypatch):
    exercise = EXERCISES[name]
    asked = exercise.asked.strip()
    call = asked.splitlines()[-1]
    monkeypatch.setitem(EXERCISES, name, exercise._replace(asked=f"{asked}\n{call}"))
    outcome = verdict(name, exercise.solution)
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize(
    ("chapter", "name", "mistake"),
    [(chapter, name, mistake) for chapter, name in NAMED for mistake in MISTAKES[name]],
)
def test_known_mistake_is_named(chapter, name, mistake):
    says, *pieces = mistake
    outcome = verdict(name, made(EXERCISES[name].solution, *pieces))
    assert outcome.state == "failed"
    assert says in outcome.because


@pytest.mark.parametrize("exercise", list(check), ids=lambda exercise: exercise.name)
def test_exercise_has_three_hints_and_named_mistakes(exercise):
    assert len(exercise.hints) >= 3
    assert len(MISTAKES[exercise.name]) >= 3
