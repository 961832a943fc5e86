"""A term that comes before its explanation is found; `show_word` says what each means.

A term is explained where it stands in bold or italics for the first time in its chapter. Openings
and recaps name what comes and what came, so they may use any term; chapter 0 is a map of all.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from helpers import show_word
from helpers.study.words import Word, read_glossary

_EVERYDAY = """name reference route holder cycle forward backward gradient context handle
op graph eager job kernel frame trace"""
EVERYDAY = frozenset(_EVERYDAY.split())
_ASIDE = re.compile(
    r"^#.*?$|```.*?```|<details>.*?</details>|`[^`]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)


def too_early(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield term, cell and what is wrong, for each term that stands before its explanation."""
    chapter, prose = int(path.stem[:2]), list(_prose(path))
    for word in read_glossary():
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


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        (["A guard is asked.", "A **guard** is a fact."], ("guard", 1, "is explained in cell 2")),
        (["A guard is asked."], ("guard", 1, "stands nowhere in bold or italics")),
        (["Its fast path."], ("fast path", 1, "is a term of chapter 6")),
    ],
)
def test_a_term_that_comes_too_early_is_found(tmp_path, cells, wrong):
    prose = ["# Title", *cells, "## Recap", "guards, hooks"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(said) for said in prose])
    path = tmp_path / "04_made_up.ipynb"
    nbformat.write(book, path)
    assert list(too_early(path)) == [wrong]


def test_a_word_is_shown_with_its_chapter():
    [word] = show_word("Guards").model.rows
    assert (word.term, word.chapter) == ("guard", 4)
    assert word.means in " ".join(repr(show_word("guard")).split())
    terms, page = [one.term for one in show_word().model.rows], show_word()._page()
    assert terms == sorted((one.term for one in read_glossary()), key=str.casefold)
    assert 'href="04_pep523_and_dynamo.ipynb#word-graph-break"' in page
    assert page.count("<details") == page.count("<details open")  # each meaning is in sight
    assert "oninput" in page.partition('onload="')[2]  # a field that filters, without a kernel


def test_what_is_no_term_is_refused_with_those_that_are_near(refused):
    refused(ValueError, "'gard'. Did you mean guard", show_word, "gard")
    refused(ValueError, "lists all terms", show_word, "zzz")
    refused(TypeError, "the term must be text, not int", show_word, 5)
