"""helpers/course/minutes.py counts words, lines, exhibits and exercises where they stand."""

import re

import nbformat
import pytest

from helpers.course.minutes import EXHIBIT, LINE, STEP, WORDS, count_page_minutes, sections


def made(tmp_path, *cells):
    """Return the sections of a notebook; a cell that begins with > is code."""
    kinds = {True: nbformat.v4.new_code_cell, False: nbformat.v4.new_markdown_cell}
    made_up = [kinds[each.startswith(">")](each.removeprefix(">")) for each in cells]
    path = tmp_path / "01_made_up.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=made_up), path)
    return path


def test_words_lines_and_exhibits_count_where_they_stand(tmp_path):
    prose = "## One\n\n" + "word " * WORDS, "And more\n\n## Two"
    path = made(tmp_path, "# Title", prose[0], ">a\n\nb", prose[1])
    opening, one, two = sections(path)
    assert (opening.title, one.title, two.title) == ("", "One", "Two")
    words = re.findall(r"\w+", "One " + "word " * WORDS + "And more")
    assert one.reading == pytest.approx(len(words) / WORDS + 2 * LINE)
    book = nbformat.read(path, as_version=4)
    book.cells[2].outputs = [nbformat.v4.new_output("display_data", {"text/html": "<b>x</b>"})]
    nbformat.write(book, path)
    assert sections(path)[1].reading - one.reading == pytest.approx(EXHIBIT)


def test_an_exercise_takes_what_it_says_and_nothing_more(tmp_path):
    ask = "### Exercise\n\n*Difficulty ●○○ · importance ●●● · 15 minutes.* " + "word " * 500
    solved = "<details><summary>Solution</summary>\n\n" + "word " * 500 + "\n\n</details>"
    path = made(tmp_path, "## Your turn", ask, ">stub = ...", ">check.it(stub)", solved, ">more")
    _, turn = sections(path)
    assert turn.todo[0].minutes == 15 and turn.reading == pytest.approx(2 / WORDS + LINE)
    assert count_page_minutes(path) == (STEP, 15, 0)


def test_what_goes_deeper_is_counted_apart(tmp_path):
    page = "word " * WORDS * STEP
    path = made(tmp_path, f"## One\n\n{page}", f"## Deeper · more of it\n\n{page}{page}")
    assert count_page_minutes(path) == (STEP, 0, 2 * STEP)
