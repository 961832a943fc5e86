"""The notebooks -> each exercise as it stands there: stub, check cell, and the folded solution."""

import gc
import json
import linecache
import logging
import os
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import helpers
from helpers.model.study_records import find_exercise_cells
from tests.own_process import REPORTS

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("0*.ipynb"))


class Folded(NamedTuple):
    """One exercise: number of its chapter, source of the cells before the stub, and its own."""

    chapter: str
    context: str
    stub: str
    asked: str
    solution: str


def _exercises():
    """Yield (name, exercise) of each check that a folded solution follows."""
    for path in NOTEBOOKS:
        # nbformat would take longer to import than a chapter
        cells = json.loads(path.read_text("utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells]
        for one in find_exercise_cells(cells):
            context = [sources[at] for at in range(one.heading, one.stub) if _is_code(cells[at])]
            parts = ("\n".join(context), sources[one.stub], sources[one.check], one.solution)
            yield one.name, Folded(path.stem[:2], *parts)


def _is_code(cell) -> bool:
    return cell["cell_type"] == "code"


EXERCISES = dict(_exercises())


def _set_aside() -> None:
    """Take what is there now out of the collector's lists, or each walk of a judge meets it all."""
    gc.collect()
    gc.freeze()


@contextmanager
def _nobody_warns():
    """Fail if something in the block warns: a check says what is wrong in its own words."""
    said, logger = [], logging.getLogger("tensorflow")
    handler = logging.Handler(logging.WARNING)
    handler.emit = said.append
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True, action="always") as warned:
            yield
    finally:
        logger.removeHandler(handler)
    assert [str(each) for each in (*said, *warned)] == []


def verdict(name: str, answer: str):
    """Run an answer in place of the stub, then its check -> the check's `Outcome`."""
    [outcome] = verdicts(name, answer)
    return outcome


def verdicts(name: str, *answers: str):
    """Run the cells before an exercise, then each answer and its check -> the outcomes.

    All of it runs in one namespace, as in a notebook whose reader tries again.
    """
    # In a child alone, for other tests look for holders; and not where an exercise does.
    if REPORTS in os.environ and EXERCISES[name].chapter != "01":
        _set_aside()
    space = {name: getattr(helpers, name) for name in helpers.__all__} | {"__name__": "learner"}
    space["suppress"] = suppress  # as the first cell of chapters 6 and 7 has it
    context = EXERCISES[name].context
    for answer in answers:
        yield _outcome(name, f"{context}\n{answer}", space)
        context = ""


def _outcome(name: str, source: str, space: dict):
    linecache.cache["<answer>"] = (len(source), None, source.splitlines(True), "<answer>")
    exec(compile(source, "<answer>", "exec"), space)
    *setup, call = EXERCISES[name].asked.strip().split("\n")
    exec("\n".join(setup), space)
    with _nobody_warns():
        return eval(call, space).model
