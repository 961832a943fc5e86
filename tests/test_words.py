"""No chapter uses a term before it explains it; `show_word` says what each means."""

import nbformat
import pytest

from helpers import show_word
from tests.words import NOTEBOOKS, too_early


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_term_is_explained_where_it_comes_first(path):
    assert not list(too_early(path))


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


def test_what_is_no_term_is_refused_with_those_that_are_near():
    with pytest.raises(ValueError, match="'gard'; near it: guard"):
        show_word("gard")
    with pytest.raises(ValueError, match="lists all"):
        show_word("zzz")
    with pytest.raises(TypeError, match="the term must be text, not int"):
        show_word(5)
