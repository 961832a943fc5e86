"""A page of one exhibit: its widget's state and script are in it, and nothing ends its scripts."""

import json
import re

from helpers.view.living import LiveWidgets, render_live_page

STATE = {"_esm": "export default {}", "_css": "p {}", "title": "</script><b>", "layout": "x"}


def test_a_page_has_the_state_the_script_and_the_still_form():
    page = render_live_page("<title>", "<p>still</p>", STATE, {"note": "<i>", "answers": []})
    assert "<p>still</p>" in page and "&lt;title&gt;" in page and "&lt;i&gt;" in page
    script = re.search(r'"application/json">(\{.*?\})</script>', page)[1]
    assert "<" not in script  # or the title would end it
    described = json.loads(script)
    assert described["state"] == {"title": STATE["title"]}
    assert described["recorded"]["answers"] == []


def test_an_exhibit_without_a_widget_stands_still():
    page = render_live_page("t", "<p>still</p>", {}, None)
    assert "<p>still</p>" in page and '<div class="book-live">' not in page


def test_two_widgets_of_a_kind_share_their_script_and_style():
    page = LiveWidgets()
    page.render_widget(STATE, "", None)
    second = page.render_widget(STATE | {"_esm": "other"}, "", None)
    page.render_widget(STATE, "", None)
    assert page.scripts == ["export default {}", "other"] and page.styles == ["p {}"]
    assert '"script":1' in second
