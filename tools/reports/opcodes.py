"""This Python's opcodes -> which are new or gone, set against those that the course knows.

`python -m tools.reports.opcodes` prints that; `--write` takes those of this Python into
opcodes.json. The standard library is enough, so any Python can be asked, also one that is too new.
"""

import dis
import json
import sys
from pathlib import Path

KNOWN = Path(__file__).with_name("opcodes.json")


def here() -> str:
    """Return this Python's version as in the file: 3.11."""
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def names() -> list[str]:
    """Return the names of this Python's opcodes, those of `dis` alone too."""
    return sorted(name for name in dis.opmap if not name.startswith("<"))


def moved(known: dict[str, list[str]], version: str, now: list[str]) -> list[str]:
    """Return a line for each opcode that is new or gone, against this version or the last known."""
    last = version if version in known else max(known, key=lambda v: [*map(int, v.split("."))])
    new, gone = sorted({*now} - {*known[last]}), sorted({*known[last]} - {*now})
    lines = [f"- `{name}` is new since {last}" for name in new]
    return lines + [f"- `{name}` is gone since {last}" for name in gone]


def report() -> str:
    """Return the section on this Python."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    found = moved(known, here(), names())
    return "\n".join([f"## Opcodes of Python {here()}", "", *(found or ["None has moved."])])


def main(words: list[str]) -> int:
    """Print the report, or take this Python's opcodes into the file."""
    if words == ["--write"]:
        known = json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else {}
        known = dict(sorted({**known, here(): names()}.items()))
        KNOWN.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    else:
        print(report())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
