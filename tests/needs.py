"""A tag of a cell -> what its stored outputs need, and whether this machine has it.

The outputs of a cell with such a tag are compared only where that is here. Elsewhere the cell only
has to run, and the end of the run says so. A test with the mark `needs("c-compiler")` is skipped
there. A new thing in which machines differ is a new row.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from tools.reports.records import NOT_COMPARED

CPP = "#include <vector>\nint main() { return std::vector<int>(0).size(); }\n"
LONGEST = 60  # seconds that a compiler may take for that


class Need(NamedTuple):
    """What a stored output needs, in words, and a function that tells whether it works here."""

    words: str
    works: Callable[[], bool]


def c_compiler_works() -> bool:
    """Return whether the frame hook is built here, or can be."""
    from helpers.mini.frame_hook import building

    try:
        return building.build().is_file()
    except building.NotBuilt:
        return False


def cxx_compiler_works() -> bool:
    """Return whether a C++ compiler is found here and compiles a program of two lines."""
    from helpers.mini.oneflow.cpp_program import find_compiler
    from helpers.safety.children import run_command
    from helpers.safety.folders import make_temporary_folder, write_new

    compiler = find_compiler()
    if compiler is None:
        return False
    with make_temporary_folder("compiler-") as home, home.work() as work:
        write_new(work / "program.cpp", CPP.encode())
        command = [compiler, "-std=c++11", "program.cpp", "-o", "program"]
        try:
            return run_command(command, LONGEST, cwd=work).code == 0
        except OSError:  # it cannot be started
            return False


NEEDS = {
    "needs-c-compiler": Need("a C compiler", cache(c_compiler_works)),
    "needs-cxx-compiler": Need("a C++ compiler", cache(cxx_compiler_works)),
}


def missing_need(tags: Iterable[str]) -> str:
    """Return the first of these tags whose need does not work here; "" without one.

    Other tags say nothing of a need.
    """
    return next((tag for tag in tags if tag in NEEDS and not NEEDS[tag].works()), "")


def pytest_configure(config):
    """Make the mark of tests known."""
    config.addinivalue_line("markers", "needs(what): is skipped where that does not work")


def pytest_runtest_setup(item):
    """Skip a test whose need does not work here."""
    import pytest  # tools.reports.red reads this file with the standard library alone

    for mark in item.iter_markers("needs"):
        if tag := missing_need([f"needs-{word}" for word in mark.args]):
            pytest.skip(f"needs {NEEDS[tag].words}, and none works here")


def pytest_collection_modifyitems(items):
    """Let cells whose need does not work here only run; write that down for the reports."""
    for item in items:
        if not hasattr(item, "cell") or not item.options["check"]:
            continue  # a test, or a cell that is not compared anyway
        if tag := missing_need(item.cell.metadata.get("tags", ())):
            item.options["check"] = False
            item.user_properties.append((NOT_COMPARED, tag))


def not_compared(found: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each notebook and need; `found` has the file and tag of each cell."""
    found = list(found)
    for file, tag in dict.fromkeys(found):
        count, words = found.count((file, tag)), NEEDS[tag].words
        if count == 1:
            yield (
                f"1 cell of {file} needs {words}, and none works here: "
                "it was run, its output was not compared"
            )
        else:
            yield (
                f"{count} cells of {file} need {words}, and none works here: "
                "they were run, their outputs were not compared"
            )
