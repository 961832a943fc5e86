"""notebooks/instructor/: a note for each section and exercise, whose quotes learners really see.

Words in “these marks” are in a cell of the section or in what it shows; in an exercise's note they
may also be words of its check, which `tests/study/test_solutions.py` hears it say.
"""

import re
from copy import deepcopy
from functools import cache
from pathlib import Path

import nbformat
import pytest

from helpers import check
from helpers.model.study_records import exercise_cells
from tests.study.mistakes import MISTAKES

CHAPTERS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
HEADING = re.compile(r"^#{2,3} .+$", re.MULTILINE)
NOT_TAUGHT = re.compile(r"#+ (Deeper|Recap|One whole call)")
PARTS = re.compile(r"#+ .+\n\n\*\*Say\.\*\* (.+)\n\n\*\*Stuck\.\*\* (.+)\n\n\*\*Cure\.\*\* (.+)")
OPTION = re.compile(r"^ +\d+\. (.+)$", re.MULTILINE)
QUOTED, TEMPTING = re.compile("“(.+?)”"), re.compile(r"Tempting: [^.]*")
LINK = re.compile(r"\]\(([^)#]+)(?:#cell-id=([^)]+))?\)")
MOST = 110  # words of a part


def notes_of(chapter: Path) -> Path:
    return chapter.parent / "instructor" / f"{chapter.stem[:2]}_instructor.ipynb"


@cache
def opened(path: Path):
    return nbformat.read(path, as_version=4)


def headings(cells) -> list[str]:
    prose = (re.sub(r"```.*?```", "", c.source, flags=re.S) for c in cells if is_prose(c))
    return [head for source in prose for head in HEADING.findall(source)]


def is_prose(cell) -> bool:
    return cell.cell_type == "markdown"


def sections(cells) -> dict[str, str]:
    """Return the text of each section and exercise, by its heading: cells, and what they show."""
    found, now = {}, ""
    for cell in cells:
        outputs = cell.get("outputs", ())
        shown = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
        for piece in re.split(r"^(?=#{2,3} )", cell.source, flags=re.MULTILINE):
            now = piece.partition("\n")[0] if is_prose(cell) and HEADING.match(piece) else now
            found[now] = f"{found.get(now, '')}\n{piece}"
        found[now] = " ".join(" ".join([found[now], *shown]).split())
    return found


def exercises(cells) -> dict[str, str]:
    """Return heading -> name of the exercise that stands below it."""
    above = {one.name: headings(cells[: one.stub])[-1] for one in exercise_cells(cells)}
    return {head: name for name, head in above.items()}


def choices(cells, heading: str) -> set[str]:
    """Return the options of a section's predictions, as their stored text lists them."""
    found, inside = set(), False
    for cell in cells:
        inside = heading in headings([cell]) if headings([cell]) else inside
        if inside and "predict(" in cell.source and not is_prose(cell):
            shown = "\n".join(one.get("data", {}).get("text/plain", "") for one in cell.outputs)
            found.update(OPTION.findall(shown))
    return found


def problems(chapter, notes) -> list[str]:
    """Return what is wrong with the notes of a chapter, in words."""
    found, noted = [], headings(notes.cells)
    wanted = [head for head in headings(chapter.cells) if not NOT_TAUGHT.match(head)]
    if noted != wanted:
        odd = sorted(set(wanted).symmetric_difference(noted)) or "another order"
        found.append(f"the headings are not those of the chapter: {odd}")
    texts, named = sections(chapter.cells), exercises(chapter.cells)
    for cell in filter(headings_of_one, notes.cells):
        [head] = headings([cell])
        if head in texts:
            found += [f"{head}: {why}" for why in _wrong(cell.source, texts[head], named.get(head))]
            odd = _options(cell, chapter.cells, head)
            found += [f"{head}: {one!r} is no option" for one in odd]
    ids = {cell.id for cell in chapter.cells}
    links = [link for cell in notes.cells if is_prose(cell) for link in LINK.findall(cell.source)]
    return found + [f"{place} leads nowhere" for _, place in links if place and place not in ids]


def headings_of_one(cell) -> bool:
    return is_prose(cell) and bool(headings([cell]))


def _wrong(note: str, text: str, exercise: str | None):
    parts = PARTS.fullmatch(note)
    if not parts:
        yield "it does not have the parts Say, Stuck, Cure"
        return
    if max(len(part.split()) for part in parts.groups()) > MOST:
        yield f"a part has more than {MOST} words"
    said = [says for says, *_ in MISTAKES[exercise]] if exercise else []
    for words in (quoted.strip("`") for quoted in QUOTED.findall(note)):
        if words not in text and not any(words in says for says in said):
            yield f"nobody sees {words!r}"
    if exercise and not QUOTED.search(parts[2]):
        yield "it does not say what the check answers"
    hints = len(getattr(check, exercise).hints) if exercise else 0
    for number in re.findall(r"[Hh]int (\d)", note):
        if int(number) > hints:
            yield f"there is no hint {number}"


def _options(cell, cells, head: str) -> set[str]:
    tempting = TEMPTING.findall(cell.source)
    quoted = {word for words in tempting for word in re.findall("`([^`]+)`", words)[:1]}
    return quoted - choices(cells, head)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_each_section_and_exercise_has_a_note_that_is_true(path):
    assert problems(opened(path), opened(notes_of(path))) == []


def test_the_minutes_of_a_note_are_computed():
    """By its one code cell; the notebooks' own test compares what is stored with what comes."""
    for path in CHAPTERS:
        [code] = [cell for cell in opened(notes_of(path)).cells if not is_prose(cell)]
        assert path.name in code.source and code.outputs


CHAPTER = CHAPTERS[1]


def test_a_note_that_is_not_true_is_named():
    chapter, notes = deepcopy(opened(CHAPTER)), deepcopy(opened(notes_of(CHAPTER)))
    notes.cells[-1].source += " “nobody says this”"
    assert any("nobody sees" in problem for problem in problems(chapter, notes))
