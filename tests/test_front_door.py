"""The front door: all that it offers is there, and nothing is imported before it is asked for."""

import ast
import inspect
import json
import os
import sys

import pytest

import helpers
from helpers.exhibit import Exhibit
from helpers.safety import former_names
from helpers.study import check
from tests.front_door import HOMES, INSTRUMENTS, NAMES, OF_COURSE
from tests.opened import FRAMEWORKS, IMPORTS, NOTEBOOKS
from tests.pythons import ROOT, finished
from tests.without import cells_without
from tools.draw_instruments import docstring_sections

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
    asked = "import helpers\n[getattr(helpers, name) for name in helpers.__all__]"
    return modules_after(f"{asked}\nlist(helpers.check)")


def test_every_name_is_there_and_says_what_it_does():
    for name in HOMES:
        assert getattr(helpers, name).__doc__, name
    assert sorted(HOMES) == helpers.__all__ == sorted(dir(helpers))


def test_names_of_study_are_known_where_there_is_no_study():
    assert former_names.OF_COURSE == OF_COURSE


@pytest.mark.parametrize("module", [module for module in NAMES if module.startswith("verbs.")])
def test_a_module_of_verbs_defines_what_the_stub_offers_and_nothing_else(module):
    source = (ROOT / "helpers" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    defined = [f.name for f in ast.parse(source).body if isinstance(f, ast.FunctionDef)]
    assert sorted(defined) == sorted(NAMES[module])


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_arguments_of_a_verb_have_types_and_options_are_given_by_name(name):
    signature = inspect.signature(getattr(helpers, name))
    assert signature.return_annotation is not signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter
        is_option = parameter.default is not parameter.empty
        if is_option and name != "show_rosetta":
            assert parameter.kind is parameter.KEYWORD_ONLY, parameter


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_docstring_of_a_verb_has_numpys_sections(name):
    verb = getattr(helpers, name)
    sections = docstring_sections(inspect.getdoc(verb))
    assert sections[""] and sections["Returns"]
    assert set(sections) <= {"", "Parameters", "Returns", "Raises", "Examples"}

    lines = sections.get("Parameters", "").splitlines()
    heads = [line.partition(" : ")[0] for line in lines if line and not line.startswith(" ")]
    explained = [word.strip("*") for head in heads for word in head.split(", ")]
    assert sorted(explained) == sorted(inspect.signature(verb).parameters)

    examples = [line for line in sections["Examples"].splitlines() if line]
    assert all(line.startswith((">>> ", "... ")) for line in examples)
    source = "\n".join(line[4:] for line in examples)
    ast.parse(source)
    assert f"{name}(" in source


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
def test_set_up_cell_takes_what_it_uses(chapter):
    taken = modules_after(first_cell(chapter))
    assert chapter == "05" or not taken.intersection(HEAVY)  # its kernels are numpy's
    assert 2 * len(own(taken)) <= len([*(ROOT / "helpers").rglob("*.py")])


def test_no_capture_is_imported_by_a_verb_before_it_runs():
    asked = f"import helpers\n[getattr(helpers, name) for name in {INSTRUMENTS}]"
    rooms = {name.split(".")[1] for name in own(modules_after(asked)) if "." in name}
    assert rooms == {"exhibit", "model", "safety", "verbs", "view"}


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
