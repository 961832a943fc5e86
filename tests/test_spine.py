"""Chapters, map and README say what the spine says, and every link leads somewhere."""

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from helpers.course.minutes import on_the_page
from helpers.exhibit import Exhibit, at
from helpers.model.choice import Choice
from helpers.model.spine import BANDS, CHAPTERS, CLINIC, SPINE, START
from helpers.view import ink
from helpers.view.widgets.forms import choice
from tests import draw_spine as spine
from tests.draw_spine import PICTURES

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
EVERY = [START, *(chapter.file for chapter in CHAPTERS)]
REFERENCE = "instruments"  # no chapter: a page to look things up
LINK = re.compile(r"""\]\(([^)\s]+)\)|(?:href|src)="([^"]+)\"""")


def prose(stem):
    cells = nbformat.read(NOTEBOOKS / f"{stem}.ipynb", as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def lost(station, head):
    """Return what of a station its chapter's head does not say."""
    title = f"# {station.title}\n\n{spine.chapter_line(station)}\n"
    return [words for words in (title, f"**The seam:** {station.seam}") if words not in head]


@pytest.mark.parametrize("station", SPINE, ids=lambda station: station.file)
def test_the_head_of_a_chapter_says_what_the_spine_says(station):
    head = prose(station.file)[0]
    assert lost(station, head) == []
    assert len(lost(replace(station, title="x", seam="y"), head)) == 2


@pytest.mark.parametrize("station", SPINE, ids=lambda station: station.file)
def test_a_chapter_closes_with_the_seam_that_it_opened(station):
    [table] = [cell for cell in prose(station.file) if "\n|---|---|\n| the seam" in cell]
    head, _, rows = table.partition("\n|---|---|\n| the seam")
    assert head.endswith("| you saw or rebuilt | in the real thing |")
    assert f"| the seam{rows}".startswith(f"{spine.opened(station)}\n|")


def test_the_clinic_opens_with_the_whole_line_and_no_station_of_its_own():
    assert f"# {CLINIC.title}\n\n{spine.chapter_line(CLINIC)}\n" in prose(CLINIC.file)[0]
    assert "you are here" not in spine.chapter_line(CLINIC)
    assert 'class="here"' not in spine.files()[f"{CLINIC.number}.svg"]


def test_the_spine_has_every_chapter_in_order():
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == [*EVERY, REFERENCE]
    assert [chapter.number for chapter in CHAPTERS] == list(range(1, len(CHAPTERS) + 1))
    assert len(SPINE) == 2 * len(BANDS)


def test_chapter_0_opens_with_the_map():
    assert spine.chapter_map() in prose(START)[1]


def test_the_readmes_table_says_what_the_spine_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in CHAPTERS:
        minutes = "{} + {}".format(*on_the_page(NOTEBOOKS / f"{one.file}.ipynb"))
        cells = (f"[{one.file}](notebooks/{one.file}.ipynb)", one.about, minutes, one.needs)
        assert f"| {' | '.join(cells).rstrip()} |" in readme


def test_pictures_are_those_that_the_spine_draws():
    """After a change: `python -m tests.draw_spine`."""
    stored = {path.name: path.read_text(encoding="utf-8") for path in PICTURES.iterdir()}
    assert stored == spine.files()


def leads_nowhere(folder, text):
    """Return the links of a text to files that are not there."""
    links = ["".join(found) for found in LINK.findall(text)]
    local = [link for link in links if not re.match(r"[a-z]+:|#", link)]
    return [link for link in local if not (folder / link.partition("#")[0]).exists()]


@pytest.mark.parametrize("stem", [*EVERY, REFERENCE])
def test_every_link_to_a_file_leads_to_one(stem):
    assert leads_nowhere(NOTEBOOKS, "\n".join(prose(stem))) == []


def test_sample_link_that_leads_nowhere_is_found():
    sample = '[a](07_none.ipynb) <img src="images/none.svg"> [b](https://x.org) [c](#top)'
    assert leads_nowhere(NOTEBOOKS, sample) == ["07_none.ipynb", "images/none.svg"]


@pytest.mark.parametrize("stem", [*EVERY, REFERENCE])
def test_every_notebook_leads_on(stem):
    others = [f"]({other}.ipynb)" for other in EVERY if other != stem]
    assert any(link in prose(stem)[-1] + prose(stem)[-2] for link in others)


@pytest.mark.parametrize("here", SPINE, ids=lambda station: station.name)
def test_one_station_of_a_line_is_lit_by_more_than_colour(here):
    line = ElementTree.fromstring(spine.files()[f"{here.number}.svg"])
    lit = [g for g in line.findall(".//{*}g") if g.get("class") == "here"]
    words = [text.text for g in lit for text in g.findall(".//{*}text")]
    assert here.name in words and str(here.number) in words
    assert spine.chapter_line(here).count("you are here") == 1
    assert ".here .nm{" in spine.files()[f"{here.number}.svg"]


def test_the_lit_number_is_read_in_both_themes():
    from tests.view.test_inks import AA, contrast, rgb

    for dark in (False, True):
        named = ink.colours(dark)
        assert contrast(rgb(named["update"]), rgb(named["paper"])) >= AA


def test_the_map_is_text_with_a_link_for_each_station():
    drawn = spine.chapter_map()
    assert "\n\n" not in drawn  # prose would end the HTML there
    for one in SPINE:
        assert drawn.count(f'href="{one.file}.ipynb"') == 2
        assert one.happens in drawn and f">{one.name}</a>" in drawn


class View:
    @staticmethod
    def text(model):
        return "plain"

    @staticmethod
    def html(model):
        return "<p>page</p>"


def test_an_exhibit_bears_the_mark_of_its_station_on_a_page_and_not_in_text():
    data, _ = at(3)(None, View)._repr_mimebundle_()
    assert data["text/plain"] == "plain"
    assert ">③ frame</div>" in data["text/html"] and data["text/html"].endswith("<p>page</p>")
    data, _ = Exhibit(None, View)._repr_mimebundle_()
    assert data["text/html"] == "<p>page</p>"


def test_a_widget_bears_the_mark_as_well():
    exhibit = at(3)(Choice("q?", ("a", "b"), "a", "", False), choice)
    widget = choice.widget(exhibit.model)
    exhibit._mark(widget)
    assert "course-at-3" in widget._dom_classes and '"③ frame"' in widget._css


def test_the_verbs_of_a_subject_look_at_the_station_of_its_chapter():
    rooms = {"references": 1, "tensorflow": 2, "cpython": 3, "torch": 4, "oneflow": 5, "ops": 6}
    for room, number in rooms.items():
        assert import_module(f"helpers.verbs.{room}").Exhibit.station == number
    assert import_module("helpers.verbs.tables").Exhibit.station == 0
