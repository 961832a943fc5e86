"""Notebooks -> the cells that raise when each is run twice in a row, and then all once more.

`python -m tests.second_runs [01 04 ...]` runs them in a kernel each; nothing is stored. What a cell
prints may differ from run to run (a cache that was empty is full); that it raises is a fault.
"""

import sys
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted([*_FOLDER.glob("*.ipynb"), *_FOLDER.glob("instructor/*.ipynb")])
LONGEST = 300  # seconds for one cell


class Raised(NamedTuple):
    """A cell that raised: its number in the notebook, in which run, and its last words."""

    cell: int
    run: str
    words: str


def raised(path: Path, rounds: int = 2) -> list[Raised]:
    """Run each cell of a notebook twice in a row; with two rounds, then all from the first on."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    book = nbformat.read(path, 4)
    cells = [(at, cell) for at, cell in enumerate(book.cells) if cell.cell_type == "code"]
    runs = [(*one, name) for one in cells for name in ("first", "again at once")]
    runs += [(*one, "in a second round") for one in cells if rounds > 1]
    client, found = NotebookClient(book, timeout=LONGEST, kernel_name="python3"), []
    with client.setup_kernel(cwd=str(path.parent)):
        for at, cell, name in runs:
            try:
                client.execute_cell(cell, at)
            except CellExecutionError as error:
                found.append(Raised(at, name, f"{error.ename}: {error.evalue}"))
    return found


def main(*numbers: str) -> int:
    """Print what raised; return 1 if anything did."""
    paths = [path for path in NOTEBOOKS if not numbers or path.name.startswith(numbers)]
    bad = 0
    for path in paths:
        found = raised(path)
        bad += len(found)
        print(f"{path.name}: {len(found)} raised", flush=True)
        for one in found:
            print(f"  cell {one.cell}, {one.run}: {one.words[:200]}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
