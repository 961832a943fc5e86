"""List all fields of a code object, and of the code objects inside it."""

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

MOST_ITEMS = 8  # of a tuple that are shown
_MAKE = "the call, to make the frame"
_PLACE = "the call, to place arguments"
# Name of a field -> (what the field is, who uses it). The second item is text, or a collection of
# the opcodes whose argument is an index into the field.
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
    """Return a code object's fields and bytecode, and the same of each code object inside it.

    The code of an inner function, a lambda or a class is among the constants of the outer code.
    `fn` is a function, a callable that wraps one (see `unwrap`), a code object, generator or frame.
    """
    function, unwrapping_sentences = unwrap(fn)
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
        note=" ".join(unwrapping_sentences),
    )


def _list_fields(code: CodeType, title: str) -> Listing:
    """Return the table of a code object's fields: name, value, meaning, and who uses the field."""
    rows = []
    for name, (meaning, used_by) in FIELDS.items():
        if not hasattr(CodeType, name):  # another version of Python has this field
            continue
        if type(used_by) is not str:  # opcodes: show the first instruction that reads the field
            used_by = _describe_first_use(code, name, opcodes=used_by)
        rows.append(Field(name, _format_field(code, name), meaning, used_by))
    shown = build_columns(
        "name value", name="field", value="value", meaning="what it is", used="used by"
    )
    return Listing(title, shown, tuple(rows))


def _format_field(code: CodeType, name: str) -> str:
    """Return the value of a code object's field as short text, such as "12 bytes"."""
    # Python 3.12 issues a warning when `co_lnotab` is read. `_co_code_adaptive` changes whenever
    # the code runs, so its size or content would differ from one output to the next.
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
    """Return how many bytes, instructions and cache entries a code object has, as text."""
    size = len(code.co_code)
    instruction_count = len(disassembly.decode_instructions(code))
    cache_count = size // 2 - instruction_count  # an instruction and an entry have two bytes each
    entries = "1 cache entry" if cache_count == 1 else f"{cache_count} cache entries"
    return f"{size} bytes: {instruction_count} instructions, {entries}"


def _format_tuple(values: tuple) -> str:
    """Return a tuple as text, at most `MOST_ITEMS` of its items: `(1, 'a', … 3 more)`."""
    parts = [short_repr(value) for value in values[:MOST_ITEMS]]
    omitted_count = len(values) - MOST_ITEMS
    if omitted_count > 0:
        parts.append(f"… {omitted_count} more")
    comma = "," if len(values) == 1 else ""  # as Python writes a tuple of one item
    return f"({', '.join(parts)}{comma})"


def _describe_first_use(code: CodeType, field: str, opcodes: Collection[int]) -> str:
    """Return the first instruction that reads an item of a field, such as `4 LOAD_CONST uses [1]`.

    Return "" if no instruction of the code reads the field.

    Parameters
    ----------
    code : CodeType
        The code object.
    field : str
        The name of a field that contains a tuple, such as `co_consts`.
    opcodes : Collection of int
        The opcodes of the instructions whose argument is an index into the field.
    """
    values = getattr(code, field)
    for entry in disassembly.decode_instructions(code):
        if entry.opcode not in opcodes or entry.arg is None:
            continue
        for index, value in enumerate(values):
            # Compared by identity, because 1 == True, though they are two constants.
            if value is entry.argval:
                return f"{entry.offset} {entry.opname} uses [{index}]"
    return ""
