"""The pictures of the spine are those that it draws, and the README's table says what it says."""

from pathlib import Path

from helpers.course.minutes import count_page_minutes
from helpers.model.spine import CHAPTERS, CLINIC
from tools import draw_spine as spine
from tools.draw_spine import PICTURES

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"


def test_the_clinic_has_no_station_on_the_line():
    assert "you are here" not in spine.chapter_line(CLINIC)
    assert 'class="here"' not in spine.files()[f"{CLINIC.number}.svg"]


def test_the_readmes_table_says_what_the_spine_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in CHAPTERS:
        minutes = "{} + {}".format(*count_page_minutes(NOTEBOOKS / f"{one.file}.ipynb"))
        cells = (f"[{one.file}](notebooks/{one.file}.ipynb)", one.about, minutes, one.needs)
        assert f"| {' | '.join(cells).rstrip()} |" in readme


def test_pictures_are_those_that_the_spine_draws():
    """After a change: `python -m tools.draw_spine`."""
    stored = {path.name: path.read_text(encoding="utf-8") for path in PICTURES.iterdir()}
    assert stored == spine.files()
