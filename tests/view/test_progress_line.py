"""The line of a cell that takes long: when it comes, what it says; it goes and leaves nothing."""

import os
import sys
from pathlib import Path

import nbformat
import pytest

from helpers.safety import progress
from helpers.view.widgets.progress_line import Waiting

ROOT = Path(__file__).parents[2]


class Loop:
    """A clock that stands until it is told to go on."""

    def __init__(self):
        self.calls = []

    def add_callback(self, call, *given):
        call(*given)

    def call_later(self, seconds, call, *given):
        self.calls.append((seconds, call, given))

    def go_on(self):
        calls, self.calls = self.calls, []
        for _, call, given in calls:
            call(*given)


class Page:
    """A channel to a page, which writes down what it is told."""

    def __init__(self, broken=False):
        self.told, self.broken = [], broken

    def open(self, state):
        if self.broken:
            raise OSError("nobody is there")
        self.told.append(state["words"])
        return self

    def send(self, data):
        self.told.append(data["state"]["words"])

    def close(self):
        self.told.append("closed")


@pytest.fixture
def loop():
    yield Loop()
    progress.say("")


@pytest.fixture
def page():
    return Page()


def test_nothing_is_shown_of_a_cell_that_ends_before(loop, page):
    waiting = Waiting(loop, page.open, after=7)
    waiting.start()
    assert [seconds for seconds, *_ in loop.calls] == [7]
    waiting.end()
    loop.go_on()
    assert page.told == [] and loop.calls == []


def test_a_long_cell_says_how_far_it_is(loop, page):
    waiting = Waiting(loop, page.open)
    waiting.start()
    loop.go_on()
    for _ in progress.counted("call", "ab"):
        loop.go_on()
        loop.go_on()
    assert waiting.shown
    waiting.end()
    running = [f"Still running: call {number} of 2" for number in (1, 2)]
    assert page.told == ["Still running", *running, "closed"]
    assert not waiting.shown


def test_an_import_says_how_many_modules_it_has(loop, page, monkeypatch):
    waiting = Waiting(loop, page.open)
    waiting.start()
    for number in range(40):
        monkeypatch.setitem(sys.modules, f"large.part_{number}", sys)
    loop.go_on()
    assert page.told == ["Still running: importing, 40 modules so far"]


def test_the_next_cell_takes_a_line_away_that_was_left(loop, page):
    waiting = Waiting(loop, page.open)
    waiting.start()
    progress.say("what was never ended")
    loop.go_on()
    waiting.start()
    assert page.told[-1] == "closed" and progress.said() == ""
    loop.go_on()
    assert page.told[-1] == "Still running"


def test_a_page_that_cannot_be_told_stops_nothing(loop):
    waiting = Waiting(loop, Page(broken=True).open)
    waiting.start()
    loop.go_on()
    assert loop.calls and not waiting.shown
    waiting.end()


SETUP = """import os
import time

import helpers
from helpers.safety import progress
from helpers.view.widgets import progress_line

shown = os.environ["LINE"] == "shown"
waiting = progress_line.switch_on(after=0 if shown else 3600)"""
WAIT = """def wait():
    while not waiting.shown and shown:
        time.sleep(0.01)"""
LONG = """wait()
print("first")
for _ in progress.counted("run", "ab"):
    wait()
display("middle")
wait()
print("last")
"result" """
RAISING = """wait()
1 / 0"""


def notebook():
    """Return a notebook whose cells wait for the line, if the environment says so."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, WAIT, LONG, RAISING)]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    cells[-1].metadata["tags"] = ["raises-exception"]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=python)


@pytest.fixture(scope="module")
def stored():
    """The notebook, run without the line."""
    return run("hidden")


def run(line: str):
    nbclient = pytest.importorskip("nbclient")
    book, env = notebook(), {**os.environ, "LINE": line, "PYTHONPATH": str(ROOT)}
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute(env=env)
    return book


def outputs(book) -> list:
    return [cell.outputs for cell in book.cells]


def test_stored_outputs_are_the_same_with_the_line(stored):
    assert [len(cell) for cell in outputs(stored)] == [0, 0, 4, 1]
    shown = run("shown")
    assert "progress_line" in str(shown.metadata)  # the state of widgets: it was there
    assert outputs(shown) == outputs(stored)
