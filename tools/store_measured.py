"""The measured cells of the notebooks -> their stored outputs, made anew; other cells stay.

`python -m tools.store_measured` does so for all notebooks, and `python -m tools.store_measured 03`
for those whose names begin so. Do it after a change of what such a cell shows, on an idle machine.
Each notebook runs from its top. A cell that shows noise runs again, a few times, and its outputs
with the least noise are stored.
"""

import json
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from helpers.model.noise import TOO_NOISY
from tests.measured import TAG
from tools.strip_views import VIEW

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
TRIES = 5
LONGEST = 300  # seconds for one cell
SENTENCE = f"{TOO_NOISY} with"  # how the note ends that every measured output has
SET = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "COURSE_RECORD": "off"}
SET["PYTHONHASHSEED"] = "0"


def store(path: Path) -> list[int]:
    """Store new outputs of the measured cells of a notebook; return the places of these cells."""
    book = json.loads(path.read_text(encoding="utf-8"))
    measured = [at for at, cell in enumerate(book["cells"]) if is_measured(cell)]
    if measured:
        for at, outputs in run(path, measured).items():
            cell = book["cells"][at]
            cell["outputs"] = [stored_form(output, cell["execution_count"]) for output in outputs]
        words = json.dumps(book, indent=1, ensure_ascii=False, sort_keys=True)
        path.write_text(f"{words}\n", encoding="utf-8")
    return measured


def is_measured(cell: dict) -> bool:
    """Return whether the numbers of a cell are measured."""
    return TAG in cell["metadata"].get("tags", ())


def run(path: Path, measured: list[int]) -> dict[int, list]:
    """Run a notebook up to the last of these cells; return the outputs of each of them."""
    book = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(book, timeout=LONGEST, kernel_name="python3", resources=place)
    found = {}
    with client.setup_kernel(env={**os.environ, **SET}):
        for at, cell in enumerate(book.cells[: measured[-1] + 1]):
            if cell.cell_type != "code":
                continue
            client.execute_cell(cell, at)
            if at in measured:
                found[at] = least_noisy(client, cell, at)
    return found


def least_noisy(client: NotebookClient, cell, at: int) -> list:
    """Return the outputs of a cell that ran; it runs again while they show noise."""
    best = cell.outputs
    for _ in range(TRIES - 1):
        if not count_noise(best):
            break
        client.execute_cell(cell, at)
        best = min(best, cell.outputs, key=count_noise)
    return best


def count_noise(outputs: list) -> int:
    """Return how many numbers of some outputs are too noisy to compare."""
    texts = (output.get("data", {}).get("text/plain", "") for output in outputs)
    shown = " ".join(" ".join(texts).split())
    return shown.count(TOO_NOISY) - shown.count(SENTENCE)


def stored_form(output, number: int) -> dict:
    """Return an output as a notebook's file has it, under the cell's stored number."""
    form = json.loads(json.dumps(output))
    data = form.get("data", {})
    data.pop(VIEW, None)
    for kind, shown in data.items():
        data[kind] = shown.splitlines(keepends=True) if isinstance(shown, str) else shown
    if "text" in form:
        form["text"] = form["text"].splitlines(keepends=True)
    if "execution_count" in form:
        form["execution_count"] = number
    return form


def main(prefixes: list[str]) -> None:
    """Store the measured cells of the notebooks whose names begin with one of these; of all."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if path.name.startswith(tuple(prefixes or [""])):
            print(path.name, *store(path), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
