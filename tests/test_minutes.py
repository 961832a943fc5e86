"""helpers/course/minutes.py: what stands on a page and in the README is what the rule computes."""

import re
from pathlib import Path

import nbformat
import pytest

from helpers.course.minutes import DEEPER, EXHIBIT, LINE, STEP, WORDS, on_the_page, sections

ROOT = Path(__file__).parents[1]
YOUR_TURN = re.compile("Your turn|Recap")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("0*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_and_the_readme_say_the_minutes_that_the_rule_computes(path):
    reading, exercises, deeper = on_the_page(path)
    opening = nbformat.read(path, as_version=4).cells[0].source
    said = f"**{reading} minutes**"
    said += f" + {exercises} of exercises" if exercises else ""
    said += f" + {deeper} deeper" if deeper else ""
    assert f"{said} ·" in opening or opening.endswith(said)
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    [row] = [line for line in lines if line.startswith(f"| [{path.stem}]")]
    assert f"| {reading} + {exercises} |" in row or (not exercises and f"| {reading} |" in row)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_is_an_hour_and_each_section_a_sitting(path):
    needed = [part for part in sections(path) if not part.title.startswith(DEEPER)]
    assert sum(part.reading for part in needed) <= 60
    assert [part.title for part in needed if round(part.reading) > 15] == []
    before = [part for part in needed if not YOUR_TURN.search(part.title)]
    assert sum(part.cells for part in before) <= 80
    assert sum(part.words for part in before) <= 2600


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
    assert on_the_page(path) == (STEP, 15, 0)


def test_what_goes_deeper_is_counted_apart(tmp_path):
    page = "word " * WORDS * STEP
    path = made(tmp_path, f"## One\n\n{page}", f"## Deeper · more of it\n\n{page}{page}")
    assert on_the_page(path) == (STEP, 0, 2 * STEP)
