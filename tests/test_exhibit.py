"""Exhibit: a screen in a terminal, a page in a file, a dict, a copy; all tell the same facts."""

import copy
import json
import pickle
import re
import sys
from types import SimpleNamespace

import pytest

from helpers import show_bytecode, show_code, show_rosetta, show_table, watch_stack
from helpers.exhibit import Exhibit, LiveExhibit
from helpers.model.question_records import Choice
from helpers.model.stage_records import Panel, Step, Timeline
from helpers.view.plain_text import WIDEST
from helpers.view.table_view import table
from helpers.view.widgets.forms import choice
from helpers.view.widgets.stage import timeline

SCREEN = 60


def total(x):
    out = 0
    for n in range(x):
        out += n
    return out


def long_table(rows=200, words="word " * 30):
    return show_table("Rows", *({"a n": n, "words": words} for n in range(rows)))


EXHIBITS = {
    "a table": long_table,
    "bytecode": lambda: show_bytecode(total),
    "a code object": lambda: show_code(total),
    "several Pythons": lambda: show_rosetta("current"),
    "a stage": lambda: watch_stack(total, 3),
    "a choice": lambda: Exhibit(Choice("</script>?", ("a", "b"), "a", "why"), choice),
}


@pytest.fixture(params=EXHIBITS)
def exhibit(request):
    return EXHIBITS[request.param]()


def parted(exhibit) -> tuple[list[str], int]:
    """The lines of a repr, and the number of the line that counts what is left out."""
    lines = repr(exhibit).split("\n")
    [at] = [n for n, line in enumerate(lines) if line.startswith("… ")]
    return lines, at


def test_a_terminal_shows_one_screen_that_says_how_to_see_the_rest(exhibit):
    whole = exhibit.text().split("\n")
    assert max(map(len, repr(exhibit).split("\n"))) <= WIDEST
    if len(whole) <= SCREEN:
        assert repr(exhibit) == exhibit.text()
        return
    lines, at = parted(exhibit)
    after = len(lines) - at - 2
    assert len(lines) <= SCREEN and lines[:at] + lines[at + 1 : -1] == whole[:at] + whole[-after:]
    assert lines[at].startswith(f"… {len(whole) - at - after} lines")
    assert ".text()" in lines[-1] and '.save("x.html")' in lines[-1]


def test_a_row_of_several_lines_and_a_step_are_not_parted():
    rows, at = parted(long_table())
    assert rows[at + 1][:1].isdigit() and not rows[at - 1][:1].isdigit()  # a row has two lines
    steps = tuple(Step(f"step {n}", 1, (Panel("p", "a\nb\nc"),)) for n in range(40))
    lines, at = parted(Exhibit(Timeline("t", "x = 1", steps), timeline))
    assert not lines[at - 1] and lines[at + 1].startswith("Step ")


def test_very_many_rows_take_one_screen_that_counts_them():
    words = repr(long_table(5_000, "w"))
    assert len(words) < 3_000 and "401" in words and "5,000" in words


def test_jupyter_stores_the_whole_text_and_a_terminal_gets_a_screen_alone(monkeypatch):
    shown = long_table()
    data, _ = shown._repr_mimebundle_()
    assert data["text/plain"] == shown.text() != repr(shown) and "text/html" in data
    shell = SimpleNamespace(display_formatter=SimpleNamespace(active_types=["text/plain"]))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert shown._repr_mimebundle_() == ({"text/plain": repr(shown)}, {})


def test_copies_tell_the_same(exhibit):
    for other in (pickle.loads(pickle.dumps(exhibit)), copy.deepcopy(exhibit)):
        assert other.text() == exhibit.text() and other.model == exhibit.model
        assert other._page() == exhibit._page() and type(other) is type(exhibit)


def test_a_live_exhibit_is_copied_as_it_is_now():
    source = SimpleNamespace(model="before")
    live = LiveExhibit(source, table, 2)
    before, source.model = pickle.loads(pickle.dumps(live)), "after"
    assert type(before) is Exhibit and before.station == 2
    assert (before.model, live.model) == ("before", "after")


def test_a_dict_of_the_model_is_json_and_has_every_field(exhibit):
    told = exhibit.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["record"] == type(exhibit.model).__name__
    column = {"record": "Column", "field": "a_n", "heading": "a n", "code": False}
    assert long_table().to_dict()["columns"][0] == column


def test_a_saved_page_needs_nothing_else_and_has_the_facts_of_the_exhibit(exhibit, tmp_path):
    place = tmp_path / "it.html"
    place.write_text("older")
    exhibit.save(str(place))
    page = place.read_text("utf-8")
    assert exhibit._page() in page or exhibit.station and exhibit._widget() is not None
    assert not re.search(r'(?:src|href)="(?!data:)', page) and "url(http" not in page
    assert "@media (prefers-color-scheme:dark)" in page and str(tmp_path) not in page
    told = re.search(r'<div class="book-live"><script type="application/json">(.*?)</script>', page)
    assert bool(told) == (exhibit._widget() is not None)
    if told:
        scripts = re.search(r'id="book-scripts">(.*?)</script>', page)[1]
        assert "as default" in json.loads(scripts)[json.loads(told[1])["script"]]
        assert (".book-paper { display: none" in page) == ("course-stage" in exhibit._widget()._esm)


def test_a_saved_page_plays_what_was_recorded(tmp_path):
    class Recorded(Exhibit):
        def recorded(self):
            return {"note": "Run once <each>.", "runs": {"a": "b"}}

    Recorded(EXHIBITS["a choice"]().model, choice).save(tmp_path / "it.html")
    page = (tmp_path / "it.html").read_text("utf-8")
    assert "Run once &lt;each&gt;." in page and '"runs":{"a":"b"}' in page


@pytest.mark.parametrize(
    ("name", "error", "named"),
    [
        ("x.png", ValueError, r"\.html.*'x\.png'"),
        ("x", ValueError, r"\.html.*'x'"),
        ("no/x.html", FileNotFoundError, "'no'"),
    ],
)
def test_a_name_that_cannot_be_written_is_refused(
    name, error, named, tmp_path, monkeypatch, refused
):
    monkeypatch.chdir(tmp_path)
    refused(error, named, long_table().save, name)
    assert not list(tmp_path.iterdir())
