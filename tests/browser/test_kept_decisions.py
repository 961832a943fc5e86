"""A prediction without JupyterLab: where no kernel keeps what was decided, the form says so."""

import pytest
from playwright.sync_api import expect

from helpers.model.choice import Choice
from helpers.view.widgets.forms import choice
from tests.browser.widget_page import document

LATE = "after a restart, run this cell again and answer there"


def page_of(keeps: bool) -> str:
    made = choice.widget(Choice("q?", ("a", "b"), "a", "so"))
    return document(made, kernel=False, keeps=keeps)


@pytest.fixture
def decided(page):
    """Return what shows a page in which a question has just been answered."""

    def shown(keeps: bool):
        page.clock.install()
        page.set_content(page_of(keeps))
        page.get_by_label("a", exact=True).check()
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_role("status")).to_contain_text("Right: it ran and gave a. so")
        expect(page.get_by_role("status")).not_to_contain_text(LATE)
        page.clock.fast_forward(9000)
        return page

    return shown


def test_a_kernel_that_keeps_nothing_is_told_and_one_that_does_it_late_too(decided):
    page = decided(keeps=True)
    expect(page.get_by_role("status")).to_contain_text(LATE)
    page.evaluate("window.told('kept', 1)")
    expect(page.get_by_role("status")).not_to_contain_text(LATE)
    expect(page.get_by_role("status")).to_contain_text("Right:")


def test_a_page_without_a_kernel_waits_for_none(decided):
    expect(decided(keeps=False).get_by_role("status")).not_to_contain_text(LATE)
