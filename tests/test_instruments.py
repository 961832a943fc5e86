"""notebooks/instruments.ipynb: every verb that looks at a reader's code, with its own docstring."""

import re
from dataclasses import dataclass
from html import unescape

import nbformat
import pytest

from helpers.model.spine import SPINE
from tests.measured import TAG
from tools.draw_instruments import PAGE, VOLATILE, page
from tools.instrument_examples import LISTED, SECTIONS

LOADS = re.compile(r"(?<!<a )\b(src|href)=.https?://|url\(.?https?://")  # more than a link
SHOWN = {name for examples in SECTIONS.values() for name in examples}


def cells():
    return nbformat.read(PAGE, as_version=4).cells


def test_a_verb_has_an_example_or_is_listed():
    assert not SHOWN.intersection(LISTED)


def test_page_is_what_the_docstrings_and_the_examples_say():
    """After a change: `course.py remake instruments`."""
    stored = [(cell.id, cell.cell_type, cell.source, cell.metadata.get("tags")) for cell in cells()]
    drawn = page().cells
    assert stored == [(c.id, c.cell_type, c.source, c.metadata.get("tags")) for c in drawn]


def test_what_is_measured_has_an_assert_beside_it():
    measured = {c.id for c in cells() if TAG in c.metadata.get("tags", ())}
    assert measured == set(VOLATILE)
    assert all(source.startswith("assert ") for source in VOLATILE.values())


@pytest.mark.parametrize("number", [n for n in SECTIONS if n])
def test_exhibits_of_a_section_look_at_its_seam(number):
    mark = f">{chr(ord('①') + number - 1)} {SPINE[number - 1].name}</div>"
    marks = [chr(ord("①") + n) for n in range(len(SPINE))]
    for cell in cells():
        if cell.id in SECTIONS[number]:
            html = [o["data"].get("text/html", "") for o in cell.outputs if "data" in o]
            assert all(mark in h for h in html if any(f">{m} " in h[:400] for m in marks)), cell.id


@dataclass(frozen=True)
class Shown:
    """The HTML of an example, as a notebook without widgets and scripts shows it."""

    name: str
    html: str
    text: str


def shown():
    for cell in cells():
        for output in cell.get("outputs", ()):
            if cell.id in SHOWN and "text/html" in output.get("data", {}):
                data = output["data"]
                yield Shown(cell.id, data["text/html"], data["text/plain"])


def test_examples_are_whole_without_scripts_and_without_the_network():
    found = list(shown())
    assert len(found) > 40
    for one in found:
        assert "<script" not in one.html and not LOADS.search(one.html), one.name
        read = " ".join(unescape(re.sub(r"<[^>]*>", " ", one.html)).split())
        title = one.text.partition("\n")[0].removesuffix("…").strip()
        assert title[:40] in read and len(one.text.splitlines()) > 1, one.name
        assert all('alt="' in tag for tag in re.findall(r"<img [^>]*>", one.html)), one.name
