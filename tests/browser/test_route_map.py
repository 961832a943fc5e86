"""The map of routes in a page: every setting has the same places, and all of it can be read."""

import re

import pytest
from playwright.sync_api import expect

from helpers.view.widgets.routes_view import routes
from tests.browser.widget_page import document, find_serious
from tests.capture.test_route_map import HOLDERS, PATCHES, ROUTES, new_op, op, watch_routes

SIZES = [(1280, 720), (853, 480), (700, 900), (420, 900)]  # the second: 1280 × 720 at 150 %
FACTS = """root => {
  const box = root.getBoundingClientRect(), wrong = [];
  for (const text of root.querySelectorAll('svg text')) {
    const scale = text.getScreenCTM().a, style = getComputedStyle(text);
    if (!text.getClientRects().length) continue;
    if (parseFloat(style.fontSize) * scale < 9.99) wrong.push(`small: ${text.textContent}`);
  }
  for (const holder of root.querySelectorAll('.box')) {
    const outline = holder.querySelector('.outline')?.getBBox();
    for (const text of outline ? holder.querySelectorAll('text:not(.caption)') : [])
      if (text.getBBox().x + text.getBBox().width > outline.x + outline.width)
        wrong.push(`too long: ${text.textContent}`);
  }
  for (const part of root.querySelectorAll('fieldset, .course-route-side, .course-picture'))
    if (part.getBoundingClientRect().right > box.right + 1) wrong.push('outside');
  const places = [...root.querySelectorAll(
    'fieldset, .course-route-side, .course-picture, .course-route-stack')];
  return {wrong, places: places.map(n => Math.round(n.getBoundingClientRect().top)).join(),
          height: Math.round(box.height)};
}"""


@pytest.fixture(scope="module")
def board():
    return watch_routes(op, new_op, ROUTES, HOLDERS, PATCHES)


@pytest.fixture
def show(page, board):
    def shown(theme="light", size=SIZES[0], **media):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(**media)
        page.set_content(document(routes.widget(board), theme=theme))
        root = page.locator(".course-route-map")
        root.wait_for()
        return root

    return shown


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}px")
def test_every_setting_has_the_same_places_and_all_of_it_is_read(show, board, size):
    root = show(size=size, reduced_motion="reduce")
    facts = []
    for heading in board.headings:
        root.get_by_role("radio", name=heading, exact=True).check()
        facts.append(root.evaluate(FACTS))
    assert {(fact["places"], fact["height"]) for fact in facts} == {
        (facts[0]["places"], facts[0]["height"])
    }
    assert [wrong for fact in facts for wrong in fact["wrong"]] == []


def test_arrows_and_words_follow_the_setting(show):
    root = show()
    drawing = root.locator("svg.course-routes")
    expect(drawing).to_have_attribute("aria-label", re.compile(r"op\(\) answers old"))
    root.get_by_role("radio", name="every holder", exact=True).check()
    expect(root.get_by_role("status")).to_have_text("4 of 4 calls notice")
    expect(drawing.locator(".arrow[data-slot][data-state=new]")).to_have_count(4)
    root.get_by_role("radio", name="the code", exact=True).check()
    expect(drawing.locator("[data-key=same]")).to_be_visible()
    expect(root.locator(".course-route-say:not(.course-ghost)")).to_contain_text("No arrow moves.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(show, theme):
    root = show(theme)
    for heading in ("nothing", "every holder", "the code"):
        root.get_by_role("radio", name=heading, exact=True).check()
        assert find_serious(root.page, ".course-route-map") == []
