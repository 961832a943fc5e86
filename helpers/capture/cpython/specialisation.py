"""Call a function again and again, and list to which instructions CPython has specialised its own.
CPython replaces an instruction in place when it has run a few times with the same types. For
example, BINARY_OP becomes BINARY_OP_ADD_INT. The calls are made in *stages*: a stage is a series of
calls with the same arguments, and the table has a column for each stage.
"""

from collections import namedtuple
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from types import CellType, CodeType, FunctionType
from typing import NamedTuple

from ...model.phrase import describe_interruption, format_names
from ...model.tables import Column, Listing
from ...safety.arguments import require_dict, require_int
from ...safety.restoring import note_interrupt, running_user_code
from ...safety.users_frames import is_library
from ..text.value import format_text
from . import disassembly
from .bytecode import ALL_OPNAMES, format_argument, list_instructions_with_ends
from .objects import list_global_names, read_function_name, refuse_async, require_python_function
from .unwrapping import unwrap

TIMES, MOST_TIMES, MOST_STAGES = 200, 10_000_000, 100
MOST_NAMED = 8  # functions that are named in a sentence
MOST_CALLED = 100  # called functions that are checked for specialisation


class RunningInstruction(NamedTuple):
    """What one instruction of a function is at the moment."""

    #: The name of the instruction that runs, which may be a specialised one.
    opname: str
    #: How many of its cache entries are in use.
    filled_caches: int


# The instructions of one function at one moment: offset -> the instruction there.
Snapshot = dict[int, RunningInstruction]


@dataclass
class StageResults:
    """What is known after the stages that have run so far."""

    #: The instructions before the first stage, and after each stage.
    snapshots: list[Snapshot]
    #: (heading, number of calls made) of each stage.
    call_counts: list[tuple[str, int]] = field(default_factory=list)
    #: The sentence that Ctrl-C has ended the stages, "" if it has not.
    interruption: str = ""


def record_specialisation(
    fn,
    stages: Mapping[str, tuple],
    times: int = TIMES,
    inside: Mapping[str, Callable] | None = None,
    changed: bool = False,
) -> Listing:
    """Call a fresh copy of `fn` in stages, and list its instructions after each stage.

    Parameters
    ----------
    fn : object
        A function, or a callable that wraps one (see `unwrap`).
    stages : Mapping of str to tuple
        Heading of a stage -> the arguments of each call in the stage.
    times : int
        How many calls a stage makes.
    inside : Mapping of str to Callable, optional
        Heading of a stage -> a function that returns the context manager in which the stage runs.
    changed : bool
        Whether to list only the instructions that were replaced.
    """
    function, unwrapping_sentences = unwrap(fn)
    function, self_arguments = require_python_function(function, "watch_specialising")
    refuse_async(function, "watch_specialising")
    context_makers = inside or {}
    _require_stages(stages, times, context_makers)

    # Only `function` is copied. The functions that it calls are the user's own: the calls may
    # specialise their instructions for good, and then the note says so.
    called_functions = _find_called_functions(function)
    opnames_before = [_read_running_names(called) for called in called_functions]
    copy = _copy_function(function)
    results = StageResults([_read_running(copy)])
    _run_stages(copy, self_arguments, stages, times, context_makers, results)

    rows = _build_rows(copy.__code__, results.snapshots)
    replaced_rows = [row for row in rows if _is_replaced(row)]
    specialised_functions = [
        called
        for called, opnames in zip(called_functions, opnames_before, strict=True)
        if _read_running_names(called) != opnames
    ]
    sentences = [
        *unwrapping_sentences,
        f"{len(replaced_rows)} of {len(rows)} instructions were replaced in place (→).",
        "An empty cell means no change.",
        results.interruption,
    ]
    note = " ".join(sentences).rstrip()
    return Listing(
        title=f"{read_function_name(function)}, as it runs",
        columns=_build_columns(results.call_counts, changed),
        rows=tuple(replaced_rows if changed else rows),
        note=note + _describe_specialised(specialised_functions),
    )


def _require_stages(stages, times: int, context_makers: Mapping[str, Callable]) -> None:
    """Raise TypeError, ValueError or KeyError for an argument of the wrong form.

    The parameters are those of `record_specialisation`; `context_makers` is its `inside`.
    """
    pairs = require_dict(stages, "watch_specialising", "heading -> arguments", MOST_STAGES)
    for heading, args in pairs:
        if type(args) is not tuple:
            stage = format_text(heading)
            raise TypeError(f"the arguments of stage {stage!r} must be a tuple, such as (1, 2)")
    require_int(times, "times", MOST_TIMES)
    for heading in context_makers:
        if heading not in stages:
            raise KeyError(f"inside names {heading!r}, which is not a stage")


def _run_stages(
    copy: FunctionType,
    self_arguments: tuple,
    stages: Mapping[str, tuple],
    times: int,
    context_makers: Mapping[str, Callable],
    results: StageResults,
) -> None:
    """Call `copy` with the arguments of each stage, and add the changes of each to `results`.

    Parameters
    ----------
    copy : FunctionType
        The function to call.
    self_arguments : tuple
        `(self,)` for the function of a method, which is passed before the stage's arguments. `()`
        for a plain function.
    stages, times
        As in `record_specialisation`.
    context_makers : Mapping of str to Callable
        The argument `inside` of `record_specialisation`.
    results : StageResults
        Gets a snapshot and the number of calls for each stage. After Ctrl-C, no further stage runs,
        and `results.interruption` says so.
    """
    for heading, args in stages.items():
        call_count = 0
        make_context = context_makers.get(heading, nullcontext)
        try:
            with running_user_code(), make_context():
                for _ in range(times):
                    copy(*self_arguments, *args)
                    call_count += 1
        except KeyboardInterrupt as error:
            if not results.call_counts and not call_count:
                raise  # nothing has run, so there is no table to show
            note_interrupt(error)
            sentence = describe_interruption(call_count, "call").removesuffix(".")
            results.interruption = f"{sentence} of the stage '{format_text(heading)}'."
        results.snapshots.append(_read_running(copy))
        results.call_counts.append((heading, call_count))
        if results.interruption:
            break


def _build_rows(code: CodeType, snapshots: list[Snapshot]) -> list[tuple]:
    """Return a row for each instruction of a function.

    The row shows the instruction as compiled, as it was before the first stage, and, for each stage
    that replaced it, "→" and the new name. `snapshots` are those of `StageResults`.
    """
    make_row = _make_row_type(len(snapshots))
    rows = []
    for entry in disassembly.decode_instructions(code):
        instructions = [snapshot[entry.offset] for snapshot in snapshots]
        changes = []
        for before, after in pairwise(instructions):
            is_same = after.opname == before.opname
            changes.append("" if is_same else f"→ {after.opname}")
        filled_caches = instructions[-1].filled_caches
        as_compiled = f"{entry.opname} {format_argument(entry, code)}".rstrip()
        rows.append(
            make_row(
                entry.offset,
                as_compiled,
                instructions[0].opname,
                *changes,
                caches=f"{filled_caches} in use" if filled_caches else "",
            )
        )
    return rows


def _is_replaced(row: tuple) -> bool:
    """Return whether a stage has replaced the instruction of this row of `_build_rows`."""
    fields = [name for name in row._fields if name.startswith("stage_")]
    # `stage_0` is the instruction before the first stage. The others are "" for no change.
    return any(getattr(row, name) for name in fields[1:])


def _build_columns(call_counts: list[tuple[str, int]], changed: bool) -> tuple[Column, ...]:
    """Return the columns of the table, with one for each stage.

    Parameters
    ----------
    call_counts : list of (str, int)
        The heading of each stage, and how many calls it made.
    changed : bool
        Whether the table lists only replaced instructions. Then it has no column for caches.
    """
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
    """Return the type of a row: a named tuple with a field for each snapshot.

    The type is cached, so rows of two tables with equally many stages have the same type.
    """
    stage_fields = [f"stage_{number}" for number in range(snapshot_count)]
    return namedtuple("Row", ["offset", "instruction", *stage_fields, "caches"])


def _describe_specialised(functions: list[FunctionType]) -> str:
    """Return the sentence that the calls have specialised these functions too; "" for none.

    They are functions of the user's program, which the copy has called. The sentence is appended to
    a note, so it begins with a space.
    """
    if not functions:
        return ""
    names = format_names((format_text(function.__qualname__) for function in functions), MOST_NAMED)
    return f" It called functions that are no copies, so they are specialised now, too: {names}."


def _copy_function(function: FunctionType) -> FunctionType:
    """Return a copy of a function, with a code object that has never run.

    Its instructions are therefore not specialised. All else is shared with the function.
    """
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
    """Return a copy of a code object that has never run; inner code objects are copied too."""
    constants = []
    for constant in code.co_consts:
        constants.append(_copy_code(constant) if type(constant) is CodeType else constant)
    return code.replace(co_consts=tuple(constants))


def _find_called_functions(function: FunctionType) -> list[FunctionType]:
    """Return `function` and the user's functions that it may call, directly or indirectly.

    These are the functions to which its globals and its cells refer. Functions of libraries are
    left out, and at most `MOST_CALLED` are returned.
    """
    functions_by_id = {}
    pending = [function]
    while pending and len(functions_by_id) < MOST_CALLED:
        called = pending.pop()
        if id(called) in functions_by_id or is_library(called.__code__.co_filename):
            continue
        functions_by_id[id(called)] = called
        values = [called.__globals__.get(name) for name in list_global_names(called.__code__)]
        for cell in called.__closure__ or ():
            is_empty = cell == CellType()  # reading the contents of an empty cell would raise
            if not is_empty:
                values.append(cell.cell_contents)
        pending += [value for value in values if type(value) is FunctionType]
    return list(functions_by_id.values())


def _read_running_names(fn: FunctionType) -> list[str]:
    """Return the name of each instruction of a function, as it is now."""
    return [instruction.opname for instruction in _read_running(fn).values()]


def _read_running(fn: FunctionType) -> Snapshot:
    """Return the instructions of a function as they are now, specialised or not."""
    running_code = fn.__code__._co_code_adaptive
    snapshot = {}
    for entry, end in list_instructions_with_ends(fn.__code__):
        filled_caches = 0
        # The instruction has two bytes, and so has each cache entry between it and `end`.
        for offset in range(entry.offset + 2, end, 2):
            if any(running_code[offset : offset + 2]):
                filled_caches += 1
        opname = ALL_OPNAMES[running_code[entry.offset]]
        snapshot[entry.offset] = RunningInstruction(opname, filled_caches)
    return snapshot
