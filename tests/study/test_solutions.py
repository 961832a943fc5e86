"""The folded solutions are the one copy: splice each in and see it pass; likewise each mistake."""

import linecache
import re
from pathlib import Path

import nbformat
import pytest

import helpers
from helpers import check

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
FENCED = re.compile(r"```python\n(.*?)```", re.DOTALL)


def exercises():
    """Yield (name, cells before the stub, stub, check cell, solution) of every notebook."""
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        for position, cell in enumerate(cells):
            called = re.search(r"^check\.(\w+)\(", cell.source, re.MULTILINE)
            if cell.cell_type == "code" and called and "<details>" in cells[position + 1].source:
                start = _heading_before(cells, position)
                context = [c.source for c in cells[start : position - 1] if c.cell_type == "code"]
                solution = FENCED.search(cells[position + 1].source).group(1)
                stub, asked = cells[position - 1].source, cell.source
                yield called.group(1), "\n".join(context), stub, asked, solution


def _heading_before(cells, position):
    headed = re.compile(r"^#{2,3} ", re.MULTILINE)
    return [i for i in range(position) if headed.search(cells[i].source)][-1]


ALL = {name: rest for name, *rest in exercises()}


def verdict(name, answer):
    context, _, asked, _ = ALL[name]
    space = {name: getattr(helpers, name) for name in helpers.__all__} | {"__name__": "learner"}
    source = f"{context}\n{answer}"
    linecache.cache["<answer>"] = len(source), None, source.splitlines(True), "<answer>"
    exec(compile(source, "<answer>", "exec"), space)
    *setup, call = asked.strip().split("\n")
    exec("\n".join(setup), space)
    return eval(call, space).model


def test_every_exercise_stands_in_a_notebook():
    assert set(ALL) == {exercise.name for exercise in check}


@pytest.mark.parametrize("name", ALL)
def test_stub_is_untried(name):
    assert verdict(name, ALL[name][1]).state == "untried"


@pytest.mark.parametrize("name", ALL)
def test_solution_passes(name):
    outcome = verdict(name, ALL[name][3])
    assert outcome.state == "passed", outcome.because


@pytest.mark.parametrize(
    ("name", "mistake"),
    [(exercise.name, mistake) for exercise in check for mistake in exercise.mistakes],
)
def test_known_mistake_is_named(name, mistake):
    outcome = verdict(name, mistake.sample)
    assert outcome.state == "failed"
    assert mistake.says in outcome.because


@pytest.mark.parametrize("exercise", list(check), ids=lambda exercise: exercise.name)
def test_exercise_has_three_hints_and_named_mistakes(exercise):
    assert len(exercise.hints) >= 3
    assert len(exercise.mistakes) >= 3
