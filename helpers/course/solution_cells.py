"""A notebook's cells -> the same, each folded solution in a tagged cell of its own.

A few solutions share their cell with the sentence that follows. Whoever takes solutions away by
their tag parts the two first.
"""

import re
from copy import deepcopy

TAG = "solution"
_FOLDED = re.compile(r"(<details><summary>Solution.*?</details>)\s*", re.DOTALL)


def parted(cells: list[dict]) -> list[dict]:
    """Return cells of the notebook format; the first part that is no solution keeps the id."""
    return [part for cell in cells for part in _parts(cell)]


def _parts(cell: dict) -> list[dict]:
    pieces = _FOLDED.split("".join(cell["source"])) if cell["cell_type"] == "markdown" else []
    if len(pieces) < 2:
        return [cell]
    found, own = [], True
    for at, piece in enumerate(pieces):
        if not piece.strip():
            continue
        part, folded = deepcopy(cell), at % 2 == 1  # re.split: what was found is in between
        part["source"] = piece.strip()
        if folded:
            part["metadata"]["tags"] = [*cell["metadata"].get("tags", []), TAG]
        if folded or not own:
            part["id"] = f"{cell['id']}-{at}"
        own = own and folded
        found.append(part)
    return found
