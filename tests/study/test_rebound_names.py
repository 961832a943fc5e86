"""A cell rebinds no name that the check of an earlier exercise uses, in any notebook.

A learner may run all cells first, and then answer one exercise after another.
"""

import json
from symtable import symtable

import pytest

from helpers.model.study_records import find_exercise_cells
from tests.study.folded import NOTEBOOKS


def assigned(source):
    """Return the names that a cell binds, other than by an import."""
    top = symtable(source, "cell", "exec").get_symbols()
    return {one.get_name() for one in top if one.is_assigned() and not one.is_imported()}


def read(table):
    """Return the global names that a cell, or a function in it, reads."""
    own = {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    if table.get_type() == "module":
        own = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    return own.union(*map(read, table.get_children()))


def names_read(source):
    """Return the names of the notebook that a source reads."""
    return read(symtable(source, "cell", "exec"))


def rebound(cells):
    """Return (exercise, number of a later cell, names) of each cell that takes names away.

    A later exercise may bind its answers to the names of an earlier one, as in its stub.
    """
    sources = ["".join(cell["source"]) * (cell["cell_type"] == "code") for cell in cells]
    exercises = list(find_exercise_cells(cells))
    stubs = {exercise.stub for exercise in exercises}
    for exercise in exercises:
        check = sources[exercise.check]
        given = assigned("\n".join(sources[: exercise.stub]))
        needed = given & (names_read(f"{exercise.solution}\n{check}") - assigned(exercise.solution))
        answers = assigned(sources[exercise.stub]) & names_read(check)
        for place in range(exercise.check + 1, len(cells)):
            taken = assigned(sources[place]) & (needed if place in stubs else needed | answers)
            if taken:
                yield exercise.name, place, sorted(taken)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem[:2])
def test_no_later_cell_rebinds_what_an_earlier_check_uses(path):
    assert list(rebound(json.loads(path.read_text("utf-8"))["cells"])) == []


def test_a_cell_that_rebinds_an_answer_is_found():
    cells = json.loads(NOTEBOOKS[4].read_text("utf-8"))["cells"]
    taking = {"cell_type": "code", "source": ["holds, first = 1, 2"]}
    found = {name: names for name, _, names in rebound([*cells, taking])}
    assert found == {"guard_breaker": ["first"], "guard_set": ["holds"]}
