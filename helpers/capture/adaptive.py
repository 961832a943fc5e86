"""A function and the arguments of a few stages -> what its instructions are specialised to."""

import dis
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import make_dataclass, replace
from types import FunctionType

from helpers.capture.bytecode import argument
from helpers.capture.functions import function_of, refuse_async
from helpers.model.listing import Column, Listing

TIMES = 200


def specialising(
    fn, stages: Mapping[str, tuple], times: int = TIMES, inside=None, changed: bool = False
) -> Listing:
    """Return the instructions before the first call and after `times` calls of each stage.

    `changed` leaves out the instructions that stay as they are, and the cache entries.

    `stages`: heading -> the arguments of its calls. `inside`: heading -> a callable that returns a
    context manager around the calls of that stage. A fresh copy of the function is run, so that
    earlier calls have no say; what it raises is raised. Mirrors Python/specialize.c. TypeError if
    `fn` is no Python function or a stage's arguments are no tuple, KeyError where `inside` names
    no stage.
    """
    function, own = function_of(fn, "watch_specialising")
    refuse_async(function, "watch_specialising")
    for heading, args in stages.items():
        if type(args) is not tuple:
            raise TypeError(f"the arguments of stage {heading!r} must be a tuple, such as (1, 2)")
    if unknown := set(inside or ()) - set(stages):
        raise KeyError(f"inside names {min(unknown)!r}, which is no stage")
    copy = _fresh(function)
    shots = {"before": _shot(copy)}
    for heading, args in stages.items():
        with (inside or {}).get(heading, nullcontext)():
            for _ in range(times):
                copy(*own, *args)
        shots[heading] = _shot(copy)
    listing = _listing(copy, shots, times)
    return _changes(listing) if changed else listing


def _fresh(fn: FunctionType) -> FunctionType:
    """Return a copy whose code object has never run."""
    code = fn.__code__.replace(co_name=fn.__code__.co_name)
    copy = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    copy.__kwdefaults__ = fn.__kwdefaults__
    return copy


def _shot(fn: FunctionType) -> dict[int, tuple[str, int]]:
    """Return offset -> (the name that runs now, how many of its cache entries are in use)."""
    live = fn.__code__._co_code_adaptive
    shot, last = {}, None
    for i in dis.get_instructions(fn, adaptive=True, show_caches=True):
        if i.opname == "CACHE":
            name, filled = shot[last]
            shot[last] = name, filled + any(live[i.offset : i.offset + 2])
        else:
            last = i.offset
            shot[last] = i.opname, 0
    return shot


def _listing(fn: FunctionType, shots, times: int) -> Listing:
    fields = [f"stage_{n}" for n in range(len(shots))]
    record = make_dataclass("Row", ["offset", "instruction", *fields, "caches"], frozen=True)
    rows = []
    for i in dis.get_instructions(fn):
        names = [shot.get(i.offset, ("", 0))[0] for shot in shots.values()]
        cells = [names[0], *map(_changed, names, names[1:])]
        filled = shots[list(shots)[-1]].get(i.offset, ("", 0))[1]
        words = f"{i.opname} {argument(i, fn.__code__)}".rstrip()
        rows.append(record(i.offset, words, *cells, f"{filled} in use" if filled else ""))
    headings = ["before the first call", *(f"after {times} calls: {h}" for h in list(shots)[1:])]
    columns = [Column(f, h, code=True) for f, h in zip(fields, headings, strict=True)]
    first = (Column("offset", "offset"), Column("instruction", "as compiled", code=True))
    last = Column("caches", "cache entries")
    changed = sum(any(getattr(row, f).startswith("→") for f in fields[1:]) for row in rows)
    note = f"{changed} of {len(rows)} instructions were replaced where they stand."
    return Listing(f"{fn.__name__}, as it runs", (*first, *columns, last), tuple(rows), note)


def _changes(listing: Listing) -> Listing:
    stages = [column.field for column in listing.columns[2:-1]]
    rows = [row for row in listing.rows if any(getattr(row, f) for f in stages[1:])]
    return replace(listing, columns=listing.columns[:-1], rows=tuple(rows))


def _changed(before: str, now: str) -> str:
    return "" if now == before else f"→ {now}"
