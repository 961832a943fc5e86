"""Chapter 0 as stored, neither trusted nor run: its map and how far one is, for everybody."""

import pytest
from playwright.sync_api import expect

from helpers.model.spine import SPINE, START
from tests.browser.lab_page import NARROW, OUTPUTS, WIDE

pytestmark = pytest.mark.long

ALL = "[...document.querySelectorAll('.jp-MarkdownOutput {}')]"
DRAWN = f"() => {ALL.format('img')}.every(n => n.naturalHeight > 20 && n.offsetHeight > 60)"
OUTSIDE = f"""() => {ALL.format(":is(a, img)")}.filter(node => {{
  const page = node.closest('.jp-MarkdownOutput').getBoundingClientRect();
  return node.getBoundingClientRect().right > page.right + 1;
}}).length"""


@pytest.fixture(scope="module")
def start(open_copy):
    return open_copy(f"{START}.ipynb", "start")


def test_every_picture_of_the_map_is_drawn_and_fits_the_page(start):
    pictures = start.page.locator(".jp-MarkdownOutput img[src*='images/spine']")
    expect(pictures).to_have_count(len(SPINE) + 2)
    start.page.wait_for_function(DRAWN)
    for size in (NARROW, {"width": 700, "height": 900}, WIDE):
        start.page.set_viewport_size(size)
        assert start.page.evaluate(OUTSIDE) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_map_and_how_far_one_is(start, scheme):
    start.theme(scheme)
    assert start.violations({"include": [[".jp-MarkdownOutput"], [OUTPUTS]]}) == []
    start.theme("light")
