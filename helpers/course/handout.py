"""Write copies of notebooks without solutions into a folder, for a teacher to hand out.

Hints are in no cell; `check.<exercise>.hint()` returns them in a handout, too. If the folder has
another file of the same name, that file is kept under a second name.
"""

import argparse
import json
import re
from datetime import datetime
from pathlib import Path

from helpers.course import checkout
from helpers.course.chapter_notebooks import find_notebook, list_notebooks, notebooks_folder
from helpers.course.terminal import CommandRefused, Parser, say
from helpers.course.work_copies import trust
from helpers.safety import folders

TEMPLATE = Path(__file__).with_name("paper")
SOURCES = ("notebooks", "helpers", "package", "tests", "tools", "share", "docs", ".git", ".venv")
_FOLDED = re.compile(r"(<details><summary>Solution.*?</details>)\s*", re.DOTALL)


def handout(arguments: list[str]) -> int:
    """Run `course.py handout` with these arguments; return the exit code 0.

    It writes the named notebooks, or all chapters, with their pictures. With --html it also writes
    a page for each notebook, which can be printed.
    """
    requested = read_arguments("handout", arguments)
    names = requested.notebooks
    images = sorted(path for path in (notebooks_folder() / "images").rglob("*") if path.is_file())
    files = {path.relative_to(notebooks_folder()): path for path in images}
    with folders.make_temporary_folder("handout-") as home:
        written = {name: without_solutions(notebooks_folder() / name) for name in names}
        if requested.html:
            for name in names:
                stem = name.removesuffix(".ipynb")
                written[f"{stem}.html"] = paper(stem, written[name])
        filled = home.fill("made", written)
        trust([filled / name for name in names])
        files |= {Path(name): filled / name for name in written}
        copy_to_user_folder(files, requested.to)
    say(f"Without solutions, in {requested.to}: {', '.join(written)}")
    return 0


def read_arguments(command: str, arguments: list[str]) -> argparse.Namespace:
    """Parse the arguments of the command "handout" or "slides".

    The result has `notebooks`, a list of file names, and `to`, the folder to write to; for
    "handout" also `html`. Raise CommandRefused if an argument is wrong, for example if `to` is a
    folder of the course itself.
    """
    usual = {"handout": "handouts", "slides": "slides"}[command]
    parser = Parser(command)
    parser.add_argument("notebooks", nargs="*", help="chapter numbers; all chapters by default")
    parser.add_argument("--to", type=Path, default=checkout.ROOT / usual, metavar="FOLDER")
    if command == "handout":
        parser.add_argument("--html", action="store_true", help="pages that can be printed, too")
    requested = parser.read(arguments)
    every = [name for name in list_notebooks() if name[:2].isdigit()]
    requested.notebooks = [find_notebook(word) for word in requested.notebooks] or every
    requested.to = requested.to.absolute()
    refuse_own_folder(requested.to)
    return requested


def refuse_own_folder(folder: Path) -> None:
    """Raise CommandRefused if a folder is the course's own, or inside one that is."""
    own_folders = [checkout.ROOT / name for name in SOURCES]
    real = folder.resolve()
    if real == checkout.ROOT or any(real.is_relative_to(own) for own in own_folders):
        raise CommandRefused(f"{folder} is a folder of the course itself; name another with --to.")


def without_solutions(path: Path) -> bytes:
    """Return the notebook at a path without its folded solutions, as the content of a file."""
    notebook = json.loads(path.read_text("utf-8"))
    notebook["cells"] = remove_solutions(notebook["cells"])
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def remove_solutions(cells: list) -> list:
    """Return the cells of a notebook without folded solutions.

    A cell that was only a solution is left out. The given cells are not changed.
    """
    remaining = []
    for cell in cells:
        source = remove_folded_solution(cell)
        if source != "".join(cell["source"]):
            cell = type(cell)(cell, source=source)  # a copy, which is a dict or a NotebookNode
        if source or cell["cell_type"] == "code":
            remaining.append(cell)
    return remaining


def remove_folded_solution(cell) -> str:
    """Return the source of a cell without a folded solution."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown" and _FOLDED.search(source):
        return _FOLDED.sub("", source).strip()
    return source


def paper(name: str, notebook: bytes) -> bytes:
    """Return a notebook as an HTML page to be printed, which contains its pictures.

    `name` is the title, and `notebook` the content of a notebook file.
    """
    import nbformat
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        template_name=TEMPLATE.name,
        extra_template_basedirs=[str(TEMPLATE.parent)],
        embed_images=True,
        exclude_anchor_links=True,
    )
    # nbconvert looks for the pictures in the folder `path`.
    resources = {"metadata": {"name": name, "path": str(notebooks_folder())}}
    node = nbformat.reads(notebook.decode(), as_version=4)
    page, _ = exporter.from_notebook_node(node, resources)
    return page.encode()


def copy_to_user_folder(files: dict[Path, Path], folder: Path) -> None:
    """Copy files that a command has made into a folder of the user.

    `files` is path inside the folder -> file to copy. If there is another file at that path, it is
    kept under a second name. Raise CommandRefused if the folder is one of the course, or if a file
    cannot be written.
    """
    refuse_own_folder(folder)
    for path_inside, source in files.items():
        path = folder / path_inside
        path.parent.mkdir(parents=True, exist_ok=True)
        data = source.read_bytes()
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            continue  # the same file is there already
        try:
            old_copy = folders.renew_copy(data, path, f"{datetime.now():%Y-%m-%d_%H%M%S}")
        except folders.NotRenewed as error:
            raise CommandRefused(str(error)) from error
        if old_copy:
            say(f"The old {path} is kept as {old_copy.name}")
