"""A function or code object -> its fields with what each is for, and the code objects inside it."""

import dis
from dataclasses import replace
from os.path import basename
from types import CodeType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.bytecode import bytecode
from helpers.capture.cpython.function import code_of
from helpers.capture.cpython.unwrapping import unwrap
from helpers.capture.text.value import brief, plain
from helpers.model.code import CodeTree, Field
from helpers.model.listing import Column, Listing

MOST_NESTED = 40
MOST_NAMES = 8
DEEPEST = 8
MEANINGS = {
    "co_name": "the name after def or class, or one such as <module>",
    "co_qualname": "the same with its classes and outer functions",
    "co_filename": "the file name that compile was given",
    "co_firstlineno": "its first line in that file, decorators included",
    "co_argcount": "how many parameters may be given by position, *args aside",
    "co_posonlyargcount": "how many of these only by position (before /)",
    "co_kwonlyargcount": "how many only by keyword (after *), **kwargs aside",
    "co_nlocals": "how many names are in co_varnames",
    "co_varnames": "arguments, then locals without a cell; the frame has a slot for each",
    "co_cellvars": "variables that inner code uses, so they live in cells",
    "co_freevars": "names whose cells come from the code around it",
    "co_names": "names without a slot or a cell: globals, attributes, imports",
    "co_consts": "constants, inner code objects among them",
    "co_stacksize": "the deepest its value stack can get; the frame has room for so many",
    "co_flags": "properties of the code, a bit each",
    "co_code": "the instructions as compiled, two bytes each, and their inline caches",
    "co_exceptiontable": "which instructions have a handler, and where it is, packed",
    "co_linetable": "the places of the instructions in the source, packed",
    "co_lnotab": "the lines alone, in the form of Python 3.9; made when asked for",
    "co_lines": "method: the line table, unpacked",
    "co_positions": "method: lines and columns, unpacked, once for every two bytes",
    "_co_code_adaptive": "the bytes that really run: specialised, with counters",
    "_varname_from_oparg": "method: the name of a slot of the frame",
    "replace": "method: a copy with other fields; nobody can write to its own",
}
_TABLES = {
    "co_varnames": dis.haslocal,
    "co_names": dis.hasname,
    "co_consts": dis.hasconst,
    "co_cellvars": dis.hasfree,
    "co_freevars": dis.hasfree,
}
_WHERE_USED = {
    "co_stacksize": "the call, to make the frame",
    "co_nlocals": "the call, to make the frame",
    "co_argcount": "the call, to place arguments",
    "co_posonlyargcount": "the call, to place arguments",
    "co_kwonlyargcount": "the call, to place arguments",
    "co_flags": "the call: a generator? has *args?",
    "co_code": "dis",
    "_co_code_adaptive": "the evaluation loop",
    "co_exceptiontable": "the loop, on an exception",
    "co_linetable": "tracebacks, tracers, f_lineno",
    "co_name": "tracebacks",
    "co_qualname": "function.__qualname__",
    "co_filename": "tracebacks",
    "co_firstlineno": "inspect.getsource",
}


def code_tree(fn) -> CodeTree:
    """Return every field of the code object of a function, method, generator or frame.

    The list of fields comes from the running interpreter (Objects/codeobject.c); code objects
    among the constants follow as `nested`. TypeError for what has no code object.
    Of another callable, the function inside (`unwrap`); the note says what was peeled off.
    """
    function, peeled = unwrap(fn)
    tree = _tree(code_of(function, "show_code"), DEEPEST, [MOST_NESTED])
    return replace(tree, note=" ".join(filter(None, (*peeled, tree.note))))


def _tree(code: CodeType, deeper: int, left: list[int]) -> CodeTree:
    inner = [c for c in code.co_consts if type(c) is CodeType]
    nested = []
    for part in inner:
        if left[0] and deeper:
            left[0] -= 1
            nested.append(_tree(part, deeper - 1, left))
    rest = len(inner) - len(nested)
    note = f"Left out here: {rest} inner; show_code shows each of `co_consts`." if rest else ""
    columns = (
        Column("name", "field", code=True),
        Column("value", "value", code=True),
        Column("meaning", "what it is"),
        Column("used", "used by"),
    )
    name = plain(code.co_qualname)
    fields = Listing(f"Code object {name}", columns, tuple(_fields(code)))
    return CodeTree(f"Code object {name}", name, fields, bytecode(code), tuple(nested), note)


def _fields(code: CodeType):
    uses = _uses(code)
    known = [name for name in dir(code) if name.startswith(("co_", "_co")) or name in MEANINGS]
    for name in sorted(known, key=_order):
        used = uses.get(name) or _WHERE_USED.get(name, "")
        yield Field(name, _value(code, name), MEANINGS.get(name, "new in this Python"), used)


def _order(name: str):
    order = list(MEANINGS)
    return (order.index(name) if name in order else len(order), name)


def _value(code: CodeType, name: str) -> str:
    if name in _WORDS:
        return _WORDS[name](code)
    if name in ("co_lnotab", "_co_code_adaptive"):
        return "bytes"  # asking for the first warns from 3.12 on; the second changes as it runs
    value = getattr(code, name)
    if callable(value):
        return "method"
    if type(value) is bytes:
        return f"{len(value)} bytes"
    if type(value) is tuple:
        return _tuple(value)
    return brief(value)


def _tuple(values: tuple) -> str:
    parts = [brief(value) for value in values[:MOST_NAMES]]
    more = [f"… {len(values) - MOST_NAMES} more"] if len(values) > MOST_NAMES else []
    return f"({', '.join(parts + more)}{',' if len(values) == 1 else ''})"


def _code(code: CodeType) -> str:
    count = len(disassembly.instructions(code))
    caches = len(code.co_code) // 2 - count
    entries = "1 cache entry" if caches == 1 else f"{caches} cache entries"
    return f"{len(code.co_code)} bytes: {count} instructions, {entries}"


def _flags(code: CodeType) -> str:
    names = [n for bit, n in dis.COMPILER_FLAG_NAMES.items() if code.co_flags & bit]
    return f"0x{code.co_flags:x}: {', '.join(names) or 'none'}"


def _filename(code: CodeType) -> str:
    name = str.__str__(code.co_filename)
    if name.startswith("<"):
        return brief(name)
    return "a notebook cell" if "ipykernel" in name else brief(basename(name.replace("\\", "/")))


_WORDS = {"co_code": _code, "co_flags": _flags, "co_filename": _filename}


def _uses(code: CodeType) -> dict[str, str]:
    """Return field -> the first instruction of this code that reads the field by position."""
    found, code = {}, disassembly.calm(code)
    for i in disassembly.instructions(code):
        for field, opcodes in _TABLES.items():
            if field in found or i.opcode not in opcodes or i.arg is None:
                continue
            values = getattr(code, field)
            if type(i.argval) is CodeType or any(item is i.argval for item in values):
                found[field] = f"{i.offset} {i.opname} {_at(values, i.argval)}".rstrip()
    return found


def _at(values: tuple, value) -> str:
    places = [n for n, item in enumerate(values) if item is value]
    return f"takes [{places[0]}]" if places else ""
