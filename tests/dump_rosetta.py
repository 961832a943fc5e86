"""Write the bytecode of the rosetta's functions on this interpreter to a data file (3.8 and later).

    python3.8 tests/dump_rosetta.py      and the same with 3.11, 3.12, 3.13

Only the standard library is used, so that a bare interpreter can run it.
"""

import dis
import importlib.util
import json
import sys
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1] / "helpers" / "capture" / "cpython"


def programs():
    """Load the functions by path, without the house around them."""
    spec = importlib.util.spec_from_file_location("programs", str(HOUSE / "rosetta_programs.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


def argument(i, consts):
    """Return what an instruction's number stands for, in the words of helpers/capture."""
    if i.arg is None:
        return ""
    if i.opcode in dis.hasconst:
        value = consts[i.arg]
        return "code of " + value.co_name if hasattr(value, "co_name") else repr(value)
    if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
        return f"to {i.argval}"
    if i.argrepr:
        return i.argrepr
    return "" if i.opname in ("RESUME", "PRECALL", "CACHE") else str(i.arg)


def rows(fn):
    """Return [line after def, offset, name, argument] per instruction."""
    line, found = 0, []
    starts = dict(dis.findlinestarts(fn.__code__))
    for i in dis.get_instructions(fn):
        line = starts.get(i.offset) or line
        found.append(
            [
                line - fn.__code__.co_firstlineno,
                i.offset,
                i.opname,
                argument(i, fn.__code__.co_consts),
            ]
        )
    return found


if __name__ == "__main__":
    version = "{}.{}".format(*sys.version_info[:2])
    dump = {"version": version, "programs": {fn.__name__: rows(fn) for fn in programs()}}
    target = HOUSE / "rosetta_data" / f"{version}.json"
    body = ",\n".join(
        "  {}: [\n    {}\n  ]".format(json.dumps(name), ",\n    ".join(map(json.dumps, listing)))
        for name, listing in dump["programs"].items()
    )
    text = f'{{"version": "{version}", "programs": {{\n{body}\n}}}}\n'
    target.write_text(text, encoding="utf-8")
