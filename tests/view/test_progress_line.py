"""The line of a cell that takes long: when it comes, what it says; it goes and leaves nothing."""

import pytest

from helpers.safety import progress
from helpers.view.widgets.progress_line import Waiting


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

    def __init__(self):
        self.told = []

    def open(self, state):
        self.told.append(state["words"])
        return self

    def send(self, data):
        self.told.append(data["state"]["words"])

    def close(self):
        self.told.append("closed")


@pytest.fixture
def loop():
    yield Loop()
    progress.set_activity("")


@pytest.fixture
def page():
    return Page()


def test_a_long_cell_says_how_far_it_is(loop, page):
    waiting = Waiting(loop, page.open)
    waiting.start()
    loop.go_on()
    reported = []
    for _ in progress.report_each("call", "ab"):
        reported.append(progress.read_activity())
        loop.go_on()
        loop.go_on()
    waiting.end()
    opened, *changed, closed = page.told
    assert closed == "closed" and "call" not in opened
    assert changed == [f"{opened}: {action}" for action in reported] and len(reported) == 2
