"""Slides: each cell bears what the rule says, a page needs no network, and nothing is lost."""

import json
import re
from base64 import b64encode

import pytest

from helpers.course.handout import remove_solutions
from helpers.course.slides import (
    BELOW,
    NOTES,
    SKIP,
    SLIDE,
    build_slides_page,
    count_words,
    fit_cells_to_slides,
    kind_of,
)
from tools.mark_slides import MOST, NOTEBOOKS, SAME, slide_types

CHAPTER = NOTEBOOKS[3]
FETCHES = re.compile(
    r"""<(?:link|script|img|iframe)[^>]*(?:src|href)=["'](?!data:)|@import|url\(["']?(?!data:)"""
)


def prose(source, id_="a", **metadata):
    return {"cell_type": "markdown", "id": id_, "metadata": metadata, "source": source}


def code(source, *outputs):
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "execution_count": 1}
    return cell | {"source": source, "outputs": list(outputs)}


PRINTED = {"output_type": "stream", "name": "stdout", "text": "one\n"}
LONG = PRINTED | {"text": "line\n" * 60}
DRAWN = {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<p/>"}}
TALL = b64encode(b'<svg viewBox="0 0 9 700"/>').decode()
TALL = DRAWN | {"data": {"text/html": f'<img src="data:image/svg+xml;base64,{TALL}">'}}
ANSWER = {"tags": ["after-deciding"]}


def test_the_rule():
    solution = "<details><summary>Solution</summary>\n\nx\n\n</details>"
    asked = "### Exercise\n\n*Difficulty ●○○ · importance ●●● · 5 minutes.* Do."
    cells = [
        (prose("# Title"), SLIDE),
        (code("import helpers", PRINTED), SKIP),
        (prose("## 1 · Section\n\nWords."), SLIDE),
        (code("f(x)", PRINTED), SAME),
        (code("g(x)", PRINTED), BELOW),
        (prose("Words."), BELOW),
        (code("def f(): ..."), SAME),
        (code("predict(f)", DRAWN), SAME),
        (prose("Words.", **ANSWER), BELOW),
        (code("f", DRAWN), SAME),
        (prose("Words."), NOTES),
        *((code("h(x)", LONG), SKIP), (code("h(x)", TALL), SKIP), (code("x = 1"), SKIP)),
        (prose(asked), SKIP),
        *((code("answer = ...", PRINTED), SKIP), (code("check.it(answer)", PRINTED), SKIP)),
        (prose(solution), SKIP),
        (prose(f"{solution}\n\n## 2 · Next"), SLIDE),
        *((prose("## Deeper · More"), SKIP), (code("f(x)", PRINTED), SKIP)),
        (prose("## Recap"), SLIDE),
    ]
    assert slide_types([cell for cell, _ in cells]) == [kind for _, kind in cells]


def test_of_many_runs_each_section_shows_as_many_and_answers_come_before_what_is_printed():
    runs = [code("print()", PRINTED), code("predict()", DRAWN), code("draw()", DRAWN)] * 5
    section = [prose("## 1 · Section\n\nWords."), prose("Words."), *runs]
    kinds = slide_types([prose("# Title"), code("import helpers"), *section, *section])
    assert kinds.count(SLIDE) + kinds.count(BELOW) == MOST
    first, second = kinds[2:19].count(BELOW), kinds[19:].count(BELOW)
    assert (first, second) == (11, 11) and kinds[4:19:3] == [SAME, *[SKIP] * 4]
    chapters = [json.loads(path.read_text("utf-8"))["cells"] for path in NOTEBOOKS]
    shown = [sum(kind_of(cell) in (SLIDE, BELOW) for cell in cells) for cells in chapters]
    assert all(10 < number <= MOST for number in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_is_said_is_shown_or_stands_in_the_notes(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    kept = [one for one in remove_solutions(cells) if kind_of(one) != SKIP]
    shown = fit_cells_to_slides(kept)
    assert len({one["id"] for one in shown}) == len(shown)
    said = "".join("".join(one["source"]) for one in shown if one["cell_type"] == "markdown")
    said = "".join(said.split())
    for cell in kept:
        for block in "".join(cell["source"]).split("\n\n") * (cell["cell_type"] == "markdown"):
            assert "".join(block.split()) in said
    outputs = [output for one in shown for output in one.get("outputs", [])]
    for output in [output for one in kept for output in one.get("outputs", [])]:
        assert output in outputs


def test_above_a_run_stands_the_beginning_of_its_prose_and_no_question_twice():
    title = "## 1 · Title\n\n" + "One sentence of words. " * 12 + "\n\nMore."
    task = prose("### Step 1 · Names\n\n*Difficulty ●○○ · importance ●●● · 5 minutes.* Do.")
    run = code("def f():\n    return 1\n\n\npredict(\n    f,\n)", DRAWN)
    kinds = (SLIDE, SAME, BELOW, SAME, SKIP)
    cells = [prose(title), run, code("x = 1"), code("x", DRAWN), task]
    for cell, kind in zip(cells, kinds, strict=True):
        cell["metadata"]["slideshow"] = {"slide_type": kind}
    shown, told, asked, answer = fit_cells_to_slides(cells)
    assert count_words([shown["source"]]) < 45 and shown["source"].endswith(
        "- Step 1 · Names, 5 minutes"
    )
    assert kind_of(told) == NOTES and told["source"].endswith("More.")
    assert asked["source"] == "def f():\n    return 1" and asked["outputs"] == [DRAWN]
    assert (answer["source"].strip(), kind_of(answer)) == ("x = 1", BELOW)


def test_a_page_fetches_nothing_and_shows_no_solution():
    made = build_slides_page(CHAPTER)
    body = made.partition("<body>")[2].partition("<script>")[0]
    assert FETCHES.findall(body) == [] and "<link" not in made and ' src="http' not in made
    assert "Permission is hereby granted" not in body and "MIT licensed" in made
    assert "Solution</summary>" not in body and "value_of" not in body
    assert '<aside class="notes">' in body and made == build_slides_page(CHAPTER)
