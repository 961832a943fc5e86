"""Chapters, map and README say what the spine says, and every link leads somewhere."""

import re
from pathlib import Path

import nbformat
import pytest

from helpers.course.minutes import on_the_page
from helpers.model.spine import CHAPTERS, CLINIC, SPINE, START
from tools import draw_spine as spine
from tools.draw_spine import PICTURES

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
EVERY = [START, *(chapter.file for chapter in CHAPTERS)]
REFERENCE = "instruments"  # no chapter: a page to look things up
LINK = re.compile(r"""\]\(([^)\s]+)\)|(?:href|src|srcset)="([^"]+)\"""")


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
    assert len(lost(station._replace(title="x", seam="y"), head)) == 2


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


def test_chapter_0_has_the_map():
    assert [spine.chapter_map() in cell for cell in prose(START)].count(True) == 1


def test_the_readmes_table_says_what_the_spine_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in CHAPTERS:
        minutes = "{} + {}".format(*on_the_page(NOTEBOOKS / f"{one.file}.ipynb"))
        cells = (f"[{one.file}](notebooks/{one.file}.ipynb)", one.about, minutes, one.needs)
        assert f"| {' | '.join(cells).rstrip()} |" in readme


def test_pictures_are_those_that_the_spine_draws():
    """After a change: `python -m tools.draw_spine`."""
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


@pytest.mark.parametrize("stem", [*EVERY, REFERENCE])
def test_every_notebook_leads_on(stem):
    others = [f"]({other}.ipynb)" for other in EVERY if other != stem]
    assert any(link in prose(stem)[-1] + prose(stem)[-2] for link in others)
