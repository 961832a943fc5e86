"""The names of the front door, read from its stub without an import.

`HOMES` maps each name to its module. `INSTRUMENTS` are the verbs, `OF_COURSE` the names of `study`.
"""

import ast
from collections import defaultdict
from pathlib import Path

STUB = Path(__file__).parents[1] / "helpers" / "__init__.pyi"


def names_by_module(stub: str) -> dict[str, list[str]]:
    """Return module -> the names that a stub imports from it; modules are as in `from .module`."""
    found = defaultdict(list)
    for statement in ast.parse(stub).body:
        if isinstance(statement, ast.ImportFrom):
            found[statement.module] += [alias.name for alias in statement.names]
    return dict(found)


NAMES = names_by_module(STUB.read_text("utf-8"))
HOMES = {name: module for module, names in NAMES.items() for name in names}
INSTRUMENTS = sorted(name for name, module in HOMES.items() if module.startswith("verbs."))
OF_COURSE = HOMES.keys() - INSTRUMENTS
