"""A function or a code object -> its instructions as a table, with jumps, depths and source."""

import dis
import opcode
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType

from ...mini.versions import JUMPS, effect, ends
from ...model.code_records import Bytecode, Handler, Instruction, build_columns
from ...model.tables import Column
from ..text.source import NOWHERE, Source, find_source
from ..text.value import format_text, short_repr
from . import disassembly
from .objects import read_code_name, require_code
from .unwrapping import unwrap

# Opcode -> name, also of specialised opcodes, which `dis.opname` leaves out.
RUNNING_NAMES = dis._all_opname


def list_bytecode(fn, caches: bool = False, adaptive: bool = False) -> Bytecode:
    """List a function's instructions with jumps as arrows, source positions and stack depths.

    Parameters
    ----------
    fn : object
        A function, or what `unwrap` and `require_code` accept in its place.
    caches : bool
        Add a row for each inline cache entry.
    adaptive : bool
        Say to which instruction CPython has specialised each, and read the caches as they are now.
    """
    function, sentences = unwrap(fn)
    code = require_code(function, "show_bytecode")
    source = find_source(code).folded()
    handlers = disassembly.list_handlers(code)
    depths = {}
    # Bytecode that was put together by hand may have no depths; its rows show none.
    with suppress(disassembly.Doubt):
        depths = disassembly.derive_depths(code)

    running_code = code._co_code_adaptive
    rows = []
    for entry, end in list_extents(code):
        row = _build_row(
            entry,
            code,
            source,
            data=code.co_code[entry.offset : end],
            depth=depths.get(entry.offset, -1),
            running=RUNNING_NAMES[running_code[entry.offset]] if adaptive else "",
        )
        rows.append(row)
        if caches:
            rows += _build_cache_rows(row, running_code if adaptive else code.co_code)

    notes = [" ".join(sentences)] if sentences else []
    notes += [_describe_handler(handler) for handler in handlers]
    version = f"Python 3.{sys.version_info.minor}"
    return Bytecode(
        title=f"Bytecode of {read_code_name(code)}{source.where} on {version}",
        columns=_choose_columns(caches, adaptive),
        rows=tuple(rows),
        note="\n".join(notes),
        source=source.text,
        places=source.places,
        handlers=handlers,
    )


def _build_row(
    entry: dis.Instruction, code: CodeType, source: Source, data: bytes, depth: int, running: str
) -> Instruction:
    """Return an instruction as a row.

    Parameters
    ----------
    entry, code, source
        The instruction, its code object, and the source of that.
    data : bytes
        The instruction with its cache entries.
    depth : int
        How many values are on the stack before it, -1 if that is not known.
    running : str
        The name of the specialised instruction, "" if it is not asked for.
    """
    span = source.span(entry.positions)
    line = source.line(entry.positions.lineno)
    if line and source.file:
        line = entry.positions.lineno  # lines of a file have the file's numbers, not the text's
    return Instruction(
        offset=entry.offset,
        opname=entry.opname,
        arg=-1 if entry.arg is None else entry.arg,
        argument=format_argument(entry, code),
        data=data.hex(" "),
        caches=len(data) // 2 - 1,
        line=line,
        span=span,
        snippet=source.snippet(span),
        before=depth,
        effect=_format_effect(entry),
        target=entry.argval if entry.opcode in JUMPS else -1,
        running=running,
    )


def _format_effect(entry: dis.Instruction) -> str:
    """Return how the depth of the stack changes: "+1", or both ways of a jump if they differ."""
    without_jump = f"{effect(entry, False):+d}"
    with_jump = f"{effect(entry, True):+d}"
    if entry.opcode not in JUMPS or with_jump == without_jump:
        return without_jump
    if ends(entry.opname):  # it always jumps
        return with_jump
    return f"{without_jump} or {with_jump}"


def _choose_columns(caches: bool, adaptive: bool) -> tuple[Column, ...]:
    """Return the columns of the table, from left to right."""
    headings = {"where": "line", "offset": "offset", "opname": "instruction"}
    if adaptive:
        headings["running"] = "specialised to"
    if caches:
        headings["kept"] = "bytes"
    headings["argument"] = "argument"
    headings["snippet"] = "source"
    headings["depth"] = "stack before"
    headings["effect"] = "change"
    return build_columns("offset opname running argument snippet", **headings)


def _describe_handler(handler: Handler) -> str:
    """Return the sentence on a row of the exception table."""
    words = disassembly.describe_handler(handler).replace(", push", " and push")
    last_offset = handler.end - 2  # `end` is the offset after it
    return f"An exception in {handler.start} to {last_offset}: {words}."


def list_extents(code: CodeType) -> list[tuple[dis.Instruction, int]]:
    """Return each instruction with the offset at which it, with its cache entries, ends."""
    instructions = disassembly.decode_instructions(code)
    starts = [entry.offset for entry in instructions]
    return list(zip(instructions, [*starts[1:], len(code.co_code)], strict=True))


def format_argument(instruction: dis.Instruction, code: CodeType) -> str:
    """Return what the instruction's number stands for, without an address in it."""
    if instruction.arg is None:
        return ""
    if instruction.opcode in dis.hasconst:  # `dis` of 3.11 does not look the names of KW_NAMES up
        return short_repr(code.co_consts[instruction.arg])
    if instruction.opcode in JUMPS:
        return f"to {instruction.argval}"
    if instruction.argrepr:
        return format_text(instruction.argrepr)
    has_no_meaning = instruction.opname in ("RESUME", "PRECALL", "CACHE")
    return "" if has_no_meaning else str(instruction.arg)


def _build_cache_rows(row: Instruction, code_bytes: bytes) -> Iterator[Instruction]:
    """Yield a row for each cache entry of an instruction, with what the entry is for.

    `code_bytes`: the code as compiled, whose entries are empty, or as it runs.
    """
    names = _list_cache_names(row.opname)
    for index in range(row.caches):
        offset = row.offset + 2 + 2 * index  # an instruction and an entry have two bytes each
        yield Instruction(
            offset=offset,
            opname="CACHE",
            arg=-1,
            argument=names[index] if index < len(names) else "",
            data=code_bytes[offset : offset + 2].hex(" "),
            caches=0,
            line=0,
            span=NOWHERE,
            snippet="",
            before=-1,
            effect="",
            cache_index=index,
        )


def _list_cache_names(opname: str) -> list[str]:
    """Return what each cache entry of an instruction is for; empty where `opcode` does not say."""
    names = []
    cache_format = getattr(opcode, "_cache_format", {})
    for name, size in cache_format.get(opname, {}).items():
        if size == 1:
            names.append(name)
        else:
            names += [f"{name} {number} of {size}" for number in range(1, size + 1)]
    return names
