"""Numbers of notebooks -> the same in a folder, without solutions, to be given away.

Hints stand in no cell: `check.<exercise>.hint()` gives them in a handout, too. What stood at the
place of a file and differs is somebody's: it is kept beside it.
"""

import argparse
import json
import re
from datetime import datetime
from pathlib import Path

import course
from helpers.course.work import chapter_named, chapters, notebooks, trust
from helpers.safety import folders

TEMPLATE = Path(__file__).with_name("paper")
SOURCES = ("notebooks", "helpers", "package", "tests", "share", "docs", ".git", ".venv")
_FOLDED = re.compile(r"(<details><summary>Solution.*?</details>)\s*", re.DOTALL)


def handout(words: list[str]) -> int:
    """Write the notebooks that the words name, or all chapters, and the pictures they show.

    With --html a page for each, too, that can be printed.
    """
    names, folder = chosen("handout", "handouts", [word for word in words if word != "--html"])
    images = sorted(path for path in (notebooks() / "images").rglob("*") if path.is_file())
    files = {path.relative_to(notebooks()): path for path in images}
    with folders.temporary("handout-") as home:
        written = {name: without_solutions(notebooks() / name) for name in names}
        if "--html" in words:
            written |= {f"{name[:-6]}.html": paper(name[:-6], written[name]) for name in names}
        made = home.fill("made", written)
        trust([made / name for name in names])
        give(files | {Path(name): made / name for name in written}, folder)
    course.say(f"Without solutions, in {folder}: {', '.join(written)}")
    return 0


def chosen(command: str, usual: str, words: list[str]) -> tuple[list[str], Path]:
    """Return what the words of a command name: notebooks, and a folder, `usual` if none."""
    parser = argparse.ArgumentParser(f"course.py {command}", allow_abbrev=False)
    parser.add_argument("chapters", nargs="*", help="chapter numbers; all chapters by default")
    parser.add_argument("--to", type=Path, default=course.ROOT / usual, metavar="FOLDER")
    asked = parser.parse_intermixed_args(words)
    every = [name for name in chapters() if name[:2].isdigit()]
    return [chapter_named(word) for word in asked.chapters] or every, asked.to.absolute()


def without_solutions(path: Path) -> bytes:
    """Return a notebook, as a file, less its folded solutions; every other cell is as it was."""
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"] = unsolved(notebook["cells"])
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def unsolved(cells: list) -> list:
    """Return cells of a notebook without folded solutions; a cell that was nothing else is gone."""
    kept = []
    for cell in cells:
        if (rest := folded_away(cell)) != "".join(cell["source"]):
            cell = type(cell)(cell, source=rest)  # a dict, or a NotebookNode
        if rest or cell["cell_type"] == "code":
            kept.append(cell)
    return kept


def folded_away(cell) -> str:
    """Return the source of a cell without a folded solution."""
    source = "".join(cell["source"])
    found = cell["cell_type"] == "markdown" and _FOLDED.search(source)
    return _FOLDED.sub("", source).strip() if found else source


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
    page, _ = exporter.from_notebook_node(nbformat.reads(notebook.decode(), as_version=4), about)
    return page.encode()


def give(files: dict[Path, Path], folder: Path) -> None:
    """Copy files that a command made, by their place inside it, into a folder not our own.

    Refusal where that folder is the course's, or a file cannot be written.
    """
    ours = [course.ROOT / name for name in SOURCES]
    if folder.resolve() == course.ROOT or any(map(folder.resolve().is_relative_to, ours)):
        raise course.Refusal(f"{folder} is a folder of the course itself; name another with --to.")
    for inside, source in files.items():
        place = folder / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        data = source.read_bytes()
        if place.is_file() and not place.is_symlink() and place.read_bytes() == data:
            continue
        try:
            kept = folders.renew_copy(data, place, f"{datetime.now():%Y-%m-%d_%H%M%S}")
        except folders.NotRenewed as error:
            raise course.Refusal(str(error)) from error
        if kept:
            course.say(f"The old {place} is kept as {kept.name}")
