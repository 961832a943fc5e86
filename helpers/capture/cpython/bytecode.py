"""List the instructions of a function or code object, with jumps, stack depths and source lines."""

import dis
import opcode
import sys
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType

from ...mini.versions import JUMPS, find_stack_effect, is_never_followed
from ...model.code_records import Bytecode, Handler, Instruction, build_columns
from ...model.tables import Column
from ..text.source import NOWHERE, Source, find_source
from ..text.value import format_text, short_repr
from . import disassembly
from .objects import read_code_name, require_code
from .unwrapping import unwrap

# Opcode -> name of the instruction. It has the specialised ones too, which `dis.opname` leaves out.
ALL_OPNAMES = dis._all_opname


def list_bytecode(fn, caches: bool = False, adaptive: bool = False) -> Bytecode:
    """Return a function's instructions, a row for each, with jump targets and stack depths.

    Parameters
    ----------
    fn : object
        A function, a callable that wraps one (see `unwrap`), a code object, generator or frame.
    caches : bool
        Add a row for each inline cache entry: two bytes after an instruction, where CPython notes
        what it has learnt when it ran the instruction.
    adaptive : bool
        Add to which instruction CPython has specialised each, and show the caches as they are now.
        Without it, the caches are shown as compiled, which means empty.
    """
    function, unwrapping_sentences = unwrap(fn)
    code = require_code(function, "show_bytecode")
    source = find_source(code).folded()  # with each long docstring in one line
    handlers = disassembly.list_handlers(code)
    depths = {}  # offset of an instruction -> stack depth before it
    # Two paths through hand-made bytecode may disagree about a depth. Then no row shows a depth.
    with suppress(disassembly.UnknownStackDepth):
        depths = disassembly.derive_depths(code)

    running_code = code._co_code_adaptive  # as `co_code`, with specialised opcodes and full caches
    rows = []
    for entry, end in list_instructions_with_ends(code):
        row = _build_row(
            entry,
            code,
            source,
            data=code.co_code[entry.offset : end],
            depth=depths.get(entry.offset, -1),
            running=ALL_OPNAMES[running_code[entry.offset]] if adaptive else "",
        )
        rows.append(row)
        if caches:
            rows += _build_cache_rows(row, running_code if adaptive else code.co_code)

    notes = [" ".join(unwrapping_sentences)] if unwrapping_sentences else []
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
    """Return the row of one instruction.

    Parameters
    ----------
    entry : dis.Instruction
        The instruction as the module `dis` decodes it.
    code : CodeType
        The code object of the instruction.
    source : Source
        The source of the code object.
    data : bytes
        The bytes of the instruction and of its cache entries.
    depth : int
        How many values are on the stack before the instruction, -1 if that is not known.
    running : str
        The name of the specialised instruction, "" if the caller does not show it.
    """
    span = source.span(entry.positions)
    line = source.line(entry.positions.lineno)  # counted from the start of the function
    if line and source.file:
        line = entry.positions.lineno  # a function from a file is shown with the file's numbers
    return Instruction(
        offset=entry.offset,
        opname=entry.opname,
        arg=-1 if entry.arg is None else entry.arg,
        argument=format_argument(entry, code),
        data=data.hex(" "),
        caches=len(data) // 2 - 1,  # two bytes each; the first two are the instruction
        line=line,
        span=span,
        snippet=source.snippet(span),
        before=depth,
        effect=_format_effect(entry),
        target=entry.argval if entry.opcode in JUMPS else -1,
        running=running,
    )


def _format_effect(entry: dis.Instruction) -> str:
    """Return by how much an instruction changes the stack's depth, such as "+1" or "-1".

    Return "+1 or -1" for a jump whose effect is +1 without the jump and -1 with it.
    """
    without_jump = f"{find_stack_effect(entry, jump=False):+d}"
    with_jump = f"{find_stack_effect(entry, jump=True):+d}"
    if entry.opcode not in JUMPS or with_jump == without_jump:
        return without_jump
    is_unconditional = is_never_followed(entry.opname)  # the instruction below never follows it
    if is_unconditional:
        return with_jump
    return f"{without_jump} or {with_jump}"


def _choose_columns(caches: bool, adaptive: bool) -> tuple[Column, ...]:
    """Return the columns of the table, from left to right.

    With `adaptive` there is a column for specialised instructions, with `caches` one for bytes.
    """
    # Attribute of an `Instruction` -> heading of the column that shows it.
    headings = {"where": "line", "offset": "offset", "opname": "instruction"}
    if adaptive:
        headings["running"] = "specialised to"
    if caches:
        headings["kept"] = "bytes"
    headings["argument"] = "argument"
    headings["snippet"] = "source"
    headings["depth"] = "stack before"
    headings["effect"] = "change"
    columns_of_code = "offset opname running argument snippet"  # in a fixed-width font
    return build_columns(columns_of_code, **headings)


def _describe_handler(handler: Handler) -> str:
    """Return one row of the exception table as a sentence.

    Such as "An exception in 4 to 12: go to 20, keep 0 values and push the offset."
    """
    action = disassembly.describe_handler(handler).replace(", push", " and push")
    last_offset = handler.end - 2  # `end` is the offset after the last instruction
    return f"An exception in {handler.start} to {last_offset}: {action}."


def list_instructions_with_ends(code: CodeType) -> list[tuple[dis.Instruction, int]]:
    """Return (instruction, end) for each instruction of a code object.

    `end` is the offset of the first byte after the instruction and its cache entries.
    """
    instructions = disassembly.decode_instructions(code)
    starts = [entry.offset for entry in instructions]
    ends_of_instructions = [*starts[1:], len(code.co_code)]
    return list(zip(instructions, ends_of_instructions, strict=True))


def format_argument(instruction: dis.Instruction, code: CodeType) -> str:
    """Return what the numeric argument of an instruction means, as text.

    The result is a constant, a name, the target of a jump as "to 24", or the number itself if it
    has no other meaning. It contains no memory address. Return "" for an instruction without one.
    """
    if instruction.arg is None:
        return ""
    if instruction.opcode in dis.hasconst:
        # Not `argrepr`: on 3.11 it is empty for KW_NAMES, and a repr may contain an address.
        return short_repr(code.co_consts[instruction.arg])
    if instruction.opcode in JUMPS:
        return f"to {instruction.argval}"
    if instruction.argrepr:
        return format_text(instruction.argrepr)
    has_no_meaning = instruction.opname in ("RESUME", "PRECALL", "CACHE")
    return "" if has_no_meaning else str(instruction.arg)


def _build_cache_rows(row: Instruction, code_bytes: bytes) -> Iterator[Instruction]:
    """Yield a row for each inline cache entry of an instruction, with what the entry is for.

    Parameters
    ----------
    row : Instruction
        The row of the instruction to which the entries belong.
    code_bytes : bytes
        All bytes of the code object: as compiled, with empty entries, or as they are now.
    """
    names = _list_cache_names(row.opname)
    for index in range(row.caches):
        offset = row.offset + 2 + 2 * index  # an instruction and an entry have two bytes each
        yield Instruction(
            offset=offset,
            opname="CACHE",
            arg=-1,
            argument=names[index] if index < len(names) else "",  # `opcode` may name fewer
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
    """Return what each cache entry of an instruction is for, such as ["counter", "version 1 of 2"].

    The list is empty if the module `opcode` of this Python does not say it.
    """
    names = []
    cache_format = getattr(opcode, "_cache_format", {})  # opname -> {name: number of entries}
    for name, size in cache_format.get(opname, {}).items():
        if size == 1:
            names.append(name)
        else:
            names += [f"{name} {number} of {size}" for number in range(1, size + 1)]
    return names
