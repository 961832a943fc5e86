"""Exhibit: a screen in a terminal, a page in a file, a dict, a copy; all tell the same facts."""

import copy
import json
import pickle
import re
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from helpers import show_bytecode, show_code, show_rosetta, show_table, watch_names, watch_stack
from helpers.exhibit import Exhibit, LiveExhibit
from helpers.model.stage_records import Panel, Step, Timeline
from helpers.model.study_records import Choice
from helpers.view.markup import END, START, WIDEST
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
    return show_table("Rows", *({"n": n, "words": words} for n in range(rows)))


EXHIBITS = {
    "a short table": lambda: show_table("Rows", {"n": 1, "b c": (1, 2)}),
    "a long table": long_table,
    "bytecode": lambda: show_bytecode(total),
    "a code object": lambda: show_code(total),
    "several Pythons": lambda: show_rosetta("current"),
    "a stage": lambda: watch_stack(total, 3),
    "names": lambda: watch_names(total, 3),
    "a choice": lambda: Exhibit(Choice("</script>?", ("a", "b"), "a", "why"), choice),
}


@pytest.fixture(params=EXHIBITS)
def exhibit(request):
    return EXHIBITS[request.param]()


def test_a_terminal_shows_one_screen_that_says_how_to_see_the_rest(exhibit):
    lines, all_of_them = repr(exhibit).split("\n"), exhibit.text().split("\n")
    assert len(lines) <= SCREEN and max(map(len, lines)) <= WIDEST
    if len(all_of_them) <= SCREEN:
        assert lines == all_of_them
        return
    [at] = [n for n, line in enumerate(lines) if line.startswith("… ")]
    assert lines[:at] == all_of_them[:at]
    assert lines[at + 1 : -1] == all_of_them[at + 1 - len(lines) + 1 :]
    left_out = int(re.search(r"[\d,]+", lines[at])[0].replace(",", ""))
    assert at + left_out + len(lines) - at - 2 == len(all_of_them)
    assert "print(exhibit.text())" in lines[-1] and 'exhibit.save("x.html")' in lines[-1]


def test_a_row_of_several_lines_and_a_step_are_not_parted():
    rows = repr(long_table()).split("\n")
    at = next(n for n, line in enumerate(rows) if line.startswith("… "))
    assert rows[at + 1][:1].isdigit() and not rows[at - 1][:1].isdigit()  # a row has two lines
    steps = tuple(Step(f"step {n}", 1, (Panel("p", "a\nb\nc"),)) for n in range(40))
    lines = repr(Exhibit(Timeline("t", "x = 1", steps), timeline)).split("\n")
    at = next(n for n, line in enumerate(lines) if line.startswith("… "))
    assert not lines[at - 1] and lines[at + 1].startswith("Step ")


def test_very_many_rows_take_one_screen_and_the_last_lines_count_them():
    words = repr(long_table(5_000, "w"))
    assert len(words) < 3_000 and "Rows 401 to 5,000 of 5,000 are left out" in words
    assert START + END + 2 == SCREEN


def test_jupyter_stores_the_whole_text_and_a_terminal_gets_nothing_but_a_screen(monkeypatch):
    shown = long_table()
    data, _ = shown._repr_mimebundle_()
    assert data["text/plain"] == shown.text() != repr(shown) and "text/html" in data
    shell = SimpleNamespace(display_formatter=SimpleNamespace(active_types=["text/plain"]))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert shown._repr_mimebundle_() == ({"text/plain": repr(shown)}, {})


def test_copies_tell_the_same(exhibit):
    for other in (pickle.loads(pickle.dumps(exhibit)), copy.deepcopy(exhibit), copy.copy(exhibit)):
        assert other.text() == exhibit.text() and other.model == exhibit.model
        assert other._page() == exhibit._page() and type(other) is type(exhibit)


def test_a_live_exhibit_is_copied_as_it_is_now():
    source = SimpleNamespace(model=show_table("Calls", {"n": 1}).model)
    live = LiveExhibit(source, table, 2)
    before = pickle.loads(pickle.dumps(live))
    source.model = show_table("Calls", {"n": 2}).model
    assert type(before) is Exhibit and before.station == 2
    assert before.model.rows[0].n == 1 and live.model.rows[0].n == 2


def test_a_dict_of_the_model_is_json_and_names_its_records(exhibit):
    told = exhibit.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["record"] == type(exhibit.model).__name__


def test_a_dict_has_every_field_down_to_the_values():
    [column] = show_table("Rows", {"a b": 1}).to_dict()["columns"]
    assert column == {"record": "Column", "field": "a_b", "heading": "a b", "code": False}

    @dataclass(frozen=True)
    class Odd:
        title: str
        some: frozenset
        more: dict
        thing: object

    odd = Exhibit(Odd("t", frozenset({2, 1}), {1: (None,)}, object()), table).to_dict()
    assert odd == {"record": "Odd", "title": "t", "some": [1, 2], "more": {"1": [None]},
                   "thing": "object"}  # fmt: skip


def test_a_saved_page_needs_nothing_else_and_has_the_facts_of_the_exhibit(exhibit, tmp_path):
    place = tmp_path / "it.html"
    place.write_text("older")
    assert exhibit.save(place) is None
    page = place.read_text("utf-8")
    assert exhibit._page() in page or exhibit._widget() is not None
    assert not re.search(r'(?:src|href)="(?!data:)', page) and "url(http" not in page
    assert "@media (prefers-color-scheme:dark)" in page and str(tmp_path) not in page
    exhibit.save(str(place))
    assert place.read_text("utf-8") == page
    told = re.search(r'<div class="book-live"><script type="application/json">(.*?)</script>', page)
    assert bool(told) == (exhibit._widget() is not None)
    if told:
        scripts = re.search(r'id="book-scripts">(.*?)</script>', page)[1]
        assert "export default" in json.loads(scripts)[json.loads(told[1])["script"]]


def test_a_saved_page_plays_what_was_recorded(tmp_path):
    class Recorded(Exhibit):
        def recorded(self):
            return {"note": "Run once <each>.", "runs": {"a": "b"}}

    Recorded(EXHIBITS["a choice"]().model, choice).save(tmp_path / "it.html")
    page = (tmp_path / "it.html").read_text("utf-8")
    assert "Run once &lt;each&gt;." in page and '"runs":{"a":"b"}' in page


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("x.png", ValueError, "must end in .html"),
        ("x", ValueError, "must end in .html"),
        ("no/such/x.html", FileNotFoundError, "makes no folder"),
        (3, TypeError, "the name of a file, not int"),
    ],
)
def test_a_name_that_is_none_gets_one_sentence(name, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=words) as caught:
        EXHIBITS["a short table"]().save(name)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())
