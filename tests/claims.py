"""The prose of the notebooks -> its sentences that claim something of everything, to be proved.

`python -m tests.claims [01 04 ...]` prints each sentence that holds *always, never, only, every,
all, none, the same, no … needs*, with the code cell that comes next: the run that has to prove it.
A reviewer's tool: nothing fails by it.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
WIDE = re.compile(
    r"\b(always|never|only|every|everything|all|none|nobody|nothing|whatever|any|the same|exactly"
    r"|no \w+ needs?|needs no)\b",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```.*?```|<details>.*?</details>", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\d-])|\n\s*\n|\n(?=\s*[-|\d])")


class Claim(NamedTuple):
    """A sentence, the cell that it stands in, the words that make it wide, and the next code."""

    cell: int
    words: str
    sentence: str
    beside: str


def claims(path: Path) -> Iterator[Claim]:
    """Yield the wide sentences of a notebook."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    for at, cell in enumerate(cells):
        if cell["cell_type"] == "markdown":
            for sentence in sentences("".join(cell["source"])):
                found = dict.fromkeys(match[0].lower() for match in WIDE.finditer(sentence))
                if found:
                    yield Claim(at, ", ".join(found), sentence, _beside(cells, at))


def sentences(prose: str) -> list[str]:
    """Return the sentences of a prose cell, without its code and what is folded away."""
    parts = _SENTENCE.split(_FENCED.sub("", prose))
    return [" ".join(part.split()) for part in parts if part and part.strip()]


def _beside(cells: list, at: int) -> str:
    """Return the number and the last line of the next code cell before the next heading."""
    for number, cell in enumerate(cells[at + 1 :], at + 1):
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "code":
            return f"[{number}] {source.splitlines()[-1]}"
        if source.startswith("#"):
            break
    return "no cell runs beside it"


def main(*numbers: str) -> None:
    """Print the claims, and how many there are in each notebook."""
    for path in NOTEBOOKS:
        if not numbers or path.name.startswith(numbers):
            found = list(claims(path))
            print(f"\n{path.name}: {len(found)}")
            for claim in found:
                print(f"  {claim.cell} ({claim.words}) {claim.sentence}\n      {claim.beside}")


if __name__ == "__main__":
    main(*sys.argv[1:])
