"""A picture: an image for every host, with the colours of both themes, and the way into a page."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

from helpers.view import picture
from helpers.view.markup import render

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="10"><title>é</title>'
    "<style>.a{fill:var(--who-name)}</style></svg>"
)


def inside(address: str) -> str:
    return base64.b64decode(address.partition("base64,")[2]).decode()


def test_an_image_holds_the_colours_that_it_uses_for_both_themes():
    shown = inside(picture.as_image(SVG))
    assert ElementTree.fromstring(shown).get("width") == "200"
    assert "--who-name:#1f5fa8;" in shown and "--who-name:light-dark(#1f5fa8,#8ab8f0);" in shown
    assert "--who-op:" not in shown


def test_paper_and_ink_are_those_of_the_page_where_it_has_them():
    dressed = picture.dressed(SVG.replace("name", "ink"))
    assert "--who-paper:var(--jp-layout-color0,light-dark(" in dressed
    assert "--who-ink:var(--jp-content-font-color0,light-dark(" in dressed


def test_the_script_of_an_image_is_one_attribute():
    values = {"title": "t", "note": ""}
    html = render(
        "diagram.html", model=values, image="data:,", alt="a", least=1, body="b", legend=""
    )
    told = re.search(r'onload="([^"]*)"', html)[1]
    assert "attachShadow" in told and "\n" not in told and "//" not in told


TEMPLATES = sorted((Path(picture.__file__).parent / "templates").glob("*.html"))
PICTURES = "parts.picture("


def test_a_picture_wider_than_its_page_can_be_scrolled():
    drawing = {path.name: path.read_text("utf-8") for path in TEMPLATES}
    drawing = {name: words for name, words in drawing.items() if PICTURES in words}
    assert len(drawing) >= 5
    for name, words in drawing.items():
        outside = re.sub(r"{% call parts\.region.*?{% endcall %}", "", words, flags=re.DOTALL)
        assert PICTURES not in outside, name
