"""The front door: all that it offers is there, and nothing is imported before it is asked for."""

import ast
import inspect
import json
import os
import sys

import pytest

import helpers
from helpers import verbs
from helpers.exhibit import Exhibit
from helpers.study import check
from tests.opened import FRAMEWORKS, IMPORTS, NOTEBOOKS
from tests.pythons import ROOT, finished
from tests.without import cells_without

HEAVY = ("numpy", "networkx", "torch", "tensorflow", "keras")


def modules_after(source: str) -> set[str]:
    """Return the modules that a fresh interpreter has imported after running this source."""
    code = f"{source}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    return set(json.loads(finished([sys.executable, "-c", code], cwd=ROOT).stdout))


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "helpers"}


def first_cell(chapter: str) -> str:
    """Return the front-door lines of a chapter's set-up cell."""
    [path] = (ROOT / "notebooks").glob(f"{chapter}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = next("".join(c["source"]) for c in cells if c["cell_type"] == "code").splitlines()
    return "\n".join(line for line in lines if line.startswith("from helpers import "))


def cells_until_exhibit(path) -> str:
    """Return the source of a notebook's code cells until the first that shows more than text."""
    sources = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            sources.append("".join(cell["source"]))
            if any("text/html" in output.get("data", {}) for output in cell["outputs"]):
                break
    return "\n".join(sources)


@pytest.fixture(scope="module")
def everything():
    asked = "import helpers\n[getattr(helpers, name) for name in helpers._HOMES]"
    return modules_after(f"{asked}\nlist(helpers.check)")


def test_every_name_is_there_and_says_what_it_does():
    for name in helpers._HOMES:
        assert getattr(helpers, name).__doc__, name
    assert set(helpers._HOMES) <= set(dir(helpers))


def test_a_star_brings_what_is_asked_for_most_or_every_instrument():
    assert helpers.__all__ == sorted(set(helpers.__all__)) and 20 <= len(helpers.__all__) <= 30
    assert set(helpers.__all__) < set(verbs.__all__) == set(helpers.INSTRUMENTS)
    assert all(getattr(verbs, name) is getattr(helpers, name) for name in verbs.__all__)


@pytest.mark.parametrize("name", ["show_names", "watch_stack", "watch_traces"])
def test_signature_of_a_verb_says_that_it_returns_an_exhibit(name):
    assert issubclass(inspect.signature(getattr(helpers, name)).return_annotation, Exhibit)


def test_exercises_are_those_of_the_chapters():
    for name in dir(check):
        assert getattr(check, name).name == name
    chapters = [sys.modules[f"helpers.study.chapter_{n}"] for n in range(8)]
    names = [e.name for chapter in chapters for e in chapter.EXERCISES]
    assert names == list(check._chapters_by_name)


def test_door_alone_imports_nothing():
    assert own(modules_after("import helpers")) == {"helpers"}


@pytest.mark.parametrize("chapter", ["00", "01", "02", "03", "04", "05", "06", "07"])
def test_set_up_cell_takes_what_it_uses(everything, chapter):
    taken = modules_after(first_cell(chapter))
    assert chapter == "05" or not taken.intersection(HEAVY)  # its kernels are numpy's
    assert 2 * len(own(taken)) <= len(own(everything))


def test_no_framework_is_imported_by_any_verb_before_it_runs(everything):
    assert not everything.intersection(("torch", "tensorflow", "keras"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_s_first_exhibit_loads_no_framework_that_its_cells_do_not_import(path):
    """The first exhibit of the tour took seven seconds for two frameworks that no cell named."""
    source = cells_until_exhibit(path)
    named = {name.partition(".")[0] for name in IMPORTS.findall(source)}
    if named:
        assert path.name[:2] != "00"  # the tour's is there at once
        return
    assert not modules_after(source).intersection(FRAMEWORKS)


def test_a_kernel_of_the_course_is_prepared_and_a_program_is_not():
    names = "'TF_CPP_MIN_LOG_LEVEL', 'TF_ENABLE_ONEDNN_OPTS'"
    shown = f"import os; {{{names}}} & {{*os.environ}}"
    gone = f"import os; [os.environ.pop(name, 0) for name in ({names})]"
    cells = [gone, shown, "import helpers", shown, "get_ipython().custom_exceptions"]
    *_, before, _, after, hook = cells_without([], cells)
    assert "TF_CPP" not in before.shown and "set()" in before.shown
    assert "TF_CPP_MIN" in after.shown and "TF_ENABLE_ONEDNN" in after.shown
    assert "Exception" in hook.shown
    program = [sys.executable, "-c", f"import helpers\n{shown.replace('; ', '; print(')})"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    assert finished(program, cwd=ROOT, env=env).stdout == "set()\n"


@pytest.mark.parametrize("name", helpers.__all__)
def test_help_has_an_example_and_names_what_the_result_has(name):
    words = " ".join(inspect.getdoc(getattr(helpers, name)).split())
    assert words.count("Example: `") == 1
    examples = words.partition("Example: ")[2].split("`")[1::2]
    assert all(map(ast.parse, examples)) and f"{name}(" in examples[0]
    assert ".model" in words or name in ("rebind_everywhere", "would_trace")
