"""`course.py book` -> site/: a page for each notebook, a first page, and what the search needs."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

from helpers.course import checkout
from helpers.course.book.page import (
    TEMPLATES,
    ContentsEntry,
    as_script,
    chapter,
    glossary,
    host_script,
    index,
    sections,
)
from helpers.course.book.runs import run
from helpers.course.chapter_notebooks import chapter_named, chapters, notebooks
from helpers.course.minutes import on_the_page
from helpers.course.terminal import CommandRefused, say
from helpers.model.spine import CHAPTERS, START
from helpers.safety import folders
from helpers.safety.folders import ManagedDirectory, made_again

SITE = checkout.ROOT / "site"
ASSETS = ("book.css", "book.js", "recap.js", "minisearch.js")
INSTRUMENTS = "instruments"


def book(words: list[str]) -> int:
    """Write site/; words name the chapters that are wanted, none means all of them."""
    names = [chapter_named(word) for word in words] or chapters()
    checkout.refuse_foreign(SITE)
    try:
        write(made_again(SITE), [notebooks() / name for name in names])
    except folders.Refusal as error:
        raise CommandRefused(f"site/ is not written: {error}.") from error
    except OSError as error:
        raise CommandRefused(
            f"site/ could not be written ({error.strerror or error}), and what is there already "
            "can still be read: fix that and run the same command again."
        ) from error
    say(f"site/ has {len(names)} chapters: open site/index.html, no server is needed.")
    return 0


def write(home: ManagedDirectory, paths: list[Path], fresh: bool = True) -> None:
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
    contents = [entry(path) for path in paths]
    pages = {}
    searched = []
    for path, here in zip(paths, contents, strict=True):
        notebook = run(path) if fresh else nbformat.read(path, as_version=4)
        label = f"{here.number} · {here.title}" if here.number else here.title
        place = {"page": here.stem, "chapter": label}
        searched += [section | place for section in sections(notebook)]
        pages[f"{here.stem}.html"] = chapter(notebook, here, contents)
    searched += _list_terms(contents, pages)
    pages["index.html"] = _make_first_page(contents)

    written = {name: page.encode("utf-8", "backslashreplace") for name, page in pages.items()}
    home.renew({"assets": _read_assets(searched), "images": _read_pictures(), "": written})
    for old in home.path.glob("*.html"):
        if old.name not in pages:
            home.discard(old.name)


def _list_terms(contents: list[ContentsEntry], pages: dict[str, str]) -> list[dict]:
    """Return what the search finds of the glossary: each term that its chapter explains."""
    found = []
    for term in glossary():
        anchor = f"word-{term['term'].casefold().replace(' ', '-')}"
        for entry_of_chapter in contents:
            is_chapter = entry_of_chapter.number == str(term["chapter"])
            stem = entry_of_chapter.stem
            if is_chapter and f' id="{anchor}"' in pages[f"{stem}.html"]:
                found.append(
                    {
                        "title": term["term"],
                        "text": term["means"],
                        "at": anchor,
                        "level": 0,
                        "page": stem,
                        "chapter": f"a term of {entry_of_chapter.title}",
                    }
                )
    return found


def _make_first_page(contents: list[ContentsEntry]) -> str:
    """Return index.html: the map and the hero are those of the first notebook."""
    cells = nbformat.read(notebooks() / f"{START}.ipynb", as_version=4).cells
    [map_source] = [cell.source for cell in cells if cell.source.startswith("## The map\n")]
    chapter_map = map_source[map_source.index("<div") :]
    return index(contents, chapter_map, recorded_hero(cells))


def _read_assets(searched: list[dict]) -> dict[str, bytes]:
    """Return the scripts and styles of all pages, and what the search looks through."""
    assets = {name: (TEMPLATES / name).read_bytes() for name in ASSETS}
    assets["host.js"] = host_script().encode()
    assets["sections.js"] = f"globalThis.bookSections = {as_script(searched)};\n".encode()
    return assets


def _read_pictures() -> dict[str, bytes]:
    """Return the pictures of the notebooks; folders are joined to the name with hyphens."""
    images = notebooks() / "images"
    pictures = {}
    for path in sorted(images.rglob("*")):
        if path.is_file():
            name = "-".join(path.relative_to(images).parts)
            pictures[name] = path.read_bytes()
    return pictures


def recorded_hero(cells) -> str:
    """Return the first stored page of a function that was called by several ways."""
    return next(html for html in _list_stored_html(cells) if "who-ways" in html)


def _list_stored_html(cells) -> Iterator[str]:
    """Yield the HTML of each stored output of the cells; "" for one that has none."""
    for cell in cells:
        for output in cell.get("outputs", ()):
            yield output.get("data", {}).get("text/html", "")


def entry(path: Path) -> ContentsEntry:
    """Return what the contents say of a notebook."""
    first_cell = nbformat.read(path, as_version=4).cells[0]
    title = re.search(r"^# (.+)$", first_cell.source, re.MULTILINE)[1]
    chapters_by_file = {known.file: known for known in CHAPTERS}
    known = chapters_by_file.get(path.stem)
    if known:
        return ContentsEntry(
            stem=path.stem,
            number=str(known.number),
            title=title,
            about=known.about,
            needs=known.needs,
            minutes=_describe_minutes(path),
        )
    number = "0" if path.stem == START else ""
    return ContentsEntry(path.stem, number, title, minutes=_describe_minutes(path))


def _describe_minutes(path: Path) -> str:
    """Return how long a notebook takes; "" for the page of all instruments."""
    if path.stem == INSTRUMENTS:
        return ""
    reading, exercises, _ = on_the_page(path)
    if exercises:
        return f"{reading} minutes + {exercises} of exercises"
    return f"{reading} minutes"
