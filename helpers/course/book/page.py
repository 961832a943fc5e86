"""A notebook that was run -> its page of the book, by nbconvert with a template of our own.

Its widgets live as `helpers/view/living.py` lets them. Addresses of notebooks and pictures become
those of the book's.
"""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import jinja2
import nbformat
from markupsafe import escape
from nbconvert import HTMLExporter
from nbconvert.filters import add_anchor

from helpers.course.book.runs import KEY
from helpers.model.study_records import find_exercise_cells
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
        """Take the states of the widgets of a notebook that was run.

        `recorded` has what an exhibit can say of each of its choices: dicts with a "title".
        """
        super().__init__()
        self._records_by_title = {record["title"]: record for record in recorded}
        self._states = notebook.metadata.get("widgets", {}).get(STATE, {}).get("state", {})

    def enliven_cells(self, cells) -> None:
        """Give each output with a widget a page form in which it lives; the rest stays."""
        for cell in cells:
            for output in cell.get("outputs", []):
                self._enliven_output(output.get("data", {}))

    def _enliven_output(self, data: dict) -> None:
        """Replace the widget in an output, if it has one, by a page form.

        `data` are the forms of the output, by MIME type.
        """
        view = data.pop(VIEW, None)
        if not view:
            return
        state = self._states.get(view["model_id"], {}).get("state")
        if state and "_esm" in state:
            record = self._records_by_title.get(state.get("title"))
            data["text/html"] = self.enliven(state, data.get("text/html", ""), record)


class ContentsEntry(NamedTuple):
    """A line of the book's contents."""

    #: The name of the page, without its ending.
    stem: str
    #: The chapter's number, "" for none.
    number: str
    #: The page's title.
    title: str
    #: What the chapter is about.
    about: str = ""
    #: What it needs.
    needs: str = ""
    #: How long it takes, in words.
    minutes: str = ""


def chapter(notebook, here: ContentsEntry, contents: list[ContentsEntry]) -> str:
    """Return the HTML page of a notebook that was run, with its widgets alive.

    `here` is its entry in the contents, and `contents` are the entries of all pages, in order.
    """
    # `runs.run` puts this there; a notebook that was not run has none.
    of_run = notebook.metadata.get(KEY, {"recorded": [], "hints": {}})
    notebook.cells = readable(notebook)
    widgets = Widgets(notebook, of_run["recorded"])
    widgets.enliven_cells(notebook.cells)
    for exercise in find_exercise_cells(notebook.cells):
        check_cell = notebook.cells[exercise.check]
        check_cell.metadata["hints"] = of_run["hints"].get(exercise.name, [])
    exporter = HTMLExporter(
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        template_file="chapter.html.j2",
        extra_template_paths=[str(TEMPLATES)],
    )
    exporter.register_filter("scrolling", scrolling)
    exporter.register_filter("explained", Explained())
    index_here = contents.index(here)
    values = {
        "here": here,
        "contents": contents,
        "sections": [section for section in sections(notebook) if section["level"] == 2],
        "before": contents[index_here - 1] if index_here else None,
        "after": contents[index_here + 1] if index_here + 1 < len(contents) else None,
        "styles": [read_widget_file("page.css"), *styles(widgets)],
        "scripts": as_script(widgets.scripts),
    }
    html, _ = exporter.from_notebook_node(notebook, resources={"book": values})
    return rewritten(html)


def host_script() -> str:
    """Return the script that makes the widgets of a page live."""
    return read_script("host")


def styles(widgets: Widgets) -> list[str]:
    """Return the style sheets that a page with these widgets needs: the colours, then their own."""
    return [ink.render_stylesheet(), *widgets.styles]


def index(contents: list[ContentsEntry], chapter_map: str, hero: str) -> str:
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
    terms = tomllib.loads(GLOSSARY.read_text("utf-8"))["word"]
    return [term | {"means": plain(_on_one_line(term["means"]))} for term in terms]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


class Explained:
    """Prose of a page, cell after cell -> the same; each section's first of a term says what it is.

    The first of the page can be linked to, as `word-` and the term with hyphens.
    """

    def __init__(self):
        """Read the glossary, and begin a page."""
        self._terms = {term["term"].casefold(): term for term in glossary()}
        # The longest first: "graph break" is found before "graph".
        marked = sorted(self._terms.keys() - EVERYDAY, key=lambda term: (-len(term), term))
        names = "|".join(map(re.escape, marked))
        self._word = re.compile(rf"(?<![\w-])({names})(e?s)?(?![\w-])", re.IGNORECASE)
        # The terms that were explained already.
        self._in_page = set()
        self._in_section = set()

    def __call__(self, page: str) -> str:
        """Return the HTML of the next cell."""
        if "<h2" in page:
            self._in_section.clear()
        parts = _TAG.split(_STRESSED.sub(self._anchored, page))  # text and tags in turn
        quiet_depth = 0
        for index, part in enumerate(parts):
            is_text = index % 2 == 0
            if is_text and quiet_depth == 0:
                parts[index] = self._word.sub(self._marked, part)
            elif not is_text:
                quiet_depth += _depth_change(part)
        return "".join(parts)

    def _anchored(self, found: re.Match) -> str:
        """Return the tag before a stressed everyday term, with the term's id."""
        return f"<{found[1]}{self._place(found[2].casefold())}>"

    def _place(self, term: str) -> str:
        """Return the HTML attribute `id` for a term, once a page; "" after that."""
        if term in self._in_page:
            return ""
        self._in_page.add(term)
        name = term.replace(" ", "-")
        return f' id="word-{name}"'

    def _marked(self, found: re.Match) -> str:
        """Return a term with its meaning, at its first place in the section, else as it is."""
        term = found[1].casefold()
        if term in self._in_section:
            return found[0]
        self._in_section.add(term)
        place = self._place(term)
        meaning = escape(self._terms[term]["means"])
        return f'<dfn class="book-word" tabindex="0"{place} title="{meaning}">{found[0]}</dfn>'


def _depth_change(tag: str) -> int:
    """Return 1 where a tag begins an element in which no word is explained, -1 where it ends it."""
    found = _QUIET.match(tag)
    if not found:
        return 0
    is_end = found[1] == "/"
    return -1 if is_end else 1


def readable(notebook) -> list:
    """Return the cells of a page that has no kernel, without the words that need one."""
    cells = [cell for cell in notebook.cells if KERNEL not in cell.metadata.get("tags", ())]
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = _ASIDE.sub("", cell.source)
    return cells


# --- sections: what the contents list, and what the search looks through


def sections(notebook) -> list[dict]:
    """Return title, level, place (the anchor) and text of each section, in order.

    A section ends at the next heading of any level.
    """
    found = []
    for cell in readable(notebook):
        if cell.cell_type != "code":
            _add_prose(found, cell)
        elif found:
            found[-1]["text"] += "\n".join(["", cell.source, *_list_texts(cell)])
    return [section | {"text": _on_one_line(plain(section["text"]))} for section in found]


def _list_texts(cell) -> list[str]:
    """Return the beginning of each output of a cell, as text."""
    texts = []
    for output in cell.outputs:
        data = output.get("data", output)
        text = data.get("text/plain", data.get("text", ""))
        texts.append(text[:MOST])
    return texts


def _add_prose(found: list[dict], cell) -> None:
    """Append a section to `found` at each heading of a cell, and add its prose to the last one."""
    anchor = f"cell-id={cell.id}"  # of its first heading
    for part in re.split(r"(?m)^(?=#{1,3} )", _without_comments(cell.source)):
        heading = _HEADING.match(part)
        if heading:
            title = plain(heading[2])
            section = {
                "title": title[:SHORT],
                "level": len(heading[1]),
                "at": anchor or _anchor_of(title),
                "text": "",
            }
            found.append(section)
            anchor = ""  # the next headings of the cell have anchors by their titles
            part = part[heading.end() :]
        if found:
            found[-1]["text"] += "\n" + part


def _without_comments(source: str) -> str:
    """Return prose whose fenced code has no line that looks like a heading."""
    return _FENCED.sub(lambda code: re.sub(r"(?m)^#", " ", code[0]), source)


def _anchor_of(title: str) -> str:
    """Return the id that nbconvert gives a heading."""
    html = add_anchor(f"<h2>{title}</h2>")
    return re.search(r'id="([^"]*)"', html)[1]


def plain(source: str) -> str:
    """Return prose without its marks."""
    return _MARKUP.sub("", source)


def rewritten(page: str) -> str:
    """Return HTML whose links to notebooks and pictures are those of the book's files."""
    page = re.sub(r'\b((?:href|src)="[^":#]+)\.ipynb(?=[#"])', r"\1.html", page)
    return _IMAGE.sub(lambda found: found[1] + found[2].replace("/", "-"), page)
