"""Numbers of notebooks -> the same in a folder, without solutions, to be given away.

Hints stand in no cell: `check.<exercise>.hint()` gives them in a handout, too. What stood at the
place of a file and differs is somebody's: it is kept beside it.
"""

import argparse
import json
import re
from datetime import datetime
from pathlib import Path

from helpers.course import checkout
from helpers.course.chapter_notebooks import chapter_named, chapters, notebooks
from helpers.course.terminal import CommandRefused, Parser, say
from helpers.course.work_copies import trust
from helpers.safety import folders

TEMPLATE = Path(__file__).with_name("paper")
SOURCES = ("notebooks", "helpers", "package", "tests", "tools", "share", "docs", ".git", ".venv")
_FOLDED = re.compile(r"(<details><summary>Solution.*?</details>)\s*", re.DOTALL)


def handout(words: list[str]) -> int:
    """Write the notebooks that the words name, or all chapters, and the pictures they show.

    With --html a page for each, too, that can be printed.
    """
    requested = read_words("handout", words)
    names = requested.notebooks
    images = sorted(path for path in (notebooks() / "images").rglob("*") if path.is_file())
    files = {path.relative_to(notebooks()): path for path in images}
    with folders.temporary("handout-") as home:
        written = {name: without_solutions(notebooks() / name) for name in names}
        if requested.html:
            for name in names:
                stem = name.removesuffix(".ipynb")
                written[f"{stem}.html"] = paper(stem, written[name])
        filled = home.fill("made", written)
        trust([filled / name for name in names])
        files |= {Path(name): filled / name for name in written}
        give(files, requested.to)
    say(f"Without solutions, in {requested.to}: {', '.join(written)}")
    return 0


def read_words(command: str, words: list[str]) -> argparse.Namespace:
    """Return what the words of `handout` and `slides` say: `notebooks`, the folder `to`, `html`.

    Raise CommandRefused if they name no notebook, or a folder of the course itself.
    """
    usual = {"handout": "handouts", "slides": "slides"}[command]
    parser = Parser(command)
    parser.add_argument("notebooks", nargs="*", help="chapter numbers; all chapters by default")
    parser.add_argument("--to", type=Path, default=checkout.ROOT / usual, metavar="FOLDER")
    if command == "handout":
        parser.add_argument("--html", action="store_true", help="pages that can be printed, too")
    requested = parser.read(words)
    every = [name for name in chapters() if name[:2].isdigit()]
    requested.notebooks = [chapter_named(word) for word in requested.notebooks] or every
    requested.to = requested.to.absolute()
    refuse_own_folder(requested.to)
    return requested


def refuse_own_folder(folder: Path) -> None:
    """Refuse to write into the course's own files."""
    own_folders = [checkout.ROOT / name for name in SOURCES]
    real = folder.resolve()
    if real == checkout.ROOT or any(real.is_relative_to(own) for own in own_folders):
        raise CommandRefused(f"{folder} is a folder of the course itself; name another with --to.")


def without_solutions(path: Path) -> bytes:
    """Return a notebook, as a file, less its folded solutions; every other cell is as it was."""
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"] = unsolved(notebook["cells"])
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def unsolved(cells: list) -> list:
    """Return cells of a notebook without folded solutions; a cell that was nothing else is gone."""
    remaining = []
    for cell in cells:
        rest = folded_away(cell)
        if rest != "".join(cell["source"]):
            cell = type(cell)(cell, source=rest)  # a dict, or a NotebookNode
        if rest or cell["cell_type"] == "code":
            remaining.append(cell)
    return remaining


def folded_away(cell) -> str:
    """Return the source of a cell without a folded solution."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown" and _FOLDED.search(source):
        return _FOLDED.sub("", source).strip()
    return source


def paper(name: str, notebook: bytes) -> bytes:
    """Return a notebook as a page to be printed, which is complete in itself."""
    import nbformat
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        template_name=TEMPLATE.name,
        extra_template_basedirs=[str(TEMPLATE.parent)],
        embed_images=True,
        exclude_anchor_links=True,
    )
    about = {"metadata": {"name": name, "path": str(notebooks())}}
    node = nbformat.reads(notebook.decode(), as_version=4)
    page, _ = exporter.from_notebook_node(node, about)
    return page.encode()


def give(files: dict[Path, Path], folder: Path) -> None:
    """Copy files that a command made, by their place inside it, into a folder not our own.

    `files` is the place in that folder -> the file to copy. A different file at the place is kept
    beside it. Raise CommandRefused if the folder is the course's, or a file cannot be written.
    """
    refuse_own_folder(folder)
    for inside, source in files.items():
        place = folder / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        data = source.read_bytes()
        if place.is_file() and not place.is_symlink() and place.read_bytes() == data:
            continue
        try:
            old_copy = folders.renew_copy(data, place, f"{datetime.now():%Y-%m-%d_%H%M%S}")
        except folders.NotRenewed as error:
            raise CommandRefused(str(error)) from error
        if old_copy:
            say(f"The old {place} is kept as {old_copy.name}")
