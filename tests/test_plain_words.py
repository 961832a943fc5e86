"""Learners read ordinary words. The list has only words that need no exception."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDINARY = {  # a house word -> what to write
    "whoever": "anyone who, or the code that",
    "for want of": "because there is no",
    "in the place of": "instead of",
    "what is no(?! longer)": "something that is not",
    "comes? of": "results from",
    "by hand of": "by",
    "asked of": "checked for",
    "(?:is|are) told": "receives",
    "(?:is|are) said to": "must, or seems to",
    "is none of them": "is not one of them",
}
HOUSE = re.compile(rf"\b(?:{'|'.join(ORDINARY)})\b", re.IGNORECASE)
PAGES = [ROOT / "README.md", ROOT / "package" / "README.md", *(ROOT / "docs").glob("*.md")]
NOTEBOOKS = (ROOT / "notebooks").rglob("*.ipynb")
HELPERS = (p for suffix in ("py", "toml") for p in (ROOT / "helpers").rglob(f"*.{suffix}"))
FILES = [*PAGES, *NOTEBOOKS, *HELPERS]


def house_words(text):
    """Return the house words of a text, each with the words around it."""
    words = " ".join(text.split())
    return [words[max(0, m.start() - 30) : m.end() + 30] for m in HOUSE.finditer(words)]


def strings(source):
    """Return the strings of a module that have a space and are not docstrings."""
    nodes = list(ast.walk(ast.parse(source)))
    docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    found = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docs)
    return [node.value for node in found if isinstance(node.value, str) and " " in node.value]


def seen(path):
    """Return what learners see of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
        return "\n".join("".join(cell["source"]) for cell in cells)
    return "\n".join(strings(text)) if path.suffix == ".py" else text


@pytest.mark.parametrize("path", sorted(FILES), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_learners_read_ordinary_words(path):
    assert house_words(seen(path)) == []


def test_house_words_are_found_in_strings_and_across_lines():
    found = strings('"""Whoever reads."""\nx = "fails for\\n  want of it"\ny = f"{x} comes of it"')
    assert [house_words(one) for one in found] == [["fails for want of it"], ["comes of it"]]
