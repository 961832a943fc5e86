"""A notebook -> its sections: what the contents list, and what the search looks through."""

import re
from itertools import zip_longest

from nbconvert.filters import add_anchor

_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"^```\w*|<[^>]*>|\]\([^)]*\)|[*`\[\]]|^#+ ", re.MULTILINE)
MOST = 3_000  # characters of an output that are searched, a glossary's and no listing's
SHORT = 90  # characters of a title in the contents


def sections(notebook) -> list[dict]:
    """Return title, level, place (the anchor) and text of each section, in order.

    A section ends where the next heading stands, of whatever level.
    """
    found = []
    for cell in notebook.cells:
        at = f"cell-id={cell.id}"
        if cell.cell_type == "code":
            if found:
                found[-1]["text"] += f"\n{cell.source}\n{_outputs(cell)}"
            continue
        bare = _FENCED.sub(_without_comments, cell.source)
        starts = [*_HEADING.finditer(bare)]
        if found and (not starts or starts[0].start()):
            found[-1]["text"] += "\n" + bare[: starts[0].start() if starts else None]
        for heading, after in zip_longest(starts, starts[1:]):
            text = bare[heading.end() : after.start() if after else None]
            place = at if heading is starts[0] else anchor(heading[2])
            level, title = len(heading[1]), plain(heading[2])[:SHORT]
            found.append({"title": title, "level": level, "at": place, "text": text})
    return [one | {"text": " ".join(plain(one["text"]).split())} for one in found]


def _without_comments(code: re.Match) -> str:
    """Return fenced code of the same length in which no line looks like a heading."""
    return re.sub(r"^#", " ", code[0], flags=re.MULTILINE)


def anchor(title: str) -> str:
    """Return the id that nbconvert gives a heading."""
    return re.search(r'id="([^"]*)"', add_anchor(f"<h2>{plain(title)}</h2>"))[1]


def plain(source: str) -> str:
    """Return prose without its marks."""
    return _MARKUP.sub("", source)


def _outputs(cell) -> str:
    texts = [one.get("data", {}).get("text/plain", one.get("text", "")) for one in cell.outputs]
    return "\n".join(text[:MOST] for text in texts)
