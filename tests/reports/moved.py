"""A run on the newest releases -> which version, private name, opcode and sentence has moved.

`python -m tests.reports.moved report.xml` prints that as Markdown; it is asked in the environment
of that run. The private names are looked up one by one, so that failing tests whose cause is one
of them are told together, under that name.
"""

import ast
import dis
import importlib
import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packaging.requirements import Requirement

from helpers.internals import interpreter_frame, torch_private
from tests import claims
from tests.reports import opcodes
from tests.reports.records import ERROR, FAILED, Record, read
from tests.reports.red import sentences
from tests.reports.unpinned import unpinned

ROOT = Path(__file__).parents[2]
FRAMEWORKS = ("torch", "tensorflow", "keras")
OTHER = "none of these: read the test"
_PLACE = re.compile(r"(?<=`)[\w.]+:\w+(?=`)|\btorch(?:\.\w+)+")
_OPCODE = re.compile(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b")


def newer() -> Iterator[str]:
    """Yield each requirement whose version here is not the pinned one."""
    lines = [Requirement(line) for line in _text("constraints.txt").splitlines() if "==" in line]
    here = [pin for pin in lines if pin.marker is None or pin.marker.evaluate()]
    pins = {pin.name: str(pin.specifier).removeprefix("==") for pin in here}
    for name in (need.split()[0] for need in unpinned(_text("requirements.txt"))):
        try:
            found = version(name)
        except PackageNotFoundError:
            continue
        if found.partition("+")[0] != pins.get(name, found):
            yield f"- {name}: {pins[name]} is pinned, {found} is here"


def lost() -> Iterator[str]:
    """Yield each name of a framework that helpers or a notebook imports, and that is gone."""
    if told := torch_private.missing():
        yield f"- {told.partition(': run ')[0]}"  # what follows is for learners
    for place, users in sorted(imported().items()):
        module, _, name = place.partition(":")
        try:
            getattr(importlib.import_module(module), name)
        except AttributeError:
            try:
                importlib.import_module(f"{module}.{name}")
            except ImportError:
                yield f"- `{place}` is gone; used by {', '.join(sorted(users))}"
        except ImportError as error:
            yield f"- `{place}`: {error}; used by {', '.join(sorted(users))}"
    if told := interpreter_frame.doubt():
        yield f"- CPython's frames: {told}"


def imported() -> dict[str, set[str]]:
    """Return module:name of what is imported from a framework, and the files that do so."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "helpers").rglob("*.py")):
        _add(found, path, path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                _add(found, path, "".join(cell["source"]))
    return found


def _add(found: dict[str, set[str]], path: Path, source: str) -> None:
    """Add what one source imports with `from`."""
    for node in ast.walk(ast.parse(source)):
        module = getattr(node, "module", None) or ""
        if isinstance(node, ast.ImportFrom) and module.partition(".")[0] in FRAMEWORKS:
            for alias in node.names:
                users = found.setdefault(f"{module}:{alias.name}", set())
                users.add(path.relative_to(ROOT).as_posix())


def causes(record: Record, places: list[str]) -> list[str]:
    """Return what the words of a failure name: a private name that is gone, or an opcode."""
    names = [p for p in places if re.search(rf"\b{re.split('[.:]', p)[-1]}\b", record.words)]
    known = set(dis.opmap) | {name for some in _opcodes().values() for name in some}
    ops = sorted(set(_OPCODE.findall(record.words)) & known)
    return [f"`{name}`" for name in names] + [f"opcode `{name}`" for name in ops] or [OTHER]


def _opcodes() -> dict[str, list[str]]:
    return json.loads(opcodes.KNOWN.read_text(encoding="utf-8"))


def grouped(records: list[Record], gone: list[str]) -> Iterator[str]:
    """Yield the failures of tests by what they depend on, then those of notebooks one by one."""
    failed = [record for record in records if record.outcome in (FAILED, ERROR)]
    tests = [record for record in failed if not record.file.startswith("notebooks/")]
    by_cause: dict[str, list[Record]] = {}
    for record in tests:
        by_cause.setdefault(", ".join(causes(record, gone)), []).append(record)
    yield "## Sentences and outputs of the notebooks\n"
    cells = [record for record in failed if record not in tests]
    yield from _told(cells)
    yield from filter(None, map(said_above, cells))
    yield "\n## Tests, by what their failure names\n"
    for cause in sorted(by_cause, key=lambda cause: (cause == OTHER, -len(by_cause[cause]))):
        yield f"\n{cause}:\n"
        yield from _told(by_cause[cause])
    if not tests:
        yield "None failed."


def said_above(record: Record) -> str:
    """Return the sentence above a cell of a notebook, which it is to prove; nothing without one."""
    cells, code, above = json.loads(_text(record.file))["cells"], -1, ""
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            above = (claims.sentences(source) or [""])[-1]
        code += cell["cell_type"] == "code"
        if record.name == f"Cell {code}":
            return f'- the sentence above code cell {code + 1}: "{above}"' if above else ""
    return ""


def _told(records: list[Record]) -> Iterator[str]:
    """Yield a line for each of these failures."""
    said = [f"- {sentence}" for sentence in sentences(records)]
    yield from said[:-1] or ["None has moved."]  # the last says how to run one again


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def main(paths: list[str]) -> int:
    """Print what moved."""
    gone = list(lost())
    places = [place for line in gone for place in _PLACE.findall(line)]
    print("# What moved\n\n## Versions\n")
    print("\n".join(newer()) or "All are those that are pinned.")
    print("\n## Private names\n")
    print("\n".join(gone) or "All are where they were.")
    print(f"\n{opcodes.report()}\n")
    for path in paths:
        try:
            print("\n".join(grouped(read(path).records, places)))
        except (OSError, SyntaxError) as error:
            print(f"There is no report, so pytest did not come to its end ({error}).")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
