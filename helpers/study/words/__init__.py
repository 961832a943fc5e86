"""The glossary: a term -> what it means and the chapter that explains it, from words.toml."""

import tomllib
from collections import namedtuple
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from helpers.exhibit import Exhibit
from helpers.model.tables import Column, Listing
from helpers.safety.arguments import require_str
from helpers.view.words_view import words as glossary

# A term, the number of the chapter that explains it, and what it means.
Word = namedtuple("Word", "term chapter means")


@cache
def words() -> tuple[Word, ...]:
    """Return the course's terms in the order they appear."""
    found = tomllib.loads(files(__name__).joinpath("words.toml").read_text("utf-8"))["word"]
    return tuple(Word(w["term"], w["chapter"], " ".join(w["means"].split())) for w in found)


def show_word(term: str = "") -> Exhibit:
    """Show what a term of the course means, or all terms by letter if you name none."""
    asked = require_str(term, "the term").strip().casefold()
    found = [word for word in words() if asked in ("", *_forms(word))]
    found.sort(key=lambda word: word.term.casefold())
    if not found:
        near = get_close_matches(asked, [word.term for word in words()], 3, 0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else "show_word() lists all terms"
        raise ValueError(f"the course has no term {asked[:60]!r}. {hint}")
    names = {"term": "term", "chapter": "chapter", "means": "what it means here"}
    columns = tuple(Column(*pair) for pair in names.items())
    title = "The words of this course" if not asked else ""
    return Exhibit(Listing(title, columns, tuple(found)), glossary)


def _forms(word: Word) -> tuple[str, str]:
    term = word.term.casefold()
    return term, f"{term}es" if term.endswith(("sh", "ch")) else f"{term}s"
