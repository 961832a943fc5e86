"""Chapter 0 -> docs/look.html, a file that needs no network, no Python: `python -m tools.look`.

It is the book's page, with what stands beside a page of the book put into it.
"""

import base64
import hashlib
import re
from pathlib import Path

import nbformat

from helpers.course.book.page import (
    TEMPLATES,
    format_script_json,
    list_sections,
    render_chapter_page,
)
from helpers.course.book.runs import run
from helpers.course.book.site import find_hero, read_contents_entry
from helpers.course.chapter_notebooks import notebooks_folder
from helpers.model.spine import START

ROOT = Path(__file__).parents[1]
LOOK, CHAPTER = ROOT / "docs" / "look.html", notebooks_folder() / f"{START}.ipynb"
WIDGETS = ROOT / "helpers" / "view" / "widgets"
BUNDLES = WIDGETS / "bundle"
KINDS = {".svg": "image/svg+xml", ".png": "image/png"}
WORDS = {"Search all chapters": "Search this page", "Search the book": "Search this page"}
LOADED = '["assets/minisearch.js", "assets/sections.js"]'  # book.js, which here finds them loaded


def made_from() -> str:
    """Return the mark of all that the page is made from."""
    parts = [CHAPTER, *sorted(TEMPLATES.iterdir()), *sorted(WIDGETS.rglob("*.*s"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()


def hero() -> str:
    """Return the exhibit that chapter 0 begins with, as it is stored."""
    return find_hero(nbformat.read(CHAPTER, as_version=4).cells)


def page() -> str:
    """Run the chapter, and return its page as one file."""
    notebook, here = run(CHAPTER), read_contents_entry(CHAPTER)
    found = [{**one, "page": LOOK.stem, "chapter": here.title} for one in list_sections(notebook)]
    made = render_chapter_page(notebook, here, [here])
    made = re.sub(r'<link href="assets/([^"]+)" rel="stylesheet"/>', _style, made)
    made = re.sub(r'<script src="assets/([^"]+)"></script>', _script, made)
    made = re.sub(r'src="images/([^"]+)"', _image, made)
    made = made.replace(f'href="{START}.html#', 'href="#').replace(f'href="{START}.html', 'href="#')
    # The file is alone: what leads to another chapter is plain text, and prose says where it is.
    made = re.sub(r'(?<= )<a href="\w+\.html">(.*?)</a>', r"\1 (in the book)", made)
    leading = r'<a ((?:class="[^"]*" )?)[^>]*href="\w+\.html[^>]*>(.*?)</a>'
    made = re.sub(leading, r"<span \1>\2</span>", made)
    for before, after in WORDS.items():
        made = made.replace(before, after)
    search = (TEMPLATES / "minisearch.js").read_text("utf-8")
    search += f"\nglobalThis.bookSections = {format_script_json(found)};"
    head = f'<meta name="made-from" content="{made_from()}">\n<script>{search}</script>\n</head>'
    return made.replace("</head>", head, 1)


def _style(found: re.Match) -> str:
    return f"<style>\n{(TEMPLATES / found[1]).read_text('utf-8')}</style>"


def _script(found: re.Match) -> str:
    [path] = [p for p in (TEMPLATES / found[1], BUNDLES / found[1]) if p.exists()]
    return f"<script>\n{path.read_text('utf-8').replace(LOADED, '[]')}</script>"


def _image(found: re.Match) -> str:
    images = CHAPTER.parent / "images"
    [path] = [p for p in images.rglob("*.*") if "-".join(p.relative_to(images).parts) == found[1]]
    data = base64.b64encode(path.read_bytes()).decode()
    return f'src="data:{KINDS[path.suffix]};base64,{data}"'


if __name__ == "__main__":
    LOOK.write_text(page(), "utf-8")
