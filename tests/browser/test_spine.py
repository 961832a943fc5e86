"""The spine in a notebook that nobody has trusted or run: drawn, in both themes, and a way on."""

import pytest
from playwright.sync_api import expect

from helpers.model.spine import SPINE, START
from tests.browser.lab_page import NARROW, WIDE

ALL = "[...document.querySelectorAll('.jp-MarkdownOutput {}')]"
DRAWN = f"() => {ALL.format('img')}.every(n => n.naturalHeight > 20 && n.offsetHeight > 60)"
COLOURS = f"() => {ALL.format('div[style*=color]')}.map(node => getComputedStyle(node).color)"
OUTSIDE = f"""() => {ALL.format(":is(a, img)")}.filter(node => {{
  const page = node.closest('.jp-MarkdownOutput').getBoundingClientRect();
  return node.getBoundingClientRect().right > page.right + 1;
}}).length"""


@pytest.fixture(scope="module")
def start(open_copy):
    return open_copy(f"{START}.ipynb", "spine")


def pictures(notebook):
    return notebook.page.locator(".jp-MarkdownOutput img[src*='images/spine']")


def test_every_picture_of_the_map_is_drawn(start):
    expect(pictures(start)).to_have_count(len(SPINE) + 2)
    start.page.wait_for_function(DRAWN)


@pytest.mark.parametrize("size", [WIDE, NARROW, {"width": 700, "height": 900}])
def test_the_map_fits_the_page(start, size):
    start.page.set_viewport_size(size)
    assert start.page.evaluate(OUTSIDE) == 0
    start.page.set_viewport_size(WIDE)


def test_colours_of_the_map_follow_the_theme(start):
    seen = []
    for scheme in ("light", "dark"):
        start.theme(scheme)
        seen.append(start.page.evaluate(COLOURS))
    start.theme("light")
    assert len(set(seen[0])) > 1 and not set(seen[0]) & set(seen[1])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_map(start, scheme):
    start.theme(scheme)
    prose = {"include": [[".jp-MarkdownOutput"]]}
    assert start.violations(prose) == []
    start.theme("light")


def test_a_station_opens_its_chapter(start, lab):
    last = SPINE[-1]
    start.page.get_by_role("link", name=last.name, exact=True).click()
    tab = start.page.locator(".lm-TabBar-tab", has_text=f"{last.file}.ipynb")
    expect(tab).to_be_visible()
    line = start.page.get_by_role("img", name="you are here")
    expect(line).to_be_visible()
    assert line.evaluate("node => node.naturalHeight > 20 && node.offsetHeight") == 88
    lab.end_kernels()
