"""Signatures of the verbs -> package/whoruns.pyi, which the wheel has beside its `__init__.py`.

`python -m tools.draw_types` after a change; `tests/test_package.py` holds the file to it.
"""

import inspect
from pathlib import Path

import helpers

STUB = Path(__file__).parents[1] / "package" / "whoruns.pyi"
HEAD = '''"""Types of the verbs; `python -m tools.draw_types` writes them."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import FunctionType
from typing import Any

from .exhibit import {kinds}
from .model.framework_records import TraceEntry
from .view.charts import Plot
'''
CALLED, NAMED = "Callable[..., Any]", "Mapping[str, Callable[..., Any]]"
GIVEN = {  # parameter -> its type, where neither an annotation nor a default says it
    **dict.fromkeys(("old", "new", "function", "donor", "judge", "unit", "program"), CALLED),
    **dict.fromkeys(("routes", "holders", "interventions", "programs", "actions"), NAMED),
    **{"cases": "Mapping[str, Any]", "ratios": "Mapping[str, float]", "keep": "Iterable[str]"},
    **{"asked": "str", "title": "str", "imports": "str | None", "what": "str | Callable[[], Any]"},
    **{"logs": "Any", "error": "BaseException", "numbers": "list[float] | tuple[float, ...]"},
}
MORE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
CALLS = {"fn": CALLED}  # by a verb that takes its arguments, too; others take what has code inside
RETURNED = {  # what is no exhibit
    "call_in_child": "Any",
    "code_swapped": "AbstractContextManager[Any]",
    "guard_function": "FunctionType",
    "op_routes": "dict[str, Callable[[], Any]]",
    "rebind_everywhere": "AbstractContextManager[Any]",
    "plot_ratios": "Plot",
    "would_trace": "TraceEntry",
}


class Written(str):
    """Source that `inspect` writes as it is."""

    __repr__ = str.__str__


def types_of(name: str) -> str:
    """Return the line of a verb."""
    signature = inspect.signature(getattr(helpers, name))
    given = signature.parameters.values()
    known = GIVEN | (CALLS if any(one.kind in MORE for one in given) else {})
    typed = []
    for one in given:
        plain = type(one.default) in (bool, int, str)
        kind = type(one.default).__name__ if plain else known.get(one.name, "Any")
        typed.append(one.replace(annotation=Written(kind)))
    result = Written(RETURNED.get(name) or signature.return_annotation.__name__)
    return f"def {name}{signature.replace(parameters=typed, return_annotation=result)}: ..."


def stub() -> str:
    """Return the file."""
    public = "\n".join(f'    "{name}",' for name in helpers.__all__)
    lines = "\n".join(types_of(name) for name in helpers.INSTRUMENTS)
    found = {inspect.signature(getattr(helpers, n)).return_annotation for n in helpers.INSTRUMENTS}
    exhibits = [one for one in found if getattr(one, "__module__", "") == "helpers.exhibit"]
    kinds = sorted(one.__name__ for one in exhibits)
    head = HEAD.format(kinds=", ".join(kinds))
    start = f"__version__: str\nINSTRUMENTS: list[str]\n__all__ = [\n{public}\n]"
    return f"{head}\n{start}\n\n{lines}\n"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
