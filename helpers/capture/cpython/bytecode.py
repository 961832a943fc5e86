"""A code object -> its instructions as records, its fields, and what it is specialised to."""

import dis
import opcode
import sys
from collections import namedtuple
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from functools import lru_cache
from os.path import basename
from types import CellType, CodeType, FunctionType

from ...mini.versions import JUMPS, effect, ends
from ...model.code_records import Bytecode, CodeTree, Field, Instruction, columns
from ...model.phrase import interrupted, listed
from ...model.tables import Column, Listing
from ...safety.arguments import require_int, table
from ...safety.restoring import note_interrupt, running_user_code
from ...safety.users_frames import is_library
from ..text.source import NOWHERE, source_of
from ..text.value import plain, short_repr
from . import disassembly
from .objects import code_of, function_of, named, named_code, names_used, refuse_async
from .unwrapping import unwrap

MOST_NAMES = 8
MOST_BESIDE = 100  # functions that a copy may call, looked at
RUNNING_NAMES = dis._all_opname  # of opcodes, of specialised ones too
TIMES, MOST_TIMES, MOST_STAGES = 200, 10_000_000, 100
_MAKE, _PLACE = "the call, to make the frame", "the call, to place arguments"
FIELDS = {  # name -> what it is, and who uses it; opcodes where an instruction does
    "co_name": ("the name after def or class, or a name such as <module>", "tracebacks"),
    "co_qualname": ("the same name, with its classes and outer functions", "function.__qualname__"),
    "co_filename": ("the file name passed to compile", "tracebacks"),
    "co_firstlineno": ("its first line in that file, counting decorators", "inspect.getsource"),
    "co_argcount": ("how many parameters can be passed by position, not counting *args", _PLACE),
    "co_posonlyargcount": ("how many of these are positional-only (before /)", _PLACE),
    "co_kwonlyargcount": ("how many are keyword-only (after *), not counting **kwargs", _PLACE),
    "co_nlocals": ("how many names are in co_varnames", _MAKE),
    "co_varnames": ("arguments, then locals without a cell; the frame has a slot for each",
                    dis.haslocal),
    "co_cellvars": ("variables that inner code uses, so they live in cells", dis.hasfree),
    "co_freevars": ("names whose cells come from the enclosing code", dis.hasfree),
    "co_names": ("names without a slot or a cell: globals, attributes, imports", dis.hasname),
    "co_consts": ("constants, including inner code objects", dis.hasconst),
    "co_stacksize": ("the most values on its stack at once; the frame has room for them", _MAKE),
    "co_flags": ("properties of the code, one bit each", "the call: a generator? has *args?"),
    "co_code": ("the instructions as compiled, two bytes each, and their inline caches", "dis"),
    "co_exceptiontable": ("which instructions have a handler, and where it is, packed",
                          "the loop, on an exception"),
    "co_linetable": ("the source positions of the instructions, packed",
                     "tracebacks, tracers, f_lineno"),
    "co_lnotab": ("line numbers only, in the format of Python 3.9; made on request", ""),
    "co_lines": ("method: the line table, unpacked", ""),
    "co_positions": ("method: lines and columns, unpacked, once for every two bytes", ""),
    "_co_code_adaptive": ("the bytes that really run: specialised, with counters",
                          "the evaluation loop"),
    "_varname_from_oparg": ("method: the name of a frame slot", ""),
    "replace": ("method: a copy with changed fields; the fields themselves are read-only", ""),
}  # fmt: skip


def bytecode(fn, caches: bool = False, adaptive: bool = False) -> Bytecode:
    """List a function's instructions with jumps as arrows, source positions and stack depths."""
    function, peeled = unwrap(fn)
    code = code_of(function, "show_bytecode")
    source, handlers = source_of(code).folded(), disassembly.handlers(code)
    live, rows, depths = code._co_code_adaptive, [], {}
    with suppress(disassembly.Doubt):
        depths = disassembly.depths(code)
    for i, end in _extents(code):
        data, span = code.co_code[i.offset : end], source.span(i.positions)
        number, words = -1 if i.arg is None else i.arg, argument(i, code)
        kept = i.offset, i.opname, number, words, data.hex(" "), len(data) // 2 - 1
        line = source.line(i.positions.lineno)  # of a cell; of a file, its own
        place = (i.positions.lineno if line and source.file else line), span, source.snippet(span)
        target = i.argval if i.opcode in JUMPS else -1
        running = RUNNING_NAMES[live[i.offset]] if adaptive else ""
        change, jumping = f"{effect(i, False):+d}", f"{effect(i, True):+d}"
        if i.opcode in JUMPS and jumping != change:
            change = jumping if ends(i.opname) else f"{change} or {jumping}"
        stack = depths.get(i.offset, -1), change
        rows.append(Instruction(*kept, *place, *stack, target, running))
        if caches:
            rows += _cache_rows(rows[-1], live if adaptive else code.co_code)
    headings = {"where": "line", "offset": "offset", "opname": "instruction"}
    headings |= {"running": "specialised to"} if adaptive else {}
    headings |= {"kept": "bytes"} if caches else {}
    headings |= {"argument": "argument", "snippet": "source"}
    headings |= {"depth": "stack before", "effect": "change"}
    shown = columns("offset opname running argument snippet", **headings)
    peeled = (" ".join(peeled),) * bool(peeled)
    for one in handlers:
        words = disassembly.handler_words(one).replace(", push", " and push")
        peeled += (f"An exception in {one.start} to {one.end - 2}: {words}.",)
    title = f"Bytecode of {named_code(code)}{source.where} on Python 3.{sys.version_info.minor}"
    more = {"source": source.text, "places": source.places, "handlers": handlers}
    return Bytecode(title, shown, tuple(rows), "\n".join(peeled), **more)


def _extents(code: CodeType):
    found = disassembly.instructions(code)
    return zip(found, [*(i.offset for i in found[1:]), len(code.co_code)], strict=True)


def argument(instruction: dis.Instruction, code: CodeType) -> str:
    """Return what the instruction's number stands for, without an address in it."""
    if instruction.arg is None:
        return ""
    if instruction.opcode in dis.hasconst:  # 3.11 does not look KW_NAMES up itself
        return short_repr(code.co_consts[instruction.arg])
    if instruction.opcode in JUMPS:
        return f"to {instruction.argval}"
    if instruction.argrepr:
        return plain(instruction.argrepr)
    return "" if instruction.opname in ("RESUME", "PRECALL", "CACHE") else str(instruction.arg)


def _cache_rows(row: Instruction, live: bytes):
    """Yield one record per cache entry of an instruction, with what the entry is for."""
    names = [
        f"{name} {n + 1} of {size}" if size > 1 else name
        for name, size in getattr(opcode, "_cache_format", {}).get(row.opname, {}).items()
        for n in range(size)
    ]
    for n in range(row.caches):
        at, name = row.offset + 2 + 2 * n, names[n] if n < len(names) else ""
        data = live[at : at + 2].hex(" ")
        yield Instruction(at, "CACHE", -1, name, data, 0, 0, NOWHERE, "", -1, "", cache_index=n)


def code_tree(fn) -> CodeTree:
    """Show a code object's fields, its bytes beside its source, and the code objects inside it."""
    function, peeled = unwrap(fn)
    code = code_of(function, "show_code")
    nested = tuple(code_tree(part) for part in code.co_consts if type(part) is CodeType)
    shown = columns("name value", name="field", value="value", meaning="what it is", used="used by")
    name, rows = plain(code.co_qualname), []
    for field, (meaning, used) in FIELDS.items():
        if hasattr(CodeType, field):
            used = used if type(used) is str else _first_use(code, field, used)
            rows.append(Field(field, _field_value(code, field), meaning, used))
    fields = Listing(f"Code object {name}", shown, tuple(rows))
    return CodeTree(fields.title, name, fields, bytecode(code), nested, " ".join(peeled))


def _field_value(code: CodeType, name: str) -> str:
    if name in ("co_lnotab", "_co_code_adaptive"):
        return "bytes"  # asking for the first warns from 3.12 on; the second changes as it runs
    value = getattr(code, name)
    if callable(value):
        return "method"
    if name == "co_code":
        instructions = len(disassembly.instructions(code))
        caches = len(value) // 2 - instructions
        entries = "1 cache entry" if caches == 1 else f"{caches} cache entries"
        return f"{len(value)} bytes: {instructions} instructions, {entries}"
    if name == "co_flags":
        names = [name for bit, name in dis.COMPILER_FLAG_NAMES.items() if value & bit]
        return f"0x{value:x}: {', '.join(names) or 'none'}"
    if name == "co_filename" and not value.startswith("<"):
        return "a notebook cell" if "ipykernel" in value else short_repr(basename(value))
    if type(value) is bytes:
        return f"{len(value)} bytes"
    if type(value) is not tuple:
        return short_repr(value)
    parts = [short_repr(one) for one in value[:MOST_NAMES]]
    parts += [f"… {len(value) - MOST_NAMES} more"] * (len(value) > MOST_NAMES)
    return f"({', '.join(parts)}{',' if len(value) == 1 else ''})"


def _first_use(code: CodeType, field: str, opcodes) -> str:
    """Return the first instruction of this code that reads a field by position."""
    values = getattr(code, field)
    for i in disassembly.instructions(code):
        for place, item in enumerate(values) if i.opcode in opcodes and i.arg is not None else ():
            if item is i.argval:
                return f"{i.offset} {i.opname} uses [{place}]"
    return ""


def specialising(
    fn, stages: Mapping[str, tuple], times: int = TIMES, inside=None, changed: bool = False
) -> Listing:
    """Run a fresh copy of `fn`, and list what its instructions have become after each stage."""
    function, peeled = unwrap(fn)
    function, own = function_of(function, "watch_specialising")
    refuse_async(function, "watch_specialising")
    for heading, args in table(stages, "watch_specialising", "heading -> arguments", MOST_STAGES):
        if type(args) is not tuple:
            words = plain(heading)
            raise TypeError(f"the arguments of stage {words!r} must be a tuple, such as (1, 2)")
    require_int(times, "times", MOST_TIMES)
    inside = inside or {}
    if odd := [heading for heading in inside if heading not in stages]:
        raise KeyError(f"inside names {odd[0]!r}, which is not a stage")
    code, space = _copy_code(function.__code__), function.__globals__
    beside = _find_users_functions(function)
    before = [_running_names(one) for one in beside]
    rest = function.__name__, function.__defaults__, function.__closure__
    copy = FunctionType(code, space, *rest)
    copy.__kwdefaults__ = function.__kwdefaults__
    shots, done, stopped = [_running_now(copy)], [], ""
    for heading, args in stages.items():
        calls = 0
        try:
            with running_user_code(), inside.get(heading, nullcontext)():
                for _ in range(times):
                    copy(*own, *args)
                    calls += 1
        except KeyboardInterrupt as error:
            if not (done or calls):
                raise
            note_interrupt(error)
            stopped = f"{interrupted(calls, 'call')[:-1]} of the stage '{plain(heading)}'."
        shots.append(_running_now(copy))
        done.append((calls, heading))
        if stopped:
            break
    fields = [f"stage_{n}" for n in range(len(shots))]
    record = _row_type(len(shots))
    rows, moved = [], []
    for i in disassembly.instructions(code):
        names = [shot[i.offset][0] for shot in shots]
        pairs = zip(names, names[1:], strict=False)
        then = ["" if now == was else f"→ {now}" for was, now in pairs]
        filled = shots[-1][i.offset][1]
        words = f"{i.opname} {argument(i, code)}".rstrip()
        kept = f"{filled} in use" if filled else ""
        rows.append(record(i.offset, words, names[0], *then, kept))
        moved += rows[-1:] * any(then)
    headings = ["before the first call", *(f"after {n} calls: {h}" for n, h in done)]
    shown = [Column("offset", "offset"), Column("instruction", "as compiled", code=True)]
    shown += [Column(f, h, code=True) for f, h in zip(fields, headings, strict=True)]
    shown += [Column("caches", "cache entries")] * (not changed)
    note = f"{len(moved)} of {len(rows)} instructions were replaced in place (→). "
    note = " ".join((*peeled, f"{note}An empty cell means no change. {stopped}")).rstrip()
    warmed = [one for one, was in zip(beside, before, strict=True) if _running_names(one) != was]
    note += _say_warmed(warmed)
    chosen = tuple(moved if changed else rows)
    return Listing(f"{named(function)}, as it runs", tuple(shown), chosen, note)


def _say_warmed(functions: list[FunctionType]) -> str:
    if not functions:
        return ""
    names = listed((plain(one.__qualname__) for one in functions), MOST_NAMES)
    return f" It called functions that are no copies, so they are specialised now, too: {names}."


@lru_cache(maxsize=16)
def _row_type(stages: int) -> type:
    fields = [f"stage_{number}" for number in range(stages)]
    return namedtuple("Row", ["offset", "instruction", *fields, "caches"])


def _copy_code(code: CodeType) -> CodeType:
    """Return a copy that was never run, with copies of the code inside it."""
    inner = (_copy_code(one) if type(one) is CodeType else one for one in code.co_consts)
    return code.replace(co_consts=tuple(inner))


def _find_users_functions(function: FunctionType) -> list[FunctionType]:
    """Return the functions of no library that `function` may call by name, itself included."""
    found, waiting = {}, [function]
    while waiting and len(found) < MOST_BESIDE:
        one = waiting.pop()
        if id(one) in found or is_library(one.__code__.co_filename):
            continue
        found[id(one)] = one
        cells = (cell for cell in one.__closure__ or () if cell != CellType())
        used = [one.__globals__.get(name) for name in names_used(one.__code__)]
        used += [cell.cell_contents for cell in cells]
        waiting += [value for value in used if type(value) is FunctionType]
    return list(found.values())


def _running_names(fn: FunctionType) -> list[str]:
    return [name for name, _ in _running_now(fn).values()]


def _running_now(fn: FunctionType) -> dict[int, tuple[str, int]]:
    """Return offset -> (the name that runs now, how many of its cache entries are in use)."""
    live, found = fn.__code__._co_code_adaptive, {}
    for i, end in _extents(fn.__code__):
        filled = sum(any(live[at : at + 2]) for at in range(i.offset + 2, end, 2))
        found[i.offset] = RUNNING_NAMES[live[i.offset]], filled
    return found
