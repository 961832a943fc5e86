"""One notebook -> what breaks the rules of a chapter, in words; nothing when all is well."""

import re

from tests.measured import TAG
from tests.needs import NEEDS
from tools.budgets import count_sections
from tools.strip_views import VIEW

SKILLS = re.compile(r"^\d+\. ", re.MULTILINE)
PLACE_OR_ADDRESS = re.compile(r"0x[0-9a-f]{6,}|/(?:home|root|tmp|Users)/|[A-Z]:\\\\Users")
UNSEEN = ("image/png", "image/jpeg")  # nbval compares no picture of pixels
OF_THE_BOOK = "needs-kernel"  # helpers/course/book/page.py
FEWEST_SECTIONS = 4
SOLUTION = "<details><summary>Solution"


def problems(nb, chapter: bool = True) -> list[str]:
    """Return every broken rule for a notebook and its cells; `chapter` asks for all."""
    found = [*_opening(nb), *_executed(nb), *_cells(nb), *_prose(nb), *_outputs(nb)]
    found += [*_measured(nb), *_exercises(nb), *_recap(nb)]
    return [*found, *_proportions(nb)] if chapter else found


def reference_problems(nb) -> list[str]:
    """Return every broken rule of a reference page: those of its cells; its prose is docstrings."""
    found = [*_executed(nb), *_cells(nb), *_outputs(nb), *_measured(nb)]
    return found if nb.cells[0].source.startswith("# ") else ["the first cell is no title", *found]


def _code(nb):
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def _markdown(nb) -> str:
    return "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")


def _tags(cell):
    return cell.metadata.get("tags", [])


def _opening(nb):
    first, code = nb.cells[0].source, _code(nb)
    if nb.cells[0].cell_type != "markdown" or not first.startswith("# "):
        yield "the first cell is not a title"
    for words in ("You will be able to", "Needs", "minutes"):
        if words not in first:
            yield f"the opening does not say: {words}"
    if len(SKILLS.findall(first)) != 3:
        yield "the opening does not list three skills"
    before, found, _ = code[0].source.partition("import tensorflow") if code else ("", "", "")
    if found and "from helpers" not in before and "import helpers" not in before:
        yield "TensorFlow is imported before helpers, which keeps its log lines away"


def _executed(nb):
    for number, cell in enumerate(_code(nb)):
        if cell.execution_count is None:
            yield f"Cell {number} was never executed, so nbval compares nothing there"
        if any(output.output_type == "error" for output in cell.outputs):
            yield f"Cell {number} stores an error"
        for word in {"NBVAL_IGNORE_OUTPUT", "NBVAL_SKIP"} & set(re.findall(r"\w+", cell.source)):
            yield f"Cell {number} says {word}, so its stored output is not compared"
        for tag in _tags(cell):
            if tag.startswith("nbval-"):
                yield f"Cell {number} has the tag {tag}; use {TAG}, which compares the words"
        for kind in UNSEEN:
            if any(kind in output.get("data", ()) for output in cell.outputs):
                yield f"Cell {number} stores {kind}, which nothing compares"
        if "raises-exception" in _tags(cell):
            yield f"Cell {number} allows an error; use expect"
        for tag in _tags(cell):
            if tag.startswith("needs-") and tag not in {*NEEDS, OF_THE_BOOK}:
                yield f"Cell {number} has the tag {tag}, which tests/needs.py does not know"


def _cells(nb):
    for number, cell in enumerate(_code(nb)):
        if "pip install" in cell.source:
            yield f"Cell {number} installs something"
        if "noqa" in cell.source:
            yield f"Cell {number} speaks to a linter; let pyproject.toml do it"


def _prose(nb):
    for cell in nb.cells:
        if re.search(r"^(<{7}|>{7}) ", cell.source, flags=re.MULTILINE):
            yield f"two versions of {cell.id} were merged and not told apart"


def _outputs(nb):
    if VIEW in str(nb.cells):
        yield "a widget view is stored without its state; run tools/strip_views.py on the notebook"
    for number, cell in enumerate(_code(nb)):
        stored = [str(output.get("data", output.get("text", ""))) for output in cell.outputs]
        if hit := PLACE_OR_ADDRESS.search("".join(stored)):
            yield f"the output of Cell {number} holds an address or a path: {hit.group()}"


def _measured(nb):
    code = _code(nb)
    measured = [number for number, cell in enumerate(code) if TAG in _tags(cell)]
    for number in measured:
        if not any("assert " in cell.source for cell in code[number : number + 2]):
            yield f"the numbers of Cell {number} are not compared, and no assert is beside it"


def _exercises(nb):
    sources = [cell.source for cell in nb.cells]
    for position, source in enumerate(sources):
        if not re.match(r"check\.\w+\(|.*\n\ncheck\.\w+\(", source) or "hint(" in source:
            continue
        if "..." not in "".join(sources[max(position - 2, 0) : position + 1]):
            yield f"no stub with ... stands before {source!r}"
        if SOLUTION not in sources[position + 1]:
            yield f"no folded solution stands after {source!r}"


def _recap(nb):
    skills = len(SKILLS.findall(nb.cells[0].source))
    recap = _markdown(nb).partition("## Recap")[2].partition("**")[0]
    if len(SKILLS.findall(recap)) != skills:
        yield "the recap does not have one line per opening skill"


def _proportions(nb):
    after = [
        before.cell_type == "markdown"
        for before, cell in zip(nb.cells, nb.cells[1:], strict=False)
        if cell.cell_type == "code" and not cell.source.startswith(("assert", "check."))
    ]
    if sum(after) < 0.8 * len(after):
        yield f"only {sum(after)} of {len(after)} code cells follow prose"
    if count_sections(nb) < FEWEST_SECTIONS:
        yield f"the notebook has only {count_sections(nb)} numbered sections"
    if "Where next" not in _markdown(nb) or "in the real thing" not in _markdown(nb):
        yield "the close does not say where next, or does not name the real framework's files"
    yield from _sections_assert(nb)


def _sections_assert(nb):
    title, asserted = None, True
    for cell in nb.cells:
        if cell.cell_type == "markdown" and re.match(r"## (\d|Recap)", cell.source):
            if not asserted:
                yield f"section {title!r} asserts nothing"
            title, asserted = cell.source.splitlines()[0], False
        asserted = asserted or "assert " in cell.source or "check." in cell.source
