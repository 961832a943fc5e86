"""The folded solutions are the one copy: splice each in and see it pass; likewise each mistake.

Each chapter's run in an interpreter of their own, as in its notebook.
"""

import linecache
import re
from pathlib import Path

import nbformat
import pytest

import helpers
from helpers import check

pytestmark = pytest.mark.own_process(by="chapter")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)


def exercises():
    """Yield (name, chapter, cells before the stub, stub, check cell, solution) of each exercise."""
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        for position, cell in enumerate(cells):
            called = re.search(r"^check\.(\w+)\(", cell.source, re.MULTILINE)
            if cell.cell_type == "code" and called and "<details>" in cells[position + 1].source:
                start = _heading_before(cells, position)
                context = [c.source for c in cells[start : position - 1] if c.cell_type == "code"]
                solution = FENCED.search(cells[position + 1].source).group(1)
                stub, asked = cells[position - 1].source, cell.source
                yield called.group(1), path.stem[:2], "\n".join(context), stub, asked, solution


def _heading_before(cells, position):
    headed = re.compile(r"^#{2,3} ", re.MULTILINE)
    return [i for i in range(position) if headed.search(cells[i].source)][-1]


ALL = {name: rest for name, *rest in exercises()}
NAMED = [(rest[0], name) for name, rest in ALL.items()]


def verdict(name, answer):
    _, context, _, asked, _ = ALL[name]
    source = f"{context}\n{answer}"
    linecache.cache["<answer>"] = (len(source), None, source.splitlines(True), "<answer>")
    space = {name: getattr(helpers, name) for name in helpers.__all__} | {"__name__": "learner"}
    exec(compile(source, "<answer>", "exec"), space)
    *setup, call = asked.strip().split("\n")
    exec("\n".join(setup), space)
    return eval(call, space).model


def test_every_exercise_stands_in_a_notebook():
    assert set(ALL) == {exercise.name for exercise in check}


@pytest.mark.parametrize(("chapter", "name"), NAMED)
def test_stub_is_untried(chapter, name):
    assert verdict(name, ALL[name][2]).state == "untried"


@pytest.mark.parametrize(("chapter", "name"), NAMED)
def test_solution_passes(chapter, name):
    outcome = verdict(name, ALL[name][4])
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize(
    ("chapter", "name", "mistake"),
    [
        (ALL[exercise.name][0], exercise.name, mistake)
        for exercise in check
        if exercise.name in ALL
        for mistake in exercise.mistakes
    ],
)
def test_known_mistake_is_named(chapter, name, mistake):
    outcome = verdict(name, mistake.sample)
    assert outcome.state == "failed"
    assert mistake.says in outcome.because


@pytest.mark.parametrize("exercise", list(check), ids=lambda exercise: exercise.name)
def test_exercise_has_three_hints_and_named_mistakes(exercise):
    assert len(exercise.hints) >= 3
    assert len(exercise.mistakes) >= 3
