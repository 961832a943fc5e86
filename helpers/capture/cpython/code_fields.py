"""A code object -> all its fields, and the code objects inside it."""

import dis
from collections.abc import Collection
from os.path import basename
from types import CodeType

from ...model.code_records import CodeTree, Field, build_columns
from ...model.tables import Listing
from ..text.value import format_text, short_repr
from . import disassembly
from .bytecode import list_bytecode
from .objects import require_code
from .unwrapping import unwrap

MOST_ITEMS = 8  # of a tuple, shown
_MAKE = "the call, to make the frame"
_PLACE = "the call, to place arguments"
# Name -> what the field is, and who uses it: in words, or as the opcodes that index it.
FIELDS = {
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


def build_code_tree(fn) -> CodeTree:
    """Show a code object's fields, its bytes beside its source, and the code objects inside it.

    `fn` is a function, or what `unwrap` and `require_code` accept in its place.
    """
    function, sentences = unwrap(fn)
    code = require_code(function, "show_code")
    inner_codes = [constant for constant in code.co_consts if type(constant) is CodeType]
    name = format_text(code.co_qualname)
    fields = _list_fields(code, title=f"Code object {name}")
    return CodeTree(
        title=fields.title,
        name=name,
        fields=fields,
        bytecode=list_bytecode(code),
        nested=tuple(build_code_tree(inner) for inner in inner_codes),
        note=" ".join(sentences),
    )


def _list_fields(code: CodeType, title: str) -> Listing:
    """Return the table of the fields that code objects have on this version of Python."""
    rows = []
    for name, (meaning, used_by) in FIELDS.items():
        if not hasattr(CodeType, name):
            continue
        if type(used_by) is not str:
            used_by = _describe_first_use(code, name, used_by)
        rows.append(Field(name, _format_field(code, name), meaning, used_by))
    shown = build_columns(
        "name value", name="field", value="value", meaning="what it is", used="used by"
    )
    return Listing(title, shown, tuple(rows))


def _format_field(code: CodeType, name: str) -> str:
    """Return the value of a code object's field as words."""
    # Python 3.12 warns of whoever reads `co_lnotab`; the other one changes as the code runs.
    if name in ("co_lnotab", "_co_code_adaptive"):
        return "bytes"
    value = getattr(code, name)
    if callable(value):
        return "method"
    if name == "co_code":
        return _format_size(code)
    if name == "co_flags":
        names = [flag for bit, flag in dis.COMPILER_FLAG_NAMES.items() if value & bit]
        return f"0x{value:x}: {', '.join(names) or 'none'}"
    if name == "co_filename" and not value.startswith("<"):
        # A path of this machine is never shown.
        return "a notebook cell" if "ipykernel" in value else short_repr(basename(value))
    if type(value) is bytes:
        return f"{len(value)} bytes"
    if type(value) is tuple:
        return _format_tuple(value)
    return short_repr(value)


def _format_size(code: CodeType) -> str:
    """Return how many bytes, instructions and cache entries a code object has."""
    size = len(code.co_code)
    instruction_count = len(disassembly.decode_instructions(code))
    cache_count = size // 2 - instruction_count
    entries = "1 cache entry" if cache_count == 1 else f"{cache_count} cache entries"
    return f"{size} bytes: {instruction_count} instructions, {entries}"


def _format_tuple(values: tuple) -> str:
    """Return the first few items of a tuple, and how many more there are."""
    parts = [short_repr(value) for value in values[:MOST_ITEMS]]
    rest = len(values) - MOST_ITEMS
    if rest > 0:
        parts.append(f"… {rest} more")
    comma = "," if len(values) == 1 else ""
    return f"({', '.join(parts)}{comma})"


def _describe_first_use(code: CodeType, field: str, opcodes: Collection[int]) -> str:
    """Say which instruction is the first that reads a field by position; "" if none does.

    `opcodes`: those of the instructions that read this field.
    """
    values = getattr(code, field)
    for entry in disassembly.decode_instructions(code):
        if entry.opcode not in opcodes or entry.arg is None:
            continue
        for index, value in enumerate(values):
            # By identity: `==` of the constants 1 and True would say that they are the same.
            if value is entry.argval:
                return f"{entry.offset} {entry.opname} uses [{index}]"
    return ""
