"""Lines and modules of each room; `python -m tests.sz` prints the table, like tinygrad's sz.py.

It also draws the rooms and the imports between them into CONTRIBUTING.md, as Mermaid.
"""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
FOLDERS = ("helpers", "tests")
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
    for folder in FOLDERS:
        weight, files = Counter(), Counter()
        for path in sources(folder):
            weight[room(path)] += lines(path)
            files[room(path)] += 1
        rows += [(name, weight[name], files[name]) for name in sorted(weight)]
        rows.append((f"all of {folder}", weight.total(), files.total()))
    return rows


def imports() -> list[tuple[str, str]]:
    """Return (room, room that it imports); all rooms import `safety`, so that is left out."""
    found = set()
    for path in sources("helpers"):
        parts = path.relative_to(ROOT / "helpers").parts
        here = parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.ImportFrom):
                continue
            package = ("helpers", *parts[:-1])[: len(parts) + 1 - node.level] if node.level else ()
            name = ".".join([*package, *filter(None, [node.module])])
            if name.startswith("helpers.") and here != "__main__":
                found.add((here, name.split(".")[1]))
    return sorted((a, b) for a, b in found if a != b and b != "safety")


def picture() -> str:
    """Return the rooms with their lines, to the nearest 500, and the arrows between them."""
    weight = Counter()
    for path in sources("helpers"):
        weight[path.relative_to(ROOT / "helpers").parts[0].removesuffix(".py")] += lines(path)
    boxes = [
        f'  {name}["{name}<br>{max(round(weight[name] / 500) * 500, 100):,} lines"]'
        for name in sorted(weight)
        if name != "__init__"
    ]
    door = [f'  door["front door"] -. "when asked for" .-> {name}' for name in ("verbs", "study")]
    return "\n".join(["graph TD", *boxes, *door, *(f"  {a} --> {b}" for a, b in imports())])


def drawn() -> str:
    """Return CONTRIBUTING.md with the picture as it is now."""
    before, opening, rest = CONTRIBUTING.read_text("utf-8").partition("```mermaid\n")
    return f"{before}{opening}{picture()}\n```{rest.partition('```')[2]}"


def main() -> None:
    """Print the table, and draw the picture anew."""
    for name, weight, files in table():
        print(f"{name:32}{weight:8,}{files:6}")
    CONTRIBUTING.write_text(drawn(), "utf-8")


if __name__ == "__main__":
    main()
