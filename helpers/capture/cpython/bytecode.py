"""A code object -> its instructions as records: bytes, places in the source, stack depths."""

import dis
import sys
from types import CodeType

from helpers.capture.cpython import disassembly, stack_effects
from helpers.capture.cpython.function import check_flag, code_of
from helpers.capture.cpython.unwrapping import unwrap
from helpers.capture.text.source import NOWHERE, Source, source_of
from helpers.capture.text.value import brief, plain
from helpers.mini.versions import JUMPS, effect, ends
from helpers.model.bytecode import Bytecode, Handler, Instruction
from helpers.model.listing import Column
from helpers.model.phrase import counted

MOST_ROWS = 20_000


def bytecode(fn, caches: bool = False, adaptive: bool = False, start: int = 0) -> Bytecode:
    """Return the instructions of a function, method, generator, frame or code object.

    Of another callable, the function inside (`unwrap`); the note says what was peeled off.
    `caches` adds a row per inline cache entry (16 bit); `adaptive` adds the name that the
    interpreter has specialised the instruction to, as far as it has run. Of more than `MOST_ROWS`
    rows the first are listed, from offset `start` on. TypeError for what has no bytecode,
    ValueError for bytes that cannot be decoded. Mirrors `dis.get_instructions`, Lib/dis.py.
    """
    function, peeled = unwrap(fn)
    code = code_of(function, "show_bytecode")
    check_flag(caches, "caches")
    check_flag(adaptive, "adaptive")
    if type(start) is not int or not 0 <= start <= len(code.co_code):
        raise ValueError(
            f"start must be an offset from 0 to {len(code.co_code)}, not {brief(start)}"
        )
    source, handlers = source_of(code), stack_effects.handlers(code)
    rows = tuple(row for row in instructions(code, source, adaptive) if row.offset >= start)
    if caches:
        rows = tuple(part for row in rows for part in (row, *_cache_rows(row, code, adaptive)))
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    cut = _cut(rows, start)
    return Bytecode(
        f"Bytecode of {plain(code.co_name)} on Python {version}",
        _columns(caches, adaptive),
        rows[:MOST_ROWS],
        "\n".join([*peeled, *([cut] if cut else []), *map(_guards, handlers)]),
        source=source.text,
        handlers=tuple(Handler(**vars(row)) for row in handlers),
        version=version,
        cut=cut,
    )


def _cut(rows: tuple, start: int) -> str:
    """Say which instructions are not listed, and how to list them."""
    said = [f"Listed from offset {start} on; without `start`, from 0."] if start else []
    if len(rows) > MOST_ROWS:
        at = rows[MOST_ROWS].offset
        said.append(
            f"Only the first {MOST_ROWS:,} of {len(rows):,} rows are listed; "
            f"show_bytecode(…, start={at}) lists those from offset {at} on."
        )
    return " ".join(said)


def instructions(code: CodeType, source: Source, adaptive: bool = False) -> tuple:
    """Return one record per instruction, in order."""
    raw = disassembly.instructions(code)
    ends = [i.offset for i in raw[1:]] + [len(code.co_code)]
    try:
        origins = stack_effects.origins(code)
    except stack_effects.Doubt:
        origins = {}
    running = {}
    if adaptive:
        live = _live_code(code)
        running = {i.offset: disassembly.running_name(live[i.offset]) for i in raw}
    places = disassembly.positions(code)
    return tuple(
        _instruction(i, code, end, places[i.offset // 2], source, origins, running)
        for i, end in zip(raw, ends, strict=True)
    )


def argument(instruction: dis.Instruction, code: CodeType) -> str:
    """Return what the instruction's number stands for, without an address in it."""
    if instruction.arg is None:
        return ""
    if instruction.opcode in dis.hasconst:  # 3.11 does not look KW_NAMES up itself
        return brief(code.co_consts[instruction.arg])
    if instruction.opcode in JUMPS:
        return f"to {instruction.argval}"
    if instruction.argrepr:
        return plain(instruction.argrepr)
    return "" if instruction.opname in ("RESUME", "PRECALL", "CACHE") else str(instruction.arg)


def _instruction(i: dis.Instruction, code, end, positions, source, origins, running):
    data = code.co_code[i.offset : end]
    span = source.span(positions)
    return Instruction(
        i.offset,
        i.opname,
        -1 if i.arg is None else i.arg,
        argument(i, code),
        data.hex(" "),
        len(data) // 2 - 1,
        source.line(positions[0]),
        span,
        source.snippet(span),
        len(origins[i.offset]) if i.offset in origins else -1,
        _effect(i),
        i.argval if i.opcode in JUMPS else -1,
        running.get(i.offset, ""),
    )


def _effect(i: dis.Instruction) -> str:
    straight = f"{effect(i, False):+d}"
    if i.opcode not in JUMPS:
        return straight
    jumping = f"{effect(i, True):+d}"
    if ends(i.opname) or jumping == straight:
        return jumping
    return f"{straight} or {jumping}"


def _cache_rows(row: Instruction, code: CodeType, adaptive: bool):
    """Return one record per cache entry of an instruction, with what the entry is for."""
    live = _live_code(code) if adaptive else code.co_code
    names = _cache_names(row.opname)
    for n in range(row.caches):
        at = row.offset + 2 + 2 * n
        yield Instruction(
            at,
            "CACHE",
            -1,
            names[n] if n < len(names) else "",
            live[at : at + 2].hex(" "),
            0,
            0,
            NOWHERE,
            "",
            -1,
            "",
            cache_index=n,
        )


def _live_code(code: CodeType) -> bytes:
    """Return the bytes that the interpreter really runs, specialised and with its counters."""
    return code._co_code_adaptive


def _cache_names(opname: str) -> list[str]:
    """Return what each entry is called, from the running interpreter's own table."""
    import opcode

    formats = getattr(opcode, "_cache_format", {}).get(opname, {})
    return [
        f"{name} {n + 1} of {size}" if size > 1 else name
        for name, size in formats.items()
        for n in range(size)
    ]


def _guards(row: stack_effects.Handler) -> str:
    values = counted(row.depth, "value")
    lasti = " and push the offset" if row.lasti else ""
    return (
        f"An exception in {row.start} to {row.end - 2}: go to {row.target}, keep {values}{lasti}."
    )


def _columns(caches: bool, adaptive: bool) -> tuple[Column, ...]:
    columns = [
        Column("where", "line"),
        Column("place", "offset", True),
        Column("opname", "instruction", True),
    ]
    if adaptive:
        columns.append(Column("running", "specialised to", True))
    if caches:
        columns.append(Column("kept", "bytes"))
    columns += [Column("argument", "argument", True), Column("snippet", "source", True)]
    return (*columns, Column("depth", "stack before"), Column("effect", "change"))
