"""Notebooks -> the models of what their cells show, as JSON; tests draw all views from these.

`python -m tools.record_models` after a change of a record's fields, and `... 03` for one notebook.
Tests then need no framework: `tests/view/test_recorded.py` compares each form with a stored one.
"""

import contextlib
import importlib
import inspect
import io
import json
import os
import pkgutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell

import helpers.view
from helpers.exhibit import Exhibit
from helpers.view import View

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "view" / "recorded"
LARGEST = 12_000  # bytes of a stored model: a larger one is not reviewed
MOST_OF_A_VIEW = 8


def name_views() -> dict[int, str]:
    """Return the id of each view -> the module below helpers.view that makes it, and its name."""
    names = {}
    for found in pkgutil.walk_packages(helpers.view.__path__, "helpers.view."):
        module = importlib.import_module(found.name)
        source = inspect.getsource(module)
        for name, value in vars(module).items():
            is_made_here = f"\n{name} = View(" in source  # others import it
            if isinstance(value, View) and is_made_here:
                names[id(value)] = f"{found.name.removeprefix('helpers.view.')}.{name}"
    return names


def record_notebook(path: Path) -> dict[str, dict]:
    """Run the code cells of a notebook and return cell id -> view and model of what it shows.

    A cell that raises is passed over, as some want a browser, a compiler or a learner's answer.
    """
    views = name_views()
    shell = InteractiveShell.instance()
    records = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        with contextlib.redirect_stdout(io.StringIO()):  # what the cell prints and shows
            shown = shell.run_cell(cell.source).result
        if isinstance(shown, Exhibit) and id(shown._view) in views:
            records[cell.id] = {"view": views[id(shown._view)], "model": shown.to_dict()}
    return records


def store_notebook(path: Path) -> None:
    """Write a file for each exhibit of a notebook that is small enough."""
    for cell_id, record in record_notebook(path).items():
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        if len(text.encode("utf-8", "surrogatepass")) <= LARGEST:
            target = FOLDER / f"{path.stem.partition('_')[0]}_{cell_id}.json"
            target.write_text(text, "utf-8", errors="surrogatepass")


def prune_models() -> None:
    """Delete files until each view has at most MOST_OF_A_VIEW, from the smallest to the largest."""
    files_by_view = defaultdict(list)
    for path in FOLDER.glob("*.json"):
        files_by_view[json.loads(path.read_text("utf-8"))["view"]].append(path)
    for paths in files_by_view.values():
        paths.sort(key=lambda path: (path.stat().st_size, path.name))
        steps = range(MOST_OF_A_VIEW)
        kept = {paths[step * (len(paths) - 1) // (MOST_OF_A_VIEW - 1)] for step in steps}
        for path in set(paths) - kept:
            path.unlink()


def main(chapters: list[str]) -> None:
    """Store the models of the notebooks whose names begin with these words; of all without any."""
    FOLDER.mkdir(exist_ok=True)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if not chapters:
            for old in FOLDER.glob(f"{path.stem.partition('_')[0]}_*.json"):
                old.unlink()
            command = [sys.executable, "-m", "tools.record_models", path.stem]
            subprocess.run(command, cwd=ROOT, check=True)
        elif path.stem.startswith(tuple(chapters)):
            os.chdir(path.parent)
            store_notebook(path)
    if not chapters:
        prune_models()


if __name__ == "__main__":
    main(sys.argv[1:])
