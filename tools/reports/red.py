"""What failed in a run of pytest -> sentences that say where and how, for the end of a log.

Tests of a file that end with the same words are told together.

`python -m tools.reports.red report.xml` says it of a file of `--junitxml`, by the standard library
alone; tools/reports/plugin.py says it after pytest's own summary, where all cells fail alike.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.needs import not_compared
from tools.reports.cells import CAME, DIFFER, KINDS, STORED, unexpected_heading
from tools.reports.records import ERROR, FAILED, Record, read

ROOT = Path(__file__).parents[2]
REFERENCE = "3.11"  # the Python whose outputs are stored in the notebooks
LONGEST = 300  # letters of one quotation
MOST = 40  # sentences: a run in which all fails has one reason
NAMED = 5  # tests of one file that end with the same words
FOR_LEARNERS = ": run `python course.py setup`"  # begins the cure that a missing part has for them
_CELL = re.compile(r"Cell (\d+)$")
_TAG = re.compile(r"<[^<>]*>|^[^<>]*>|<[^<>]*$")  # also one whose beginning or end is not quoted
_BLOB = re.compile(r"\S{80,}")  # a picture's bytes, and no word
_RAISED = re.compile(
    r"^(\w+(?:\.\w+)*(?:Error|Exception|Interrupt|Warning|Exit|Failed|failed)\b.*)"
)


def sentences(
    records: Iterable[Record], root: Path = ROOT, where: dict[str, str] | None = None
) -> Iterator[str]:
    """Yield a sentence for each record that failed, and at last how to run one again.

    `root` is the folder that the files' names are in; notebooks are read there. `where` says on
    which Python it was (`Run.where`): on another one, outputs differ from the stored ones.
    """
    failed = [record for record in records if record.outcome in (FAILED, ERROR)]
    python = (where or {}).get("python", REFERENCE)
    if python != REFERENCE and any(DIFFER in record.words for record in failed):
        yield (
            f"The stored outputs are those of Python {REFERENCE}, and this is Python {python}: "
            "`--nbval-lax` runs the cells without comparing"
        )
    alike: dict[tuple, list[Record]] = {}  # the cases of a test are told by one of them
    for record in failed:
        test = record.name.partition("[")[0]
        alike.setdefault((record.file, test, record.outcome), []).append(record)
    told: dict[tuple[str, str], list[str]] = {}  # file, what came -> names of tests; none: a cell
    for first, *others in alike.values():
        name, came = _of_a_cell(first, root) if _CELL.match(first.name) else _of_a_test(first)
        more = f" and {len(others)} more of its cases" if others else ""
        told.setdefault((first.file, came), []).extend([f"`{name}`{more}"] if name else [])
    for (file, came), names in list(told.items())[:MOST]:
        rest = f", and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield file + (f": {', '.join(names[:NAMED])}{rest}" if names else "") + came
    if len(told) > MOST:
        yield f"and {len(told) - MOST} more"
    if failed:
        yield f"One file again: python3 course.py test {failed[0].file}"


def _of_a_cell(record: Record, root: Path) -> tuple[str, str]:
    """Return what happened in a code cell, under nbval's name for it; it has no other."""
    section, source = _place(root / record.file, int(_CELL.match(record.name)[1]))
    place = f'{record.name}, "{section}" ({_short(source)})'
    return "", f"::{place}{_ended(record.words)}"


def _ended(words: str) -> str:
    if DIFFER in words:
        return f" {_another(words)}"
    if late := re.search(r"Timeout of (\d+) seconds", words):
        dead = " and its kernel does not answer" if "Failed to interrupt" in words else ""
        return f" did not end in {late[1]} seconds{dead}"
    lines = words.splitlines()
    if raised := [line for line in lines if _RAISED.match(line)]:
        return f" raised {_short(raised[-1])}"
    told = [line for line in lines if line.startswith("Cell ")] or lines or ["failed"]
    return f": {_short(told[0])}"


def _of_a_test(record: Record) -> tuple[str, str]:
    """Return the name of a test as a sentence, and the line of its error."""
    name, _, case = record.name.partition("[")
    words = name.removeprefix("test_").replace("_", " ") + (f" [{case}" if case else "")
    said = [line[1:].strip() for line in record.words.splitlines() if re.match(r"E\s+\S", line)]
    because = said or record.words.strip().splitlines()[-1:] or ["there was no message"]
    if not record.name:
        return "", f" cannot be read as tests: {_short(because[-1])}"
    told = " ".join(because[:2]) if because[0].endswith(":") else because[0]
    how = "could not start or end" if record.outcome == ERROR else "failed"
    return words, f" {how}: {_short(told.partition(FOR_LEARNERS)[0])}"


def _another(words: str) -> str:
    """Return how an output differs from the stored one; of HTML the words that are read."""
    if found := KINDS.search(words):
        kinds = sorted(re.findall(r"'([^']+)'", found[2]))
        if found[1] == "Missing":
            return f"shows no {', '.join(kinds)}, which is stored"
        texts = [_indented(words, unexpected_heading(kind)) for kind in kinds]
        text = next(filter(None, texts), "")
        shown = f"shows {', '.join(kinds)}, and none is stored"
        return f'{shown}: "{_short(text)}"' if text else shown
    lines = words.splitlines()
    stored, came = (_behind(lines, heading) for heading in (STORED, CAME))
    if stored is None or came is None:  # the text is the same, or what pytest wrote is older
        html = "mismatch 'text/html'" in words
        stored, came = (_first(lines, sign, html) for sign in ("+", "-"))
    told = f"{stored} is stored, {came} came"
    if stored == came:
        told = "it reads the same, and its HTML or a picture differs"
    return f"shows another output than the stored one: {told}"


def _indented(words: str, heading: str) -> str:
    """Return the indented lines below a heading, without it; "" where it is not there."""
    found = re.search(rf"^{re.escape(heading)}\n((?:  .*(?:\n|$))+)", words, re.MULTILINE)
    return found[1] if found else ""


def _behind(lines: list[str], heading: str) -> str | None:
    """Return in quotes what stands behind a heading, None where that is not there."""
    found = [line.removeprefix(heading) for line in lines if line.startswith(heading)]
    return _quoted(found[0]) if found else None


def _first(lines: list[str], sign: str, html: bool) -> str:
    """Return the first line of a difference that only one side has; `+` is the stored side."""
    found = [line.strip()[1:].strip() for line in lines if re.match(rf"\s*\{sign} \S", line)]
    read = [_BLOB.sub(" ", _TAG.sub(" ", line)).strip() for line in found] if html else found
    return _quoted(next(filter(None, read), ""))


def _quoted(words: str) -> str:
    return f'"{_short(words)}"' if words else "nothing more"


def _place(path: Path, number: int) -> tuple[str, str]:
    """Return the heading above a code cell of a notebook, and the cell's first line."""
    heading, code = "its beginning", -1
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return heading, "of a notebook that cannot be read"
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            heading = [heading, *re.findall(r"^#{1,3} (.+)", source, re.MULTILINE)][-1]
        code += cell["cell_type"] == "code"
        if code == number:
            return heading, source.partition("\n")[0]
    return heading, "no longer there"


def _short(text: str) -> str:
    """Return a text in one line that is not too long."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def main(paths: list[str]) -> int:
    """Print what failed in these reports."""
    for path in paths:
        try:
            run = read(path)
            said = [*not_compared(run.uncompared), *sentences(run.records, where=run.where)]
        except (OSError, SyntaxError) as error:  # the run ended before it wrote one
            said = [f"there is no report, so pytest did not come to its end ({error})"]
        print("\n".join(f"- {sentence}" for sentence in said or ["nothing failed"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
