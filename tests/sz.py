"""Lines and modules of each room; `python -m tests.sz` prints the table, like tinygrad's sz.py.

A change that raises a total raises the number here, and its commit says why.
"""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST = {"helpers": 47_900, "tests": 39_200}  # lines; the aim is 30,000 and 28,000
MOST_MODULES = 346  # of helpers; the aim is 260
ROOMS = {"capture": 2, "study": 1}  # how deep the table looks into a room


def sources(folder: str) -> list[Path]:
    """Return the Python files of a folder of the checkout."""
    return sorted((ROOT / folder).rglob("*.py"))


def room(path: Path) -> str:
    """Return the room that a file stands in, such as `capture/cpython`."""
    folder, *parts = path.relative_to(ROOT).parts[:-1] or (".",)
    return "/".join([folder, *parts[: ROOMS.get(parts[0] if parts else "", 1)]])


def lines(path: Path) -> int:
    """Return how many lines a file has, as `wc -l` counts them."""
    return path.read_bytes().count(b"\n")


def table() -> list[tuple[str, int, int]]:
    """Return room, lines and modules, of helpers and then of tests; each ends with its total."""
    rows = []
    for folder in MOST:
        weight, files = Counter(), Counter()
        for path in sources(folder):
            weight[room(path)] += lines(path)
            files[room(path)] += 1
        rows += [(name, weight[name], files[name]) for name in sorted(weight)]
        rows.append((f"all of {folder}", weight.total(), files.total()))
    return rows


def main() -> None:
    """Print the table."""
    for name, weight, files in table():
        print(f"{name:32}{weight:8,}{files:6}")


if __name__ == "__main__":
    main()
