"""Slides: each cell bears what the rule says, a page needs no network, and nothing is lost."""

import json
import re

import pytest

from helpers.course.handout import unsolved
from helpers.course.slides import BELOW, SKIP, SLIDE, fitted, kind_of, page
from tests.mark_slides import NOTEBOOKS, SAME, marked, slide_types

CHAPTER = NOTEBOOKS[3]
FETCHES = re.compile(
    r"""<(?:link|script|img|iframe)[^>]*(?:src|href)=["'](?!data:)|@import|url\(["']?(?!data:)"""
)


def prose(source, id_="a", **metadata):
    return {"cell_type": "markdown", "id": id_, "metadata": metadata, "source": source}


def code(source, *outputs):
    return {
        "cell_type": "code",
        "id": "c",
        "metadata": {},
        "source": source,
        "execution_count": 1,
        "outputs": list(outputs),
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_cell_bears_the_slide_that_the_rule_gives_it(path):
    text = path.read_text("utf-8")
    assert marked(text) == text, "run python -m tests.mark_slides"


def test_the_rule():
    solution = "<details><summary>Solution</summary>\n\nx\n\n</details>"
    cells = [
        (prose("# Title"), SLIDE),
        (code("import helpers"), SKIP),
        (prose("## 1 · Section\n\nWords."), SLIDE),
        (code("f(x)"), SAME),
        (code("g(x)"), BELOW),
        (prose("Words."), BELOW),
        (code("x\n" * 30), BELOW),
        (prose("### Exercise"), BELOW),
        (code("answer = ..."), SAME),
        (code("check.it(answer)"), SKIP),
        (prose(solution), SKIP),
        (prose(f"{solution}\n\n## 2 · Next"), SLIDE),
        (prose("## Deeper · More"), SKIP),
        (code("f(x)"), SKIP),
        (prose("## Recap"), SLIDE),
    ]
    assert slide_types([cell for cell, _ in cells]) == [kind for _, kind in cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_said_is_shown_or_stands_in_the_notes(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    kept = [one for one in unsolved(cells) if kind_of(one) != SKIP]
    shown = fitted(kept)
    assert len({one["id"] for one in shown}) == len(shown)
    said = "".join("".join(one["source"]) for one in shown if one["cell_type"] == "markdown")
    said = "".join(said.split())
    for cell in kept:
        for block in "".join(cell["source"]).split("\n\n") * (cell["cell_type"] == "markdown"):
            assert "".join(block.split()) in said
    outputs = [output for one in shown for output in one.get("outputs", [])]
    for output in [output for one in kept for output in one.get("outputs", [])]:
        assert output in outputs


def test_a_large_output_has_a_slide_of_its_own():
    small = {"output_type": "stream", "name": "stdout", "text": "one\n"}
    large = {"output_type": "stream", "name": "stdout", "text": "line\n" * 30}
    picture = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": "<svg/>", "text/plain": "x"},
    }
    shown = fitted([code("f()", small, large, picture)])
    assert [one["outputs"] for one in shown] == [[small], [large], [picture]]
    assert [one["source"] for one in shown] == ["f()", "", ""]


def test_a_page_fetches_nothing_and_shows_no_solution():
    made = page(CHAPTER)
    body = made.partition("<body>")[2].partition("<script>")[0]
    assert FETCHES.findall(body) == [] and "<link" not in made and ' src="http' not in made
    assert "Permission is hereby granted" not in body and "MIT licensed" in made
    assert "Solution</summary>" not in body and "value_of" not in body
    assert '<aside class="notes">' in body and made == page(CHAPTER)
