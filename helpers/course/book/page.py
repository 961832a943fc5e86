"""A notebook that was run -> its page of the book, by nbconvert with a template of our own.

A widget of the course is an anywidget: a script (an ES module), a style sheet, and a state. Jupyter
stores the script and the sheet with each; a page holds each of them once, and its own host lets the
widgets live. Addresses of notebooks and pictures become those of the book's.
"""

import html
import json
import re
from collections import namedtuple
from pathlib import Path

import jinja2
import nbformat
from nbconvert import HTMLExporter
from nbconvert.filters import add_anchor

from helpers.course.book.runs import KEY
from helpers.model.study_records import exercise_cells
from helpers.view import ink

TEMPLATES = Path(__file__).parent / "templates"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
OURS = ("layout", "tabbable", "tooltip")  # of every widget, and nothing for a page
MOST = 3_000  # characters of an output that are searched, a glossary's and no listing's
SHORT = 90  # characters of a title in the contents
_IMAGE = re.compile(r'\b((?:href|src)="images/)([^":#]+)')
_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
KERNEL = "needs-kernel"  # a cell's tag, and a span's class: what is nothing for a page to be read
_ASIDE = re.compile(rf' *<span class="{KERNEL}">.*?</span>', re.DOTALL)
_MARKUP = re.compile(r"^```\w*|<[^>]*>|\]\([^)]*\)|[*`\[\]]|^#+ ", re.MULTILINE)


class Widgets:
    """The widgets of one notebook: `scripts` and `styles` without repetition, and a state each."""

    def __init__(self, notebook: nbformat.NotebookNode, recorded: list[dict]):
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self._recorded = {one["title"]: one for one in recorded}
        self._states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})

    def enliven(self, cells) -> None:
        """Give each output with a widget a page form in which it lives; the rest stays."""
        for output in (one for cell in cells for one in cell.get("outputs", [])):
            data = output.get("data", {})
            view = data.pop(VIEW, None)
            state = self._states.get(view["model_id"], {}).get("state") if view else None
            if state and "_esm" in state:
                data["text/html"] = self._living(state, data.get("text/html", ""))

    def _living(self, state: dict, still: str) -> str:
        record, style = self._recorded.get(state.get("title")), state.get("_css", "")
        self.scripts += [state["_esm"]] * (state["_esm"] not in self.scripts)
        self.styles += [style] * (style not in self.styles)
        told = {
            "script": self.scripts.index(state["_esm"]),
            "classes": state.get("_dom_classes", []),
            "state": {k: v for k, v in state.items() if not k.startswith("_") and k not in OURS},
            "recorded": record,
        }
        note = f'<p class="book-note">{html.escape(record["note"])}</p>' if record else ""
        return (
            f'<div class="book-live"><script type="application/json">{as_script(told)}</script>'
            f'<div class="book-still">{still}</div>{note}</div>'
        )


def as_script(told) -> str:
    """Return JSON that ends no `<script>` in which it stands."""
    words = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return words.replace("<", "\\u003c")


# A line of the book's contents: the stem of a page, its number ("" for none), what it says.
Entry = namedtuple("Entry", "stem number title about needs minutes", defaults=("", "", ""))


def chapter(notebook, here: Entry, contents: list[Entry]) -> str:
    """Return the page of a notebook with its widgets alive; `contents` are all pages in order."""
    told = notebook.metadata.get(KEY, {"recorded": [], "hints": {}})
    notebook.cells = readable(notebook)
    widgets = Widgets(notebook, told["recorded"])
    widgets.enliven(notebook.cells)
    for one in exercise_cells(notebook.cells):
        notebook.cells[one.check].metadata["hints"] = told["hints"].get(one.name, [])
    at = contents.index(here)
    exporter = HTMLExporter(
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        template_file="chapter.html.j2",
        extra_template_paths=[str(TEMPLATES)],
    )
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
    return rewritten(exporter.from_notebook_node(notebook, resources={"book": values})[0])


def styles(widgets: Widgets) -> list[str]:
    """Return the style sheets that a page with these widgets needs: the colours, then their own."""
    return [ink.stylesheet(), *widgets.styles]


def index(contents: list[Entry], chapter_map: str, hero: str) -> str:
    """Return the first page: the hero, what the book is, the map, and its contents."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    values = {"contents": contents, "here": None, "sections": [], "styles": [ink.stylesheet()]}
    page = environment.get_template("index.html.j2").render(
        resources={"book": values}, chapter_map=chapter_map, hero=hero
    )
    return rewritten(page)


def scrolling(page: str) -> str:
    """Return prose whose tables scroll sideways in a box of their own."""
    return re.sub(r"(<table\b.*?</table>)", r'<div class="book-scroll">\1</div>', page, flags=re.S)


def readable(notebook) -> list:
    """Return the cells of a page that has no kernel, without the words that need one."""
    cells = [cell for cell in notebook.cells if KERNEL not in cell.metadata.get("tags", ())]
    for cell in cells:
        cell.source = _ASIDE.sub("", cell.source) if cell.cell_type == "markdown" else cell.source
    return cells


# --- sections: what the contents list, and what the search looks through


def sections(notebook) -> list[dict]:
    """Return title, level, place (the anchor) and text of each section, in order.

    A section ends where the next heading stands, of whatever level.
    """
    found = []
    for cell in readable(notebook):
        at = f"cell-id={cell.id}"
        if cell.cell_type == "code":
            data = [one.get("data", one) for one in cell.outputs]
            texts = [one.get("text/plain", one.get("text", ""))[:MOST] for one in data]
            if found:
                found[-1]["text"] += "\n".join(("", cell.source, *texts))
            continue
        bare = _FENCED.sub(lambda code: re.sub(r"(?m)^#", " ", code[0]), cell.source)
        for part in re.split(r"(?m)^(?=#{1,3} )", bare):
            if heading := _HEADING.match(part):
                drawn = add_anchor(f"<h2>{plain(heading[2])}</h2>")  # nbconvert gives it an id
                place, at = at or re.search(r'id="([^"]*)"', drawn)[1], ""  # the first: the cell's
                level, title = len(heading[1]), plain(heading[2])[:SHORT]
                found.append({"title": title, "level": level, "at": place, "text": ""})
            if found:
                found[-1]["text"] += "\n" + part[heading.end() if heading else 0 :]
    return [one | {"text": " ".join(plain(one["text"]).split())} for one in found]


def plain(source: str) -> str:
    """Return prose without its marks."""
    return _MARKUP.sub("", source)


# --- addresses


def rewritten(page: str) -> str:
    """Return HTML whose links to notebooks and pictures are those of the book's files."""
    page = re.sub(r'\b((?:href|src)="[^":#]+)\.ipynb(?=[#"])', r"\1.html", page)
    return _IMAGE.sub(lambda found: found[1] + found[2].replace("/", "-"), page)
