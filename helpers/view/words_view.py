"""The glossary -> its terms by letter, each with its meaning and a link to where it is explained.

Where scripts may run, `words.js` adds a field that filters the terms.
"""

from itertools import groupby

from ..model.spine import CHAPTERS, START
from ..model.tables import Listing
from . import View
from .images import read_script
from .markup import render
from .table_view import table

FILES = [START, *(chapter.file for chapter in CHAPTERS)]


def _html(model: Listing) -> str:
    letters = groupby(model.rows, lambda word: word.term[:1].upper())
    groups = {letter: list(words) for letter, words in letters}
    script = read_script("words.js")
    return render("words.html", model=model, groups=groups, files=FILES, script=script)


words = View(table.text, _html)
