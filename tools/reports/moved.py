"""A run on the newest releases -> which version, private name and opcode has moved; what failed.

`python -m tools.reports.moved report.xml` prints that as Markdown; it is asked in the environment
of that run. The private names are looked up one by one, and named where a failure names them.
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
from tools.reports import opcodes
from tools.reports.records import ERROR, FAILED, Record, read
from tools.reports.red import MOST, sentences
from tools.reports.unpinned import unpinned

ROOT = Path(__file__).parents[2]
HELPERS = sorted((ROOT / "helpers").rglob("*.py"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FRAMEWORKS = ("torch", "tensorflow", "keras")
_PLACE = re.compile(r"(?<=`)[\w.]+:\w+(?=`)|\btorch(?:\.\w+)+")
_GONE = re.compile(r"(?:has no attribute|cannot import name|No module named) '([\w.]+)'")
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
    if told := torch_private.describe_missing():
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
    if told := interpreter_frame.find_unsupported():
        yield f"- CPython's frames: {told}"


def imported() -> dict[str, set[str]]:
    """Return module:name of what is imported from a framework, and the files that do so."""
    sources = [(path, path.read_text(encoding="utf-8")) for path in HELPERS]
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        sources += [(path, "".join(cell["source"])) for cell in code]
    found: dict[str, set[str]] = {}
    for path, source in sources:
        for node in ast.walk(ast.parse(source)):
            module = getattr(node, "module", None) or ""
            if getattr(node, "level", 1) == 0 and module.partition(".")[0] in FRAMEWORKS:
                for alias in node.names:
                    users = found.setdefault(f"{module}:{alias.name}", set())
                    users.add(path.relative_to(ROOT).as_posix())
    return found


def causes(words: str, places: list[str]) -> list[str]:
    """Return what the words of a failure name: a private name that is gone, or an opcode."""
    names = [p for p in places if re.search(rf"\b{re.split('[.:]', p)[-1]}\b", words)]
    told = {re.split("[.:]", place)[-1] for place in names}
    names += [name for name in dict.fromkeys(_GONE.findall(words)) if name not in told]
    known_opcodes = json.loads(opcodes.KNOWN.read_text(encoding="utf-8"))
    known = set(dis.opmap) | {name for some in known_opcodes.values() for name in some}
    ops = sorted(set(_OPCODE.findall(words)) & known)
    return [f"`{name}`" for name in names] + [f"opcode `{name}`" for name in ops]


def told(records: list[Record], gone: list[str]) -> Iterator[str]:
    """Yield a line for each failure: what came, and which name that has moved it names."""
    failed = [record for record in records if record.outcome in (FAILED, ERROR)]
    yield "## Failures, and the names that have moved in them\n"
    for record in failed[:MOST]:
        # What pytest marks as the error: opcodes in the source above it prove nothing.
        lines = [line for line in record.words.splitlines() if line.startswith("E ")]
        named = causes("\n".join(lines) or record.words, gone)
        said = next(sentences([record], ROOT))
        yield f"- {said}" + (f"; it names {', '.join(named)}" if named else "")
    yield f"- and {len(failed) - MOST} more" if len(failed) > MOST else "" if failed else "None."


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
            print("\n".join(told(read(path).records, places)))
        except (OSError, SyntaxError) as error:
            print(f"There is no report, so pytest did not come to its end ({error}).")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
