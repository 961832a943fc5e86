"""The glossary of the course: what each term means, and which chapter explains it.

The terms are in the file words.toml.
"""

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from helpers.exhibit import Exhibit
from helpers.model.tables import Column, Listing
from helpers.safety.arguments import require_str
from helpers.view.words_view import words as glossary_view

COLUMNS = (
    Column("term", "term"),
    Column("chapter", "chapter"),
    Column("means", "what it means here"),
)


@dataclass(frozen=True)
class Word:
    """One term of the course."""

    #: The term as the chapters write it.
    term: str
    #: The number of the chapter that explains it.
    chapter: int
    #: What it means.
    means: str


@cache
def read_glossary() -> tuple[Word, ...]:
    """Return the course's terms in the order they appear."""
    text = files(__name__).joinpath("words.toml").read_text("utf-8")
    words = []
    for entry in tomllib.loads(text)["word"]:
        means = " ".join(entry["means"].split())
        words.append(Word(entry["term"], entry["chapter"], means))
    return tuple(words)


def show_word(term: str = "") -> Exhibit:
    """Show what a term of the course means, or all terms by letter if you name none."""
    requested = require_str(term, "the term").strip().casefold()
    if requested:
        title = ""
        words = [word for word in read_glossary() if requested in _spellings(word)]
    else:
        title = "The words of this course"
        words = list(read_glossary())
    if not words:
        raise ValueError(f"the course has no term {requested[:60]!r}. {_hint_for(requested)}")

    words.sort(key=lambda word: word.term.casefold())
    return Exhibit(Listing(title, COLUMNS, tuple(words)), glossary_view)


def _spellings(word: Word) -> tuple[str, str]:
    """Return the singular and the plural of a term, in lower case: "graph" -> "graph", "graphs"."""
    term = word.term.casefold()
    if term.endswith(("sh", "ch")):
        return term, f"{term}es"
    return term, f"{term}s"


def _hint_for(requested: str) -> str:
    """Return a sentence with terms that are spelled like `requested`, or on how to list all."""
    terms = [word.term for word in read_glossary()]
    similar = get_close_matches(requested, terms, n=3, cutoff=0.5)
    if similar:
        return f"Did you mean {' or '.join(similar)}?"
    return "show_word() lists all terms"
