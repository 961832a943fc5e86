"""The glossary -> its terms by letter, each with its meaning and a link to where it is explained.

Where scripts may run, `word_filter.js` adds a field that filters the terms.
"""

from collections.abc import Iterable
from itertools import groupby

from ..model.spine import CHAPTERS, START
from ..model.tables import Listing
from . import View
from .images import read_image_script
from .markup import render
from .table_view import table

FILES = [START, *(chapter.file for chapter in CHAPTERS)]


def _render_words_html(model: Listing) -> str:
    """Return the terms in groups by their first letter; `FILES` are the chapters to link to."""
    groups = _group_by_letter(model.rows)
    script = read_image_script("word_filter.js")
    return render("words.html", model=model, groups=groups, files=FILES, script=script)


def _group_by_letter(entries: Iterable) -> dict[str, list]:
    """Return the entries, which are in the order of their terms, by the first letter of each."""
    groups = {}
    for letter, group in groupby(entries, lambda entry: entry.term[:1].upper()):
        groups[letter] = list(group)
    return groups


words = View(table.text, _render_words_html)
