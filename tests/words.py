"""The notebooks' prose and the glossary -> the terms that are used before they are explained.

`python -m tests.words [01 04 …]` prints them. A term is explained where it stands in bold or
italics for the first time in its chapter. Openings and recaps name what comes and what came, so
they may use any term; chapter 0 is a map of all.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from helpers.study.words import Word, words

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0[1-9]*.ipynb"))
# Words that every reader has met, or that mean the same outside of the course.
_EVERYDAY = """name reference route holder cycle forward backward gradient context handle
op graph eager job kernel frame trace"""
EVERYDAY = frozenset(_EVERYDAY.split())
_ASIDE = re.compile(
    r"^#.*?$|```.*?```|<details>.*?</details>|`[^`]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)


def too_early(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield term, cell and what is wrong, for each term that stands before its explanation."""
    chapter, prose = int(path.stem[:2]), list(_prose(path))
    for word in words():
        used = next((at for at, said in prose if _used(word, said)), None)
        told = next((at for at, said in prose if _told(word, said)), None)
        if used is None or word.chapter < chapter:
            continue
        if word.chapter > chapter:
            if word.term not in EVERYDAY and (told is None or told > used):
                yield word.term, used, f"is a term of chapter {word.chapter}"
        elif told is None:
            yield word.term, used, "stands nowhere in bold or italics"
        elif told > used:
            yield word.term, used, f"is explained in cell {told}"


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    for at, cell in enumerate(json.loads(path.read_text("utf-8"))["cells"]):
        said = "".join(cell["source"])
        if said.startswith("## Recap"):
            return
        if cell["cell_type"] == "markdown" and at:
            yield at, _ASIDE.sub(" ", said)


def _used(word: Word, said: str) -> bool:
    return re.search(rf"\b{_pattern(word)}\b", said) is not None


def _told(word: Word, said: str) -> bool:
    return re.search(rf"(\*\*?)[^*\n]*\b{_pattern(word)}\b[^*\n]*\1", said) is not None


def _pattern(word: Word) -> str:
    first, rest = word.term[0], re.escape(word.term[1:])
    return f"(?i:{first}){rest}(?:s|es|d|r|ed|ly)?"


if __name__ == "__main__":
    for path in NOTEBOOKS:
        if not sys.argv[1:] or path.stem[:2] in sys.argv[1:]:
            for term, cell, wrong in too_early(path):
                print(f"{path.stem[:2]}[{cell}] {term}: {wrong}")
