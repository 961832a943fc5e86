"""`course.py book` -> site/: a page for each notebook, a first page, and what the search needs."""

import re
from pathlib import Path

import nbformat

from helpers.course import checkout
from helpers.course.book.page import (
    TEMPLATES,
    Entry,
    as_script,
    chapter,
    glossary,
    host_script,
    index,
    sections,
)
from helpers.course.book.runs import run
from helpers.course.minutes import on_the_page
from helpers.course.terminal import Refusal, say
from helpers.course.work import chapter_named, chapters, notebooks
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
        raise Refusal(f"site/ is not written: {error}.") from error
    except OSError as error:
        raise Refusal(
            f"site/ could not be written ({error.strerror or error}), and what is there already "
            "can still be read: fix that and run the same command again."
        ) from error
    say(f"site/ has {len(names)} chapters: open site/index.html, no server is needed.")
    return 0


def write(home: ManagedDirectory, paths: list[Path], fresh: bool = True) -> None:
    """Write the book of these notebooks into a folder of the course's own.

    What is not `fresh` has the outputs that are stored in the notebooks, and nothing lives.
    """
    contents = [entry(path) for path in paths]
    found, pages = [], {}
    for path, here in zip(paths, contents, strict=True):
        notebook = run(path) if fresh else nbformat.read(path, as_version=4)
        label = f"{here.number} · {here.title}" if here.number else here.title
        found += [{**one, "page": here.stem, "chapter": label} for one in sections(notebook)]
        pages[f"{here.stem}.html"] = chapter(notebook, here, contents)
    for word in glossary():
        place = f"word-{word['term'].casefold().replace(' ', '-')}"
        for here in [one for one in contents if one.number == str(word["chapter"])]:
            if f' id="{place}"' in pages[f"{here.stem}.html"]:
                about = {"title": word["term"], "text": word["means"], "at": place, "level": 0}
                found.append(about | {"page": here.stem, "chapter": f"a term of {here.title}"})
    first = nbformat.read(notebooks() / f"{START}.ipynb", as_version=4).cells
    [drawn] = [cell.source for cell in first if cell.source.startswith("## The map\n")]
    pages["index.html"] = index(contents, drawn[drawn.index("<div") :], recorded_hero(first))
    assets = {name: (TEMPLATES / name).read_bytes() for name in ASSETS}
    assets["host.js"] = host_script().encode()
    assets["sections.js"] = f"globalThis.bookSections = {as_script(found)};\n".encode()
    images = notebooks() / "images"
    files = [path for path in sorted(images.rglob("*")) if path.is_file()]
    pictures = {"-".join(p.relative_to(images).parts): p.read_bytes() for p in files}
    written = {name: page.encode("utf-8", "backslashreplace") for name, page in pages.items()}
    home.renew({"assets": assets, "images": pictures, "": written})
    for old in home.path.glob("*.html"):
        if old.name not in pages:
            home.discard(old.name)


def recorded_hero(cells) -> str:
    """Return the first stored page of a function that was called by several ways."""
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", ()))
    return next(data["text/html"] for data in outputs if "who-ways" in data.get("text/html", ""))


def entry(path: Path) -> Entry:
    """Return what the contents say of a notebook."""
    stem, [first, *_] = path.stem, nbformat.read(path, as_version=4).cells
    title = re.search(r"^# (.+)$", first.source, re.MULTILINE)[1]
    known = {one.file: one for one in CHAPTERS}.get(stem)
    reading, exercises, _ = on_the_page(path)
    minutes = "" if stem == INSTRUMENTS else f"{reading} minutes"
    minutes += f" + {exercises} of exercises" if minutes and exercises else ""
    about, needs = (known.about, known.needs) if known else ("", "")
    number = str(known.number) if known else "0" if stem == START else ""
    return Entry(stem, number, title, about, needs, minutes)
