"""One colour, shape and word per kind, in both themes; images that show everywhere."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from helpers.view import ink
from helpers.view.diagram.box_kinds import (
    DRAWN_AS,
    draw_outline,
    find_ink_kind,
    render_kinds_legend,
)
from helpers.view.diagram.drawing import Drawing, render_svg
from helpers.view.images import encode_image

HEX = re.compile(r"#[0-9a-fA-F]{3,8}\b")
VIEWS = Path(ink.__file__).parent
AA = 4.5
GROUNDS = {False: ("#ffffff", ink.PAPER["wash"][0]), True: ("#111111", ink.PAPER["wash"][1])}
READ = [*ink.KINDS, *ink.WORDS]
PALE = (VIEWS / "widgets/picture.css").read_text(encoding="utf-8")


def rgb(colour):
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def luminance(parts):
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(c * share for c, share in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", READ)
def test_every_colour_is_read_on_the_page_on_the_wash_and_on_its_own_fill(name, dark):
    colour = rgb(ink.list_colours(dark)[name])
    (fill,) = re.findall(f"--who-{name}-fill:([^;]*);", ink.render_variables(dark))
    words = rgb(ink.list_colours(dark)["ink"])
    assert min(contrast(colour, rgb(ground)) for ground in GROUNDS[dark]) >= AA
    assert contrast(colour, rgb(fill)) >= AA
    assert contrast(words, rgb(fill)) >= AA
    paper, (share,) = rgb(GROUNDS[dark][0]), re.findall(r"ahead {.*opacity: (.*);", PALE)
    mixed = zip(rgb(ink.list_colours(dark)["quiet"]), paper, strict=True)
    assert contrast([a * float(share) + b * (1 - float(share)) for a, b in mixed], paper) >= 3


OTHERS = {"minisearch.js", "notes.js", "reveal.css", "reveal.js"}  # not ours, as published


def coloured(folder):
    """Yield the files of ours in a folder in which a colour is typed in."""
    kinds = (".py", ".html", ".svg", ".css", ".js")
    for path in (path for path in sorted(folder.rglob("*.*")) if path.suffix in kinds):
        if path.name not in OTHERS and HEX.search(path.read_text(encoding="utf-8")):
            yield path.name


def test_no_colour_is_typed_in_elsewhere(tmp_path):
    (tmp_path / "sample.css").write_text("a{color:#1f5fa8}", encoding="utf-8")
    assert list(coloured(tmp_path)) == ["sample.css"]
    assert list(coloured(VIEWS.parent)) == ["ink.py"]


@pytest.mark.parametrize("kind", [*ink.KINDS, *DRAWN_AS, "nobody knows it", ""])
def test_every_kind_has_a_shape_a_class_and_a_rule(kind):
    drawn = render_svg("", Drawing(9, 9), [kind])
    assert find_ink_kind(kind) in ink.KINDS
    assert draw_outline(kind, 0, 0, 80, 40).startswith("M")
    assert f".{find_ink_kind(kind)}{{" in drawn
    assert re.search("nowrap.*⬚ <", render_kinds_legend(["backward", "op"]))  # a box is no arrow


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="10"><title>é</title>'
    "<style>.a{fill:var(--who-name)}</style></svg>"
)


def inside(address: str) -> str:
    return base64.b64decode(address.partition("base64,")[2]).decode()


def test_an_image_holds_the_colours_that_it_uses_for_both_themes():
    shown = inside(encode_image(SVG))
    assert ElementTree.fromstring(shown).get("width") == "200"
    assert "--who-name:#1f5fa8;" in shown and "--who-name:light-dark(#1f5fa8,#8ab8f0);" in shown
    assert "--who-op:" not in shown


TEMPLATES = sorted((Path(ink.__file__).parent / "templates").glob("*.html"))
PICTURES = "parts.picture("


def test_a_picture_wider_than_its_page_can_be_scrolled():
    drawing = {path.name: path.read_text("utf-8") for path in TEMPLATES}
    drawing = {name: words for name, words in drawing.items() if PICTURES in words}
    assert len(drawing) >= 3
    for name, words in drawing.items():
        outside = re.sub(r"{% call parts\.region.*?{% endcall %}", "", words, flags=re.DOTALL)
        assert PICTURES not in outside, name
