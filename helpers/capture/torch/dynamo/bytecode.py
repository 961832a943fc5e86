"""A function under `torch.compile` -> the bytecode that Dynamo puts in the place of its own.

Names that Dynamo numbers or marks with a uuid are shown without; nothing else of the code changes.
Mirrors torch/_dynamo/convert_frame.py, where the new code object is made.
"""

import contextlib
from dataclasses import replace
from types import CodeType, FunctionType

from helpers.capture.cpython.bytecode import bytecode
from helpers.capture.cpython.objects import named
from helpers.capture.text.error import said
from helpers.capture.torch.dynamo import text as words
from helpers.capture.torch.dynamo.recorder import record
from helpers.capture.torch.dynamo.timeline import compilable
from helpers.capture.torch.unwrapping import behind
from helpers.internals import torch_private
from helpers.model.bytecode import Bytecode

RESUME = "__resume_at_"
TIMING = "record_runtime_overhead"  # a setting: without it, no calls that only measure time


def rewritten(fn, *args, **kwargs) -> Bytecode:
    """Return the bytecode that Dynamo made for `fn` when it was called with these arguments.

    Raises:
        TypeError: there is no Python function to translate.
        RuntimeError: torch is missing or not one that this reads.
        ValueError: Dynamo made no new code for it.
    """
    torch_private.needed("cache", "dynamo")
    inside, (function, told) = compilable(fn, "watch_rewriting"), behind(fn)
    with _without_timing():
        kept = record(inside.call, inside.function, args, kwargs, steps=0)
    entries = torch_private.cache_entries(function.__code__)
    if not entries:
        why = f"the call raised {said(kept.error)}" if kept.error else "Python runs it as it is"
        if kept.graphs and not kept.error:  # of a module of torch's own it starts further inside
            why = "what it compiled starts further inside; give a function that calls it"
        raise ValueError(f"Dynamo made no new code for {named(function)}: {why}")
    listed = bytecode(_same(entries[0].code))
    columns = tuple(column for column in listed.columns if _tells(column.field, listed.rows))
    cut = listed.cut.partition(";")[0]  # of this code `show_bytecode` cannot list the rest
    left_out = [f"{cut}."] * bool(cut) + _left_out(entries[0].code, len(entries), function)
    note = "\n".join([*told, *left_out, listed.note.removeprefix(listed.cut).lstrip("\n")]).rstrip(
        "\n"
    )
    title = f"What Dynamo made of {named(function)}"
    return replace(listed, title=title, columns=columns, note=note, cut=" ".join(left_out))


def _left_out(code: CodeType, entries: int, function) -> list[str]:
    """Say what else Dynamo made: resume functions, and code for other calls of the function."""
    told, resumed = [], len(_resume_functions(code, function.__globals__))
    if resumed:
        them = f"{resumed:,} resume functions" if resumed > 1 else "1 resume function"
        told.append(f"The code of {them} is left out; watch_compile steps through what is there.")
    if entries > 1:
        told.append(f"Dynamo made code for {entries:,} calls of it; only the first is listed.")
    return told


def _resume_functions(code: CodeType, home: dict) -> set[str]:
    """Return the names of the resume functions that new code calls, and that their code calls."""
    found, waiting = set(), [code]
    while waiting:
        names = {name for name in waiting.pop().co_names if name.startswith(RESUME)} - found
        found |= names
        functions = [home[name] for name in names if type(home.get(name)) is FunctionType]
        waiting += [
            entry.code for one in functions for entry in torch_private.cache_entries(one.__code__)
        ]
    return found


def _tells(field: str, rows) -> bool:
    """Return whether a column tells instructions apart: new code may be of one line only."""
    return field not in ("where", "snippet") or len({getattr(row, field) for row in rows}) > 1


def _without_timing():
    config = torch_private.config
    if hasattr(config, TIMING):
        return torch_private.setting(config, TIMING, False)
    return contextlib.nullcontext()


def _same(code: CodeType) -> CodeType:
    return code.replace(co_names=tuple(words.same(name) for name in code.co_names))
