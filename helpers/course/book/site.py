"""`course.py book` -> the folder site/: a page for each notebook, a first page, a search index."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

from helpers.course import checkout
from helpers.course.book.page import (
    TEMPLATES,
    ContentsEntry,
    format_script_json,
    host_script,
    list_sections,
    read_glossary,
    render_chapter_page,
    render_first_page,
)
from helpers.course.book.runs import run
from helpers.course.chapter_notebooks import find_notebook, list_notebooks, notebooks_folder
from helpers.course.minutes import count_page_minutes
from helpers.course.terminal import CommandRefused, say
from helpers.model.spine import CHAPTERS, START
from helpers.safety import folders
from helpers.safety.folders import ManagedDirectory, open_rebuildable_folder

SITE = checkout.ROOT / "site"
ASSETS = ("book.css", "book.js", "recap.js", "minisearch.js")
INSTRUMENTS = "instruments"


def write_book(words: list[str]) -> int:
    """Write the folder site/, and return 0, the exit code of the command.

    `words` are the words after `course.py book`: they name the chapters of the book. Without words,
    the book has all chapters.
    """
    names = [find_notebook(word) for word in words] or list_notebooks()
    checkout.refuse_foreign(SITE)
    try:
        write_pages(open_rebuildable_folder(SITE), [notebooks_folder() / name for name in names])
    except folders.Refusal as error:
        raise CommandRefused(f"site/ is not written: {error}.") from error
    except OSError as error:
        raise CommandRefused(
            f"site/ could not be written ({error.strerror or error}), and what is there already "
            "can still be read: fix that and run the same command again."
        ) from error
    say(f"site/ has {len(names)} chapters: open site/index.html, no server is needed.")
    return 0


def write_pages(home: ManagedDirectory, paths: list[Path], fresh: bool = True) -> None:
    """Write the book of these notebooks, a web site, into a folder that the course owns.

    Parameters
    ----------
    home
        The folder. Pages of an earlier book that this one does not have are removed.
    paths
        The notebooks, in the order of the book.
    fresh
        Whether each notebook is run first. If not, the pages show the outputs that are stored in
        the notebooks, and no exhibit can be operated.
    """
    contents = [read_contents_entry(path) for path in paths]
    pages = {}  # file name -> HTML
    search_entries = []  # what the search looks through: a dict for each section and each term
    for path, here in zip(paths, contents, strict=True):
        notebook = run(path) if fresh else nbformat.read(path, as_version=4)
        label = f"{here.number} · {here.title}" if here.number else here.title
        place = {"page": here.stem, "chapter": label}
        search_entries += [section | place for section in list_sections(notebook)]
        pages[f"{here.stem}.html"] = render_chapter_page(notebook, here, contents)
    search_entries += _list_terms(contents, pages)
    pages["index.html"] = _make_first_page(contents)

    encoded_pages = {name: page.encode("utf-8", "backslashreplace") for name, page in pages.items()}
    # Replace the files of these folders of the site; "" is the site's own folder, with the pages.
    assets = _read_assets(search_entries)
    home.renew({"assets": assets, "images": _read_pictures(), "": encoded_pages})
    for old_page in home.path.glob("*.html"):
        if old_page.name not in pages:
            home.discard(old_page.name)


def _list_terms(contents: list[ContentsEntry], pages: dict[str, str]) -> list[dict]:
    """Return an entry of the search index for each term of the glossary.

    A term is left out if the page of its chapter has no place that explains the term. `pages` has
    file name -> HTML.
    """
    search_entries = []
    for term in read_glossary():
        anchor = f"word-{term['term'].casefold().replace(' ', '-')}"  # the id of that place
        for entry_of_chapter in contents:
            is_chapter = entry_of_chapter.number == str(term["chapter"])
            stem = entry_of_chapter.stem
            if is_chapter and f' id="{anchor}"' in pages[f"{stem}.html"]:
                search_entry = {
                    "title": term["term"],
                    "text": term["means"],
                    "at": anchor,
                    "level": 0,  # sections have the levels of their headings, 1 to 3
                    "page": stem,
                    "chapter": f"a term of {entry_of_chapter.title}",
                }
                search_entries.append(search_entry)
    return search_entries


def _make_first_page(contents: list[ContentsEntry]) -> str:
    """Return the text of index.html.

    The first notebook of the course has the map of the chapters, and the hero: the exhibit at the
    top of the page.
    """
    cells = nbformat.read(notebooks_folder() / f"{START}.ipynb", as_version=4).cells
    [map_source] = [cell.source for cell in cells if cell.source.startswith("## The map\n")]
    chapter_map = map_source[map_source.index("<div") :]
    return render_first_page(contents, chapter_map, find_hero(cells))


def _read_assets(search_entries: list[dict]) -> dict[str, bytes]:
    """Return file name -> content: the scripts and styles of all pages, and the search index."""
    assets = {name: (TEMPLATES / name).read_bytes() for name in ASSETS}
    assets["host.js"] = host_script().encode()
    assets["sections.js"] = (
        f"globalThis.bookSections = {format_script_json(search_entries)};\n".encode()
    )
    return assets


def _read_pictures() -> dict[str, bytes]:
    """Return file name -> content of each picture of the notebooks.

    The book has all pictures in one folder: `images/ch1/stack.svg` is `ch1-stack.svg` there.
    """
    images = notebooks_folder() / "images"
    pictures = {}
    for path in sorted(images.rglob("*")):
        if path.is_file():
            name = "-".join(path.relative_to(images).parts)
            pictures[name] = path.read_bytes()
    return pictures


def find_hero(cells) -> str:
    """Return the hero of the first page: the stored HTML of the first journey with several ways.

    A journey shows a call of a function, and a way is how it was called, such as tf.function.
    """
    return next(html for html in _list_stored_html(cells) if "who-ways" in html)


def _list_stored_html(cells) -> Iterator[str]:
    """Yield the HTML of each stored output of the cells; "" for one that has none."""
    for cell in cells:
        for output in cell.get("outputs", ()):
            yield output.get("data", {}).get("text/html", "")


def read_contents_entry(path: Path) -> ContentsEntry:
    """Return the line of a notebook in the contents of the book."""
    first_cell = nbformat.read(path, as_version=4).cells[0]
    title = re.search(r"^# (.+)$", first_cell.source, re.MULTILINE)[1]
    chapters_by_file = {spine_chapter.file: spine_chapter for spine_chapter in CHAPTERS}
    spine_chapter = chapters_by_file.get(path.stem)
    if spine_chapter:
        return ContentsEntry(
            stem=path.stem,
            number=str(spine_chapter.number),
            title=title,
            about=spine_chapter.about,
            needs=spine_chapter.needs,
            minutes=_describe_minutes(path),
        )

    # The start page is chapter 0; any other notebook, such as the page of all instruments, has no
    # number.
    number = "0" if path.stem == START else ""
    return ContentsEntry(path.stem, number, title, minutes=_describe_minutes(path))


def _describe_minutes(path: Path) -> str:
    """Return how long a notebook takes, as text; "" for the page of all instruments."""
    if path.stem == INSTRUMENTS:
        return ""
    reading, exercises, _ = count_page_minutes(path)
    if exercises:
        return f"{reading} minutes + {exercises} of exercises"
    return f"{reading} minutes"
