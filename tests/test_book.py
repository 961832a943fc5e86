"""The book without a browser: its links, sections, states and records, and where it is written."""

import json
import re

import nbformat
import pytest

from helpers.course.book import page as pages_
from helpers.course.book import site
from helpers.course.book.page import list_sections
from helpers.course.chapter_notebooks import notebooks_folder
from helpers.safety.folders import open_rebuildable_folder

pytestmark = pytest.mark.long

ADDRESS = re.compile(r'(?:href|src)="([^"#:]*)(?:#([^"]*))?"')
ID = re.compile(r'\bid="([^"]*)"')


def lost(pages):
    """Return the addresses of pages (name -> HTML, or None for another file) that lead nowhere."""
    places = {name: set(ID.findall(page or "")) for name, page in pages.items()}
    return [
        f"{name}: {path}#{at}"
        for name, page in pages.items()
        for path, at in ADDRESS.findall(page or "")
        if (path or name) not in places or at and at not in places[path or name]
    ]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """The book of all notebooks with their stored outputs."""
    with open_rebuildable_folder(tmp_path_factory.mktemp("book") / "site") as home:
        site.write_pages(home, sorted(notebooks_folder().glob("*.ipynb")), fresh=False)
        files = {
            p.relative_to(home.path).as_posix(): p for p in home.path.rglob("*") if p.is_file()
        }
        pages = {name: p.read_text("utf-8") for name, p in files.items() if p.suffix == ".html"}
        yield dict.fromkeys(files) | pages


def test_every_address_in_the_book_leads_somewhere(book):
    assert lost(book) == []
    page = '<a href="b.html"><a href="#c"><a href="a.html#d">'
    assert lost({"a.html": page}) == ["a.html: b.html#", "a.html: #c", "a.html: a.html#d"]


def test_every_section_that_can_be_found_is_there(book):
    for path in sorted(notebooks_folder().glob("*.ipynb")):
        found = list_sections(nbformat.read(path, as_version=4))
        ids = set(ID.findall(book[f"{path.stem}.html"]))
        assert [one["title"] for one in found if one["at"] not in ids] == []
        assert any(one["level"] == 2 for one in found)


def test_nothing_of_the_book_is_fetched_from_elsewhere(book):
    used = re.compile(r'<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="(https?:[^"]*)"')
    assert [used.findall(page) for page in book.values() if page and used.search(page)] == []
    assert used.search('<script async src="https://example.invalid/a.js">')


def test_addresses_of_a_notebook_become_those_of_the_book():
    page = '<a href="02_x.ipynb#cell-id=02-a"><img src="images/spine/1.svg"><a href="https://a.b/c.ipynb">'
    assert pages_.rewrite_links(page) == (
        '<a href="02_x.html#cell-id=02-a"><img src="images/spine-1.svg">'
        '<a href="https://a.b/c.ipynb">'
    )


def test_a_state_is_told_with_its_script_and_style_once_and_ends_no_script():
    state = {"_esm": "export default {}", "_css": "p {}", "title": "</script><b>", "layout": "x"}
    widgets = {name: {"state": state} for name in "ab"}
    told = {pages_.WIDGET_STATES_TYPE: {"state": widgets}}
    notebook = nbformat.v4.new_notebook(metadata={"widgets": told})
    for name in "ab":
        data = {pages_.WIDGET_VIEW_TYPE: {"model_id": name}, "text/html": "<p>still</p>"}
        output = nbformat.v4.new_output("display_data", data)
        notebook.cells.append(nbformat.v4.new_code_cell(outputs=[output]))
    made = pages_.Widgets(notebook, [])
    made.replace_widgets(notebook.cells)
    assert (made.scripts, made.styles) == (["export default {}"], ["p {}"])
    page = notebook.cells[0].outputs[0].data["text/html"]
    assert page.count("</script>") == 1 and "<p>still</p>" in page
    script = json.loads(re.search(r">(\{.*?\})</script>", page)[1])
    assert script["state"] == {"title": "</script><b>"}


def test_a_book_that_is_written_anew_drops_the_pages_that_are_gone(tmp_path):
    with open_rebuildable_folder(tmp_path / "site") as home:
        for name in ("00_start_here", "07_the_clinic"):
            site.write_pages(home, [notebooks_folder() / f"{name}.ipynb"], fresh=False)
        pages = sorted(path.name for path in home.path.glob("*.html"))
    assert pages == ["07_the_clinic.html", "index.html"]


def test_a_book_that_cannot_be_written_leaves_the_old_one_and_says_so(
    tmp_path, monkeypatch, refused
):
    monkeypatch.setattr(site, "SITE", tmp_path / "site")
    monkeypatch.setattr(site.checkout, "refuse_foreign", lambda folder: None)
    monkeypatch.setattr(site, "run", lambda path: nbformat.read(path, as_version=4))
    site.write_book(["7"])
    before = {path: path.read_bytes() for path in (tmp_path / "site").rglob("*.*")}

    def write(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("helpers.safety.folders.write_new", write)
    refused(site.CommandRefused, r"site/ .*\(No space", site.write_book, ["6"])
    assert {path: path.read_bytes() for path in (tmp_path / "site").rglob("*.*")} == before
    (tmp_path / "site" / "CACHEDIR.TAG").unlink()
    refused(site.CommandRefused, "site/ ", site.write_book, ["7"])


def test_the_first_of_a_term_in_a_section_is_explained_and_nothing_in_code():
    explained = pages_.TermExplainer()
    first = explained("<h2>A guard</h2><p><code>guard</code> <b>Guards</b>, a guard, a name</p>")
    assert first.count("<dfn") == 1 == first.count('id="word-guard"') and ">Guards</dfn>" in first
    assert explained("<p>a guard</p>") == "<p>a guard</p>"
    again = explained("<h2>Next</h2><p>guard-like, safeguards, the guard</p>")
    assert again.count("<dfn") == 1 and "id=" not in again and again.endswith(">guard</dfn></p>")
    assert explained("<em>name</em> <em>names</em>").count('<em id="word-name">') == 1  # a place
    assert {one["term"] for one in pages_.read_glossary()} >= pages_.EVERYDAY
