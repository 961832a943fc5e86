"""A notebook that was run -> its HTML page of the book, made by nbconvert with our own template.
A page has no kernel: its widgets run by scripts of the page, and text that needs a kernel is left
out. Links to notebooks and pictures become links to the files of the book.
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
from helpers.view.living import LiveWidgets, format_script_json, read_script, read_widget_file

TEMPLATES = Path(__file__).parent / "templates"
WIDGET_VIEW_TYPE = "application/vnd.jupyter.widget-view+json"
WIDGET_STATES_TYPE = "application/vnd.jupyter.widget-state+json"
MOST_SEARCHED = (
    3_000  # characters of an output that the search looks through: enough for a glossary
)
LONGEST_TITLE = 90  # characters of a title in the contents
_IMAGE = re.compile(r'\b((?:href|src)="images/)([^":#]+)')
_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# The tag of a cell, or the class of a `<span>`, that makes no sense in a page without a kernel.
NEEDS_KERNEL = "needs-kernel"
_ASIDE = re.compile(rf' *<span class="{NEEDS_KERNEL}">.*?</span>', re.DOTALL)
GLOSSARY = Path(__file__).parents[2] / "study" / "words" / "words.toml"
# Terms that are everyday words too. They are explained only where the prose stresses them.
EVERYDAY = frozenset(
    ["name", "handle", "context", "forward", "backward", "reference", "route", "job"]
)
_STRESSED = re.compile(rf"<(strong|em)>(?=({'|'.join(sorted(EVERYDAY))})s?</)", re.IGNORECASE)
_TAG = re.compile(r"(<[^>]+>)")
_QUIET = re.compile(r"<(/?)(code|pre|a|h[1-6]|summary|svg)\b")  # no term is explained inside these
_MARKUP = re.compile(r"^```\w*|<[^>]*>|\]\([^)]*\)|[*`\[\]]|^#+ ", re.MULTILINE)


class Widgets(LiveWidgets):
    """The widgets of one notebook, each with its state after the run."""

    def __init__(self, notebook: nbformat.NotebookNode, recorded: list[dict]):
        """Take the states of the widgets of a notebook that was run.

        `recorded` has a dict for each exhibit that can say what each of its choices leads to; its
        "title" is the title of the exhibit.
        """
        super().__init__()
        self._records_by_title = {record["title"]: record for record in recorded}
        self._states = (
            notebook.metadata.get("widgets", {}).get(WIDGET_STATES_TYPE, {}).get("state", {})
        )

    def replace_widgets(self, cells) -> None:
        """Replace each widget in the outputs of cells by HTML that works without a kernel."""
        for cell in cells:
            for output in cell.get("outputs", []):
                self._replace_widget(output.get("data", {}))

    def _replace_widget(self, data: dict) -> None:
        """Replace the widget in an output, if it has one, by HTML that works without a kernel.

        `data` has MIME type -> a form of the output. An output whose widget is unknown, or is no
        anywidget, keeps the HTML that it has.
        """
        view = data.pop(WIDGET_VIEW_TYPE, None)
        if not view:
            return
        state = self._states.get(view["model_id"], {}).get("state")
        if state and "_esm" in state:  # only an anywidget has the source of its script
            record = self._records_by_title.get(state.get("title"))
            data["text/html"] = self.render_widget(state, data.get("text/html", ""), record)


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


def render_chapter_page(notebook, here: ContentsEntry, contents: list[ContentsEntry]) -> str:
    """Return the HTML page of a notebook, with widgets that work without a kernel.

    `here` is the entry of the notebook in the contents, and `contents` are the entries of all
    pages, in order.
    """
    # `runs.run` has added this; a notebook that was not run for the book has neither.
    of_run = notebook.metadata.get(KEY, {"recorded": [], "hints": {}})
    notebook.cells = drop_kernel_parts(notebook)
    widgets = Widgets(notebook, of_run["recorded"])
    widgets.replace_widgets(notebook.cells)
    for exercise in find_exercise_cells(notebook.cells):
        check_cell = notebook.cells[exercise.check]  # the position of the cell with the check
        check_cell.metadata["hints"] = of_run["hints"].get(exercise.name, [])
    exporter = HTMLExporter(
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        template_file="chapter.html.j2",
        extra_template_paths=[str(TEMPLATES)],
    )
    exporter.register_filter("scrolling", box_tables)
    exporter.register_filter("explained", TermExplainer())
    index_here = contents.index(here)
    values = {
        "here": here,
        "contents": contents,
        "sections": [section for section in list_sections(notebook) if section["level"] == 2],
        "before": contents[index_here - 1] if index_here else None,
        "after": contents[index_here + 1] if index_here + 1 < len(contents) else None,
        "styles": [read_widget_file("page.css"), *list_styles(widgets)],
        "scripts": format_script_json(widgets.scripts),
    }
    html, _ = exporter.from_notebook_node(notebook, resources={"book": values})
    return rewrite_links(html)


def host_script() -> str:
    """Return the script that runs the widgets of a page without a kernel."""
    return read_script("host")


def list_styles(widgets: Widgets) -> list[str]:
    """Return the style sheets that a page with these widgets needs: the colours, then their own."""
    return [ink.render_stylesheet(), *widgets.styles]


def render_first_page(contents: list[ContentsEntry], chapter_map: str, hero: str) -> str:
    """Return the HTML of the first page: the hero, what the book is, the map, and the contents.

    `hero` is the HTML of the exhibit at the top, and `chapter_map` that of the map of chapters.
    """
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
    return rewrite_links(page)


def box_tables(page: str) -> str:
    """Return HTML in which each table is in a box that scrolls sideways."""
    return re.sub(r"(<table\b.*?</table>)", r'<div class="book-scroll">\1</div>', page, flags=re.S)


def read_glossary() -> list[dict]:
    """Return the terms of the course, each as a dict: `term`, `means`, `chapter` (its number)."""
    terms = tomllib.loads(GLOSSARY.read_text("utf-8"))["word"]
    return [term | {"means": strip_markup(_on_one_line(term["means"]))} for term in terms]


def _on_one_line(text: str) -> str:
    """Return a text with one space for each run of spaces and line breaks."""
    return " ".join(text.split())


class TermExplainer:
    """Explains terms in a page: called with the HTML of each cell, in order, it returns new HTML.

    The first time that a section uses a term of the glossary, the term shows its meaning while the
    mouse is over it. The first time in the page, it also has an id for links: `word-graph-break`.
    """

    def __init__(self):
        """Read the glossary, and begin a page."""
        self._terms = {term["term"].casefold(): term for term in read_glossary()}
        # The longest first: "graph break" is found before "graph".
        longest_first = sorted(self._terms.keys() - EVERYDAY, key=lambda term: (-len(term), term))
        names = "|".join(map(re.escape, longest_first))
        self._word = re.compile(rf"(?<![\w-])({names})(e?s)?(?![\w-])", re.IGNORECASE)
        self._terms_with_id = set()  # in this page
        self._explained_terms = set()  # in this section

    def __call__(self, page: str) -> str:
        """Return the HTML of the next cell, with its terms explained."""
        if "<h2" in page:  # a section begins
            self._explained_terms.clear()
        with_ids = _STRESSED.sub(self._add_id, page)
        parts = _TAG.split(with_ids)  # text and tags in turn, a text first
        quiet_depth = 0  # how many elements are open in which no term is explained, such as <code>
        for index, part in enumerate(parts):
            is_text = index % 2 == 0
            if is_text and quiet_depth == 0:
                parts[index] = self._word.sub(self._add_meaning, part)
            elif not is_text:
                quiet_depth += _depth_change(part)
        return "".join(parts)

    def _add_id(self, match: re.Match) -> str:
        """Return the tag before a stressed everyday term, with the id of the term.

        `match` is one of `_STRESSED`: its group 1 is the name of the tag, its group 2 the term.
        """
        return f"<{match[1]}{self._make_id(match[2].casefold())}>"

    def _make_id(self, term: str) -> str:
        """Return the HTML attribute `id` of a term; "" if the page has it already."""
        if term in self._terms_with_id:
            return ""
        self._terms_with_id.add(term)
        name = term.replace(" ", "-")
        return f' id="word-{name}"'

    def _add_meaning(self, match: re.Match) -> str:
        """Return the HTML of a term with its meaning; later in the section, the term as it is.

        `match` is one of `self._word`: group 0 may have a plural ending, which group 1 lacks.
        """
        term = match[1].casefold()
        if term in self._explained_terms:
            return match[0]
        self._explained_terms.add(term)
        attribute = self._make_id(term)
        meaning = escape(self._terms[term]["means"])
        return f'<dfn class="book-word" tabindex="0"{attribute} title="{meaning}">{match[0]}</dfn>'


def _depth_change(tag: str) -> int:
    """Return 1 for a tag that begins an element in which no term is explained, such as `<code>`.

    The result is -1 for the tag that ends such an element, and 0 for any other tag.
    """
    match = _QUIET.match(tag)
    if not match:
        return 0
    is_end = match[1] == "/"
    return -1 if is_end else 1


def drop_kernel_parts(notebook) -> list:
    """Return the cells of a notebook that a page without a kernel shows.

    A cell with the tag `needs-kernel` is left out. Prose in a span of this class is deleted from
    its cell.
    """
    cells = [cell for cell in notebook.cells if NEEDS_KERNEL not in cell.metadata.get("tags", ())]
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = _ASIDE.sub("", cell.source)
    return cells


# --- sections: what the contents list, and what the search looks through


def list_sections(notebook) -> list[dict]:
    """Return the sections of a notebook, in order: `title`, `level`, `at` (the anchor), `text`.

    A section begins at a heading, and ends at the next heading of any level. Its text has its
    prose, the code of its cells and the outputs, for the search.
    """
    found_sections = []
    for cell in drop_kernel_parts(notebook):
        if cell.cell_type != "code":
            _add_prose(found_sections, cell)
        elif found_sections:  # code before the first heading belongs to no section
            found_sections[-1]["text"] += "\n".join(["", cell.source, *_list_texts(cell)])

    for section in found_sections:
        section["text"] = _on_one_line(strip_markup(section["text"]))
    return found_sections


def _list_texts(cell) -> list[str]:
    """Return the first `MOST_SEARCHED` characters of each output of a cell."""
    texts = []
    for output in cell.outputs:
        data = output.get("data", output)  # printed text has no `data`; it is under `text`
        text = data.get("text/plain", data.get("text", ""))
        texts.append(text[:MOST_SEARCHED])
    return texts


def _add_prose(found_sections: list[dict], cell) -> None:
    """Append a section for each heading of a Markdown cell, with the prose below the heading.

    Prose before the first heading of the cell is added to the last section of the cells before.
    """
    anchor = f"cell-id={cell.id}"  # the anchor of the first heading of the cell
    for part in re.split(r"(?m)^(?=#{1,3} )", _without_comments(cell.source)):
        heading = _HEADING.match(part)
        if heading:
            title = strip_markup(heading[2])
            section = {
                "title": title[:LONGEST_TITLE],
                "level": len(heading[1]),
                "at": anchor or _make_anchor(title),
                "text": "",
            }
            found_sections.append(section)
            anchor = ""  # the next headings of the cell have anchors by their titles
            part = part[heading.end() :]
        if found_sections:  # prose before the first heading belongs to no section
            found_sections[-1]["text"] += "\n" + part


def _without_comments(source: str) -> str:
    """Return prose in which no line of fenced code begins with `#`, as a heading does."""
    return _FENCED.sub(lambda code: re.sub(r"(?m)^#", " ", code[0]), source)


def _make_anchor(title: str) -> str:
    """Return the id that nbconvert gives a heading with this title."""
    html = add_anchor(f"<h2>{title}</h2>")
    return re.search(r'id="([^"]*)"', html)[1]


def strip_markup(source: str) -> str:
    """Return prose without Markdown's marks and without HTML tags."""
    return _MARKUP.sub("", source)


def rewrite_links(page: str) -> str:
    """Return HTML whose links lead to the book's files.

    `02_names.ipynb` becomes `02_names.html`, and `images/ch1/stack.svg` `images/ch1-stack.svg`.
    """
    page = re.sub(r'\b((?:href|src)="[^":#]+)\.ipynb(?=[#"])', r"\1.html", page)
    return _IMAGE.sub(lambda found: found[1] + found[2].replace("/", "-"), page)
