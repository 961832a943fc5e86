"""A function that is called again and again -> what its instructions have become."""

from collections import namedtuple
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import NamedTuple

from ...model.phrase import describe_interruption, format_names
from ...model.tables import Column, Listing
from ...safety.arguments import require_dict, require_int
from ...safety.restoring import note_interrupt, running_user_code
from ...safety.users_frames import is_library
from ..text.value import format_text
from . import disassembly
from .bytecode import RUNNING_NAMES, format_argument, list_extents
from .objects import list_global_names, read_function_name, refuse_async, require_python_function
from .unwrapping import unwrap

TIMES, MOST_TIMES, MOST_STAGES = 200, 10_000_000, 100
MOST_NAMED = 8  # functions that are named in a sentence
MOST_CALLED = 100  # functions that a copy may call, looked at


class RunningInstruction(NamedTuple):
    """What one instruction of a function is at the moment."""

    #: The name of the instruction that runs, which may be a specialised one.
    opname: str
    #: How many of its cache entries are in use.
    filled_caches: int


# Offset -> the instruction there, of one function at one moment.
Snapshot = dict[int, RunningInstruction]


@dataclass
class StageResults:
    """What running the stages has given so far."""

    #: The instructions before the first stage, and after each.
    snapshots: list[Snapshot]
    #: The heading of each stage with how often it called the function.
    call_counts: list[tuple[str, int]] = field(default_factory=list)
    #: The sentence on an interrupt, "" for none.
    stop: str = ""


def record_specialisation(
    fn,
    stages: Mapping[str, tuple],
    times: int = TIMES,
    inside: Mapping[str, Callable] | None = None,
    changed: bool = False,
) -> Listing:
    """Run a fresh copy of `fn`, and list what its instructions have become after each stage.

    Parameters
    ----------
    fn : object
        A function, or what `unwrap` accepts in its place.
    stages : Mapping of str to tuple
        Heading of each stage -> the arguments of its calls.
    times : int
        How many calls a stage makes.
    inside : Mapping of str to Callable, optional
        Heading of a stage -> what makes the context manager in which the stage runs.
    changed : bool
        List only the instructions that were replaced.
    """
    function, sentences = unwrap(fn)
    function, self_arguments = require_python_function(function, "watch_specialising")
    refuse_async(function, "watch_specialising")
    inside = inside or {}
    _require_stages(stages, times, inside)

    # The copy has instructions of its own. The functions that it calls have not: the calls may
    # specialise these for good, which the note says.
    called_functions = _find_called_functions(function)
    opnames_before = [_read_running_names(called) for called in called_functions]
    copy = _copy_function(function)
    results = StageResults([_read_running(copy)])
    _run_stages(copy, self_arguments, stages, times, inside, results)

    rows = _build_rows(copy.__code__, results.snapshots)
    replaced = [row for row in rows if _is_replaced(row)]
    warmed = [
        called
        for called, opnames in zip(called_functions, opnames_before, strict=True)
        if _read_running_names(called) != opnames
    ]
    note = " ".join(
        (
            *sentences,
            f"{len(replaced)} of {len(rows)} instructions were replaced in place (→).",
            f"An empty cell means no change. {results.stop}",
        )
    )
    return Listing(
        title=f"{read_function_name(function)}, as it runs",
        columns=_build_columns(results.call_counts, changed),
        rows=tuple(replaced if changed else rows),
        note=note.rstrip() + _describe_warmed(warmed),
    )


def _require_stages(stages, times: int, inside: Mapping[str, Callable]) -> None:
    """Raise one clear sentence for an argument of `watch_specialising` that does not fit."""
    for heading, args in require_dict(
        stages, "watch_specialising", "heading -> arguments", MOST_STAGES
    ):
        if type(args) is not tuple:
            words = format_text(heading)
            raise TypeError(f"the arguments of stage {words!r} must be a tuple, such as (1, 2)")
    require_int(times, "times", MOST_TIMES)
    for heading in inside:
        if heading not in stages:
            raise KeyError(f"inside names {heading!r}, which is not a stage")


def _run_stages(
    copy: FunctionType,
    self_arguments: tuple,
    stages: Mapping[str, tuple],
    times: int,
    inside: Mapping[str, Callable],
    results: StageResults,
) -> None:
    """Call `copy` with the arguments of each stage in turn, and add to `results`.

    `self_arguments` come before those of a stage: the self of a method. The others are as in
    `record_specialisation`. Ctrl-C ends the stages, unless nothing has run yet.
    """
    for heading, args in stages.items():
        calls = 0
        try:
            with running_user_code(), inside.get(heading, nullcontext)():
                for _ in range(times):
                    copy(*self_arguments, *args)
                    calls += 1
        except KeyboardInterrupt as error:
            if not results.call_counts and not calls:
                raise
            note_interrupt(error)
            sentence = describe_interruption(calls, "call").removesuffix(".")
            results.stop = f"{sentence} of the stage '{format_text(heading)}'."
        results.snapshots.append(_read_running(copy))
        results.call_counts.append((heading, calls))
        if results.stop:
            break


def _build_rows(code: CodeType, snapshots: list[Snapshot]) -> list[tuple]:
    """Return a row for each instruction: what it was at first, and what each stage made of it."""
    make_row = _make_row_type(len(snapshots))
    rows = []
    for entry in disassembly.decode_instructions(code):
        instructions = [snapshot[entry.offset] for snapshot in snapshots]
        changes = []
        for before, after in zip(instructions, instructions[1:], strict=False):
            is_same = after.opname == before.opname
            changes.append("" if is_same else f"→ {after.opname}")
        filled = instructions[-1].filled_caches
        rows.append(
            make_row(
                entry.offset,
                f"{entry.opname} {format_argument(entry, code)}".rstrip(),
                instructions[0].opname,
                *changes,
                caches=f"{filled} in use" if filled else "",
            )
        )
    return rows


def _is_replaced(row: tuple) -> bool:
    """Return whether a stage has changed the instruction of this row."""
    fields = [name for name in row._fields if name.startswith("stage_")]
    return any(getattr(row, name) for name in fields[1:])  # the first is before all stages


def _build_columns(call_counts: list[tuple[str, int]], changed: bool) -> tuple[Column, ...]:
    """Return the columns of the table; one that lists only changes shows no caches."""
    headings = ["before the first call"]
    headings += [f"after {calls} calls: {heading}" for heading, calls in call_counts]
    shown = [Column("offset", "offset"), Column("instruction", "as compiled", code=True)]
    for number, heading in enumerate(headings):
        shown.append(Column(f"stage_{number}", heading, code=True))
    if not changed:
        shown.append(Column("caches", "cache entries"))
    return tuple(shown)


@lru_cache(maxsize=16)
def _make_row_type(snapshot_count: int) -> type:
    """Return the type of a row; it is cached, so that equal tables have equal rows."""
    stages = [f"stage_{number}" for number in range(snapshot_count)]
    return namedtuple("Row", ["offset", "instruction", *stages, "caches"])


def _describe_warmed(functions: list[FunctionType]) -> str:
    """Return the sentence on functions of the program that the calls have specialised too."""
    if not functions:
        return ""
    names = format_names((format_text(function.__qualname__) for function in functions), MOST_NAMED)
    return f" It called functions that are no copies, so they are specialised now, too: {names}."


def _copy_function(function: FunctionType) -> FunctionType:
    """Return a copy that was never run; it shares all but the code with the function."""
    copy = FunctionType(
        _copy_code(function.__code__),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _copy_code(code: CodeType) -> CodeType:
    """Return a copy that was never run, with copies of the code inside it."""
    constants = []
    for constant in code.co_consts:
        constants.append(_copy_code(constant) if type(constant) is CodeType else constant)
    return code.replace(co_consts=tuple(constants))


def _find_called_functions(function: FunctionType) -> list[FunctionType]:
    """Return the functions of no library that `function` may call by name, itself included."""
    functions_by_id = {}
    pending = [function]
    while pending and len(functions_by_id) < MOST_CALLED:
        called = pending.pop()
        if id(called) in functions_by_id or is_library(called.__code__.co_filename):
            continue
        functions_by_id[id(called)] = called
        values = [called.__globals__.get(name) for name in list_global_names(called.__code__)]
        for cell in called.__closure__ or ():
            if cell != CellType():  # an empty cell has no contents that could be read
                values.append(cell.cell_contents)
        pending += [value for value in values if type(value) is FunctionType]
    return list(functions_by_id.values())


def _read_running_names(fn: FunctionType) -> list[str]:
    """Return the name of each instruction of a function, as it runs now."""
    return [instruction.opname for instruction in _read_running(fn).values()]


def _read_running(fn: FunctionType) -> Snapshot:
    """Return what the instructions of a function are now."""
    running_code = fn.__code__._co_code_adaptive
    snapshot = {}
    for entry, end in list_extents(fn.__code__):
        filled = 0
        for offset in range(entry.offset + 2, end, 2):  # of each cache entry, two bytes
            if any(running_code[offset : offset + 2]):
                filled += 1
        opname = RUNNING_NAMES[running_code[entry.offset]]
        snapshot[entry.offset] = RunningInstruction(opname, filled)
    return snapshot
