"""A cell that takes long says so at the foot of the window, and leaves nothing in the notebook."""

import json

import nbformat
import pytest
from playwright.sync_api import expect

NAME = "progress-line.ipynb"
SETUP = """import time
from pathlib import Path
import helpers
from helpers.safety import progress
def wait_for(name):
    while not Path(name).exists():
        time.sleep(0.05)"""
LONG = """print("first")
for _ in progress.counted("run", "ab"):
    wait_for(f"{progress.said()}")
print("last")
"result" """
STUCK = """progress.say("<b>never</b> ending")
wait_for("never")"""
LINE = ".course-waiting-line"


@pytest.fixture(scope="module")
def opened(lab, open_copy):
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, LONG, STUCK)]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=python), lab.folder / NAME)
    return open_copy(NAME, "ran")


@pytest.fixture
def notebook(opened):
    """The notebook, set up in its kernel; whatever still runs afterwards is interrupted."""
    run(opened, 0)
    opened.wait_idle()
    yield opened
    command(opened, "notebook:interrupt-kernel")
    opened.wait_idle()


def command(notebook, name: str) -> None:
    notebook.page.evaluate(f"() => {{ jupyterapp.commands.execute('{name}'); }}")


def run(notebook, number: int) -> None:
    """Run one cell, without waiting for its end."""
    at = f"jupyterapp.shell.currentWidget.content.activeCellIndex = {number}"
    notebook.page.evaluate(f"() => {{ {at}; }}")
    command(notebook, "notebook:run-cell")


def outputs(notebook, number: int) -> list[dict]:
    """Return the outputs of a cell as the notebook in the page has them."""
    cell = f"jupyterapp.shell.currentWidget.content.widgets[{number}].model.outputs"
    return json.loads(notebook.page.evaluate(f"JSON.stringify({cell}.toJSON())"))


def test_line_says_how_far_it_is_and_leaves_nothing(notebook, lab):
    line = notebook.page.locator(LINE)
    run(notebook, 1)
    spoken = line.get_by_role("status")
    expect(spoken).to_have_text("Still running: run 1 of 2")
    expect(line.locator("[aria-hidden]")).to_contain_text(" s")
    assert not notebook.violations({"include": [[LINE]]})
    (lab.folder / "run 1 of 2").touch()
    expect(spoken).to_have_text("Still running: run 2 of 2")
    assert [output["output_type"] for output in outputs(notebook, 1)] == ["stream"]
    (lab.folder / "run 2 of 2").touch()
    expect(line).to_have_count(0)
    printed, result = outputs(notebook, 1)
    assert printed["text"] == "first\nlast\n"
    assert result["data"] == {"text/plain": "'result'"}


def test_line_goes_at_an_interrupt(notebook):
    line = notebook.page.locator(LINE)
    run(notebook, 2)
    expect(line).to_contain_text("<b>never</b> ending")  # words are shown as words
    command(notebook, "notebook:interrupt-kernel")
    expect(line).to_have_count(0)
