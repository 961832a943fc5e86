"""A function and the arguments of a few stages -> what its instructions are specialised to."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import make_dataclass, replace
from types import FunctionType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.bytecode import argument
from helpers.capture.cpython.objects import can_be_called, function_of, refuse_async
from helpers.capture.text.value import brief, plain
from helpers.model.listing import Column, Listing
from helpers.safety.arguments import switch, table
from helpers.safety.restoring import theirs

TIMES, MOST_TIMES, MOST_STAGES = 200, 10_000_000, 100


def specialising(
    fn, stages: Mapping[str, tuple], times: int = TIMES, inside=None, changed: bool = False
) -> Listing:
    """Return the instructions before the first call and after `times` calls of each stage.

    `changed` leaves out the instructions that stay as they are, and the cache entries.

    `stages`: heading -> the arguments of its calls. `inside`: heading -> a callable that returns a
    context manager around the calls of that stage. A fresh copy of the function is run, so that
    earlier calls have no say; what it raises is raised. Mirrors Python/specialize.c. TypeError if
    `fn` is no Python function or a stage's arguments are no tuple, ValueError where `times` is no
    number of calls, KeyError where `inside` names no stage.
    """
    function, own = function_of(fn, "watch_specialising")
    refuse_async(function, "watch_specialising")
    _check(stages, times, inside)
    switch(changed, "changed")
    copy = _fresh(function)
    shots = [_shot(copy)]
    for heading, args in stages.items():
        around = (inside or {}).get(heading, nullcontext)()
        if not hasattr(type(around), "__enter__") or not hasattr(type(around), "__exit__"):
            raise TypeError(
                f"what inside gives for stage {plain(heading)!r} must return a context manager, "
                f"not {brief(around)}"
            )
        with theirs(), around:
            for _ in range(times):
                copy(*own, *args)
        shots.append(_shot(copy))
    listing = _listing(copy, list(stages), shots, times)
    return _changes(listing) if changed else listing


def _check(stages, times, inside) -> None:
    for heading, args in table(stages, "watch_specialising", "heading -> arguments", MOST_STAGES):
        if type(args) is not tuple:
            words = plain(heading)
            raise TypeError(f"the arguments of stage {words!r} must be a tuple, such as (1, 2)")
    if type(times) is not int or not 1 <= times <= MOST_TIMES:
        raise ValueError(f"times must be a number from 1 to {MOST_TIMES:,}, not {brief(times)}")
    makers = table(inside, "inside", "heading -> function", MOST_STAGES) if inside else ()
    for heading, made in makers:
        if heading not in stages:
            raise KeyError(f"inside names {plain(heading)!r}, which is no stage")
        if not can_be_called(made):
            words = plain(heading)
            raise TypeError(f"inside of stage {words!r} must be a function, such as nullcontext")


def _fresh(fn: FunctionType) -> FunctionType:
    """Return a copy whose code object has never run."""
    code = fn.__code__.replace(co_name=fn.__code__.co_name)
    copy = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    return copy


def _shot(fn: FunctionType) -> dict[int, tuple[str, int]]:
    """Return offset -> (the name that runs now, how many of its cache entries are in use)."""
    live, raw = fn.__code__._co_code_adaptive, disassembly.instructions(fn.__code__)
    ends = [i.offset for i in raw[1:]] + [len(live)]
    return {
        i.offset: (
            disassembly.running_name(live[i.offset]),
            sum(any(live[at : at + 2]) for at in range(i.offset + 2, end, 2)),
        )
        for i, end in zip(raw, ends, strict=True)
    }


def _listing(fn: FunctionType, stages: list[str], shots: list[dict], times: int) -> Listing:
    fields = [f"stage_{n}" for n in range(len(shots))]
    record = make_dataclass("Row", ["offset", "instruction", *fields, "caches"], frozen=True)
    rows, changed = [], 0
    for i in disassembly.instructions(fn.__code__):
        names = [shot[i.offset][0] for shot in shots]
        then = [
            "" if now == was else f"→ {now}" for was, now in zip(names, names[1:], strict=False)
        ]
        filled = shots[-1][i.offset][1]
        words = f"{i.opname} {argument(i, fn.__code__)}".rstrip()
        kept = f"{filled} in use" if filled else ""
        rows.append(record(i.offset, words, names[0], *then, kept))
        changed += any(then)
    headings = ["before the first call", *(f"after {times} calls: {h}" for h in stages)]
    columns = [Column(f, h, code=True) for f, h in zip(fields, headings, strict=True)]
    first = (Column("offset", "offset"), Column("instruction", "as compiled", code=True))
    last = Column("caches", "cache entries")
    note = f"{changed} of {len(rows)} instructions were replaced where they stand (→). "
    note += "An empty cell: as before."
    return Listing(f"{plain(fn.__name__)}, as it runs", (*first, *columns, last), tuple(rows), note)


def _changes(listing: Listing) -> Listing:
    stages = [column.field for column in listing.columns[2:-1]]
    rows = [row for row in listing.rows if any(getattr(row, f) for f in stages[1:])]
    return replace(listing, columns=listing.columns[:-1], rows=tuple(rows))
