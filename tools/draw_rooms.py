"""The rooms of `helpers` and the imports between them -> the picture in CONTRIBUTING.md.

`python -m tools.draw_rooms` after a change; `tests/test_architecture.py` compares.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
HELPERS = ROOT / "helpers"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
FROM_ALL = "safety"  # every room imports it, so its arrows are left out
ASKED_FOR = ("verbs", "study")  # what the front door imports on first use
OPENING, CLOSING = "```mermaid\n", "```"


def room_of(path: Path) -> str:
    """Return the room of a module: its folder below `helpers`, or its own name."""
    return path.relative_to(HELPERS).parts[0].removesuffix(".py")


def modules() -> dict[Path, str]:
    """Return the room of each module; the front door and the command line are no rooms."""
    rooms = {path: room_of(path) for path in sorted(HELPERS.rglob("*.py"))}
    return {path: room for path, room in rooms.items() if not room.startswith("__")}


def imported_modules(path: Path) -> Iterator[str]:
    """Yield the full name of each module that a file imports names from."""
    package = ["helpers", *path.relative_to(HELPERS).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        parents = package[: len(package) + 1 - node.level] if node.level else []
        names = [node.module] if node.module else []
        yield ".".join([*parents, *names])


def arrows() -> list[tuple[str, str]]:
    """Return (room, room that it imports), sorted."""
    found = set()
    for path, room in modules().items():
        for name in imported_modules(path):
            top, _, rest = name.partition(".")
            target = rest.partition(".")[0]
            if top == "helpers" and target not in ("", room, FROM_ALL):
                found.add((room, target))
    return sorted(found)


def picture() -> str:
    """Return the rooms and the arrows between them, as Mermaid."""
    lines = ["graph TD"]
    lines += [f"  {room}" for room in sorted({*modules().values()})]
    lines += [f'  door["front door"] -. "when asked for" .-> {room}' for room in ASKED_FOR]
    lines += [f"  {room} --> {target}" for room, target in arrows()]
    return "\n".join(lines)


def drawn() -> str:
    """Return CONTRIBUTING.md with the picture of the rooms as they are now."""
    before, _, rest = CONTRIBUTING.read_text("utf-8").partition(OPENING)
    after = rest.partition(CLOSING)[2]
    return f"{before}{OPENING}{picture()}\n{CLOSING}{after}"


if __name__ == "__main__":
    CONTRIBUTING.write_text(drawn(), "utf-8")
