"""A notebook that was run -> its page of the book, by nbconvert with a template of our own."""

import re
from dataclasses import dataclass
from pathlib import Path

import jinja2
from nbconvert import HTMLExporter

from helpers.course.book import links
from helpers.course.book.live import Widgets, as_script
from helpers.course.book.runs import KEY
from helpers.course.book.sections import sections
from helpers.model.exercise_cells import exercise_cells
from helpers.view import ink

TEMPLATES = Path(__file__).parent / "templates"
SETTINGS = {
    "exclude_input_prompt": True,
    "exclude_output_prompt": True,
    "template_file": "chapter.html.j2",
    "extra_template_paths": [str(TEMPLATES)],
}


@dataclass(frozen=True)
class Entry:
    """A line of the book's contents: the stem of a page, its number ("" for none), what it says."""

    stem: str
    number: str
    title: str
    about: str = ""
    needs: str = ""
    minutes: str = ""


def chapter(notebook, here: Entry, contents: list[Entry]) -> str:
    """Return the page of a notebook with its widgets alive; `contents` are all pages in order."""
    told = notebook.metadata.get(KEY, {"recorded": [], "hints": {}})
    widgets = Widgets(notebook, told["recorded"])
    widgets.enliven(notebook.cells)
    for one in exercise_cells(notebook.cells):
        notebook.cells[one.check].metadata["hints"] = told["hints"].get(one.name, [])
    at = contents.index(here)
    exporter = HTMLExporter(**SETTINGS)
    exporter.register_filter("scrolling", scrolling)
    values = {
        "here": here,
        "contents": contents,
        "sections": [one for one in sections(notebook) if one["level"] == 2],
        "before": contents[at - 1] if at else None,
        "after": contents[at + 1] if at + 1 < len(contents) else None,
        "styles": styles(widgets),
        "scripts": as_script(widgets.scripts),
    }
    return links.rewritten(exporter.from_notebook_node(notebook, resources={"book": values})[0])


def styles(widgets: Widgets) -> list[str]:
    """Return the style sheets that a page with these widgets needs: the colours, then their own."""
    return [ink.stylesheet(), *widgets.styles]


def index(contents: list[Entry], chapter_map: str) -> str:
    """Return the first page: what the book is, the map, and its contents."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    values = {"contents": contents, "here": None, "sections": [], "styles": [ink.stylesheet()]}
    page = environment.get_template("index.html.j2").render(
        resources={"book": values}, chapter_map=chapter_map
    )
    return links.rewritten(page)


def scrolling(page: str) -> str:
    """Return prose whose tables scroll sideways in a box of their own."""
    opened = re.sub(r"<table\b", '<div class="book-scroll"><table', page)
    return opened.replace("</table>", "</table></div>")
