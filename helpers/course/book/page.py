"""A notebook that was run -> its page of the book, by nbconvert with a template of our own.

Its widgets live as `helpers/view/living.py` lets them. Addresses of notebooks and pictures become
those of the book's.
"""

import re
import tomllib
from collections import namedtuple
from pathlib import Path

import jinja2
import nbformat
from markupsafe import escape
from nbconvert import HTMLExporter
from nbconvert.filters import add_anchor

from helpers.course.book.runs import KEY
from helpers.model.study_records import exercise_cells
from helpers.view import ink
from helpers.view.living import Living, as_script, read_script, read_widget_file

TEMPLATES = Path(__file__).parent / "templates"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
MOST = 3_000  # characters of an output that are searched, a glossary's and no listing's
SHORT = 90  # characters of a title in the contents
_IMAGE = re.compile(r'\b((?:href|src)="images/)([^":#]+)')
_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
KERNEL = "needs-kernel"  # a cell's tag, and a span's class: what is nothing for a page to be read
_ASIDE = re.compile(rf' *<span class="{KERNEL}">.*?</span>', re.DOTALL)
GLOSSARY = Path(__file__).parents[2] / "study" / "words" / "words.toml"
# Terms that are everyday words as well, and need no dotted line there.
EVERYDAY = frozenset(
    ["name", "handle", "context", "forward", "backward", "reference", "route", "job"]
)
_STRESSED = re.compile(rf"<(strong|em)>(?=({'|'.join(sorted(EVERYDAY))})s?</)", re.IGNORECASE)
_TAG = re.compile(r"(<[^>]+>)")
_QUIET = re.compile(r"<(/?)(code|pre|a|h[1-6]|summary|svg)\b")  # no word is explained inside
_MARKUP = re.compile(r"^```\w*|<[^>]*>|\]\([^)]*\)|[*`\[\]]|^#+ ", re.MULTILINE)


class Widgets(Living):
    """The widgets of one notebook, and a state each."""

    def __init__(self, notebook: nbformat.NotebookNode, recorded: list[dict]):
        super().__init__()
        self._recorded = {one["title"]: one for one in recorded}
        self._states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})

    def enliven_cells(self, cells) -> None:
        """Give each output with a widget a page form in which it lives; the rest stays."""
        for output in (one for cell in cells for one in cell.get("outputs", [])):
            data = output.get("data", {})
            view = data.pop(VIEW, None)
            state = self._states.get(view["model_id"], {}).get("state") if view else None
            if state and "_esm" in state:
                record = self._recorded.get(state.get("title"))
                data["text/html"] = self.enliven(state, data.get("text/html", ""), record)


# A line of the book's contents: the stem of a page, its number ("" for none), what it says.
Entry = namedtuple("Entry", "stem number title about needs minutes", defaults=("", "", ""))


def chapter(notebook, here: Entry, contents: list[Entry]) -> str:
    """Return the page of a notebook with its widgets alive; `contents` are all pages in order."""
    told = notebook.metadata.get(KEY, {"recorded": [], "hints": {}})
    notebook.cells = readable(notebook)
    widgets = Widgets(notebook, told["recorded"])
    widgets.enliven_cells(notebook.cells)
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
    exporter.register_filter("explained", Explained())
    values = {
        "here": here,
        "contents": contents,
        "sections": [one for one in sections(notebook) if one["level"] == 2],
        "before": contents[at - 1] if at else None,
        "after": contents[at + 1] if at + 1 < len(contents) else None,
        "styles": [read_widget_file("page.css"), *styles(widgets)],
        "scripts": as_script(widgets.scripts),
    }
    return rewritten(exporter.from_notebook_node(notebook, resources={"book": values})[0])


def host_script() -> str:
    """Return the script that makes the widgets of a page live."""
    return read_script("host")


def styles(widgets: Widgets) -> list[str]:
    """Return the style sheets that a page with these widgets needs: the colours, then their own."""
    return [ink.render_stylesheet(), *widgets.styles]


def index(contents: list[Entry], chapter_map: str, hero: str) -> str:
    """Return the first page: the hero, what the book is, the map, and its contents."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
    values = {
        "contents": contents,
        "here": None,
        "sections": [],
        "styles": [ink.render_stylesheet(), read_widget_file("page.css")],
    }
    template = environment.get_template("index.html.j2")
    page = template.render(resources={"book": values}, chapter_map=chapter_map, hero=hero)
    return rewritten(page)


def scrolling(page: str) -> str:
    """Return prose whose tables scroll sideways in a box of their own."""
    return re.sub(r"(<table\b.*?</table>)", r'<div class="book-scroll">\1</div>', page, flags=re.S)


def glossary() -> list[dict]:
    """Return the terms of the course, each with what it `means` and its `chapter`."""
    found = tomllib.loads(GLOSSARY.read_text("utf-8"))["word"]
    return [one | {"means": plain(" ".join(one["means"].split()))} for one in found]


class Explained:
    """Prose of a page, cell after cell -> the same; each section's first of a term says what it is.

    The first of the page can be linked to, as `word-` and the term with hyphens.
    """

    def __init__(self):
        self._terms = {one["term"].casefold(): one for one in glossary()}
        marked = sorted(self._terms.keys() - EVERYDAY, key=lambda term: (-len(term), term))
        names = "|".join(map(re.escape, marked))
        self._word = re.compile(rf"(?<![\w-])({names})(e?s)?(?![\w-])", re.IGNORECASE)
        self._in_page, self._in_section = set(), set()

    def __call__(self, page: str) -> str:
        """Return the HTML of the next cell."""
        if "<h2" in page:
            self._in_section.clear()
        quiet, parts = 0, _TAG.split(_STRESSED.sub(self._anchored, page))
        for at, part in enumerate(parts):
            if at % 2 == 0:
                parts[at] = part if quiet else self._word.sub(self._marked, part)
            elif found := _QUIET.match(part):
                quiet += -1 if found[1] else 1
        return "".join(parts)

    def _anchored(self, found: re.Match) -> str:
        return f"<{found[1]}{self._place(found[2].casefold())}>"

    def _place(self, term: str) -> str:
        """Return the id of a term, once a page."""
        place = "" if term in self._in_page else f' id="word-{term.replace(" ", "-")}"'
        self._in_page.add(term)
        return place

    def _marked(self, found: re.Match) -> str:
        term = found[1].casefold()
        if term in self._in_section:
            return found[0]
        self._in_section.add(term)
        place = self._place(term)
        told = escape(self._terms[term]["means"])
        return f'<dfn class="book-word" tabindex="0"{place} title="{told}">{found[0]}</dfn>'


def readable(notebook) -> list:
    """Return the cells of a page that has no kernel, without the words that need one."""
    cells = [cell for cell in notebook.cells if KERNEL not in cell.metadata.get("tags", ())]
    for cell in cells:
        cell.source = _ASIDE.sub("", cell.source) if cell.cell_type == "markdown" else cell.source
    return cells


# --- sections: what the contents list, and what the search looks through


def sections(notebook) -> list[dict]:
    """Return title, level, place (the anchor) and text of each section, in order.

    A section ends at the next heading of any level.
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


def rewritten(page: str) -> str:
    """Return HTML whose links to notebooks and pictures are those of the book's files."""
    page = re.sub(r'\b((?:href|src)="[^":#]+)\.ipynb(?=[#"])', r"\1.html", page)
    return _IMAGE.sub(lambda found: found[1] + found[2].replace("/", "-"), page)
