"""`show_progress()` in chapter 0, as stored and not yet run: all can read it and follow it."""

import pytest
from playwright.sync_api import expect

from helpers.model.spine import START
from tests.browser.lab_page import OUTPUTS

SEEN = """id => {
  const panel = jupyterapp.shell.currentWidget;
  const heading = [...panel.node.querySelectorAll('h3')].find(n => n.innerText.includes(id));
  const [page, place] = [panel.content.node, heading].map(n => n && n.getBoundingClientRect());
  return !!place && place.top >= page.top - 5 && place.bottom <= page.bottom;
}"""
DRAWN = "() => jupyterapp.shell.currentWidget.node.querySelectorAll('h3').length > 3"


@pytest.fixture(scope="module")
def start(open_copy):
    return open_copy(f"{START}.ipynb", "progress")  # nobody trusts it


def shown(notebook):
    return notebook.page.locator(OUTPUTS, has_text="How far you are").first


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_how_far_one_is(start, scheme):
    start.theme(scheme)
    assert start.violations() == []
    start.theme("light")


def test_each_exercise_says_its_state_in_words(start):
    row = shown(start).get_by_role("row", name="0 start here")
    expect(row.get_by_title("not tried")).to_be_visible()
    expect(row.get_by_role("link", name="warm_up", exact=True)).to_be_visible()


def test_a_link_opens_its_chapter_and_goes_to_its_exercise_by_keyboard(start):
    link = shown(start).get_by_role("link", name="rebinding", exact=True)
    opened = start.page.locator(".lm-TabBar-tab", has_text="01_function_references.ipynb")
    for _ in range(2):  # the first time it is opened, and its cells are not all there yet
        start.page.locator(".lm-TabBar-tab", has_text="-progress.ipynb").click()
        link.focus()
        start.page.keyboard.press("Enter")
        expect(opened).to_be_visible()
        start.page.wait_for_function(DRAWN)
    start.page.wait_for_function(SEEN, arg="Your own rebind_everywhere")
