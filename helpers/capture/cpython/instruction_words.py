"""An instruction -> its row with its place in the source, and a sentence on what it does.

Only words enter a sentence: those of real values, as they were read. Opcodes without words of their
own are told by what they take and what they put there.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from helpers.capture.cpython import disassembly
from helpers.capture.text.source import Pages
from helpers.capture.text.value import plain
from helpers.mini.versions import one_name
from helpers.model.phrase import ended
from helpers.model.stage import LANES, NOWHERE, Code, Row

MOST_NAMED = 200  # variables of one function that are shown
WRITTEN = ("break", "continue")  # jumps that somebody wrote
RETURNS = ("RETURN_VALUE", "RETURN_CONST")
_LOAD, _STORE, _OPERATE, _CALL, _JUMP = LANES


class Told(NamedTuple):
    """What is known of one moment. `put` is None where what came of it was not recorded.

    `jumped` says that the next instruction was the target; `handler`: where an exception goes.
    """

    opname: str
    argument: str
    took: tuple[str, ...]
    top: str
    put: tuple[str, ...] | None
    jumped: bool
    ending: str
    handler: str


def lane(opname: str) -> str:
    """Return which of the lanes an instruction belongs to."""
    for start, found in _LANES:
        if opname.startswith(start):
            return found
    return _OPERATE


def sentence(told: Told) -> str:
    """Return in one plain sentence what the instruction is about to do, and with which values."""
    if told.ending.startswith("raises"):
        return ended(_raising(told))
    name = one_name(told.opname)
    words = _special(name, told) or _from_table(name, told) or _by_counts(told)
    return ended(words)


def _raising(told: Told) -> str:
    error = told.ending.removeprefix("raises ")
    if not told.handler:
        return f"raises {error}; no handler here, so the exception leaves the frame"
    return f"raises {error}; the exception table says: {told.handler}"


def _special(name: str, told: Told) -> str:
    if name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
        return _call(told)
    if name == "FOR_ITER":
        if told.jumped:
            return (
                f"asks the iterator for its next value: there is none, so it goes {told.argument}"
            )
        return f"asks the iterator for its next value and puts {_all(told.put)} on the stack"
    if "JUMP_IF" in name:
        return _branch(told)
    if name == "JUMP":
        return f"jumps {told.argument}"
    if name in ("RETURN_VALUE", "RETURN_CONST"):
        value = told.ending.removeprefix("returns ")
        return f"ends the call and returns {value} to the caller"
    if name == "YIELD_VALUE":
        value = told.ending.removeprefix("yields ")
        return f"hands {value} to the caller; the frame is put aside with all that it holds"
    return ""


def _call(told: Told) -> str:
    values = [words for words in told.took if words != "NULL"]
    if not values:
        return "calls what lies below its arguments"
    callee, given = values[0], ", ".join(values[1:])
    with_ = f"with {given}" if given else "without arguments"
    result = f" and puts the result, {_all(told.put)}, on the stack" if told.put else ""
    return f"calls {callee} {with_}{result}"


def _branch(told: Told) -> str:
    value, then = told.top, "so the run goes straight on"
    if told.jumped:
        then = f"so it jumps {told.argument}"
    if "NONE" in told.opname:
        fact = "is None" if value == "None" else "is not None"
    else:
        fact = f"counts as {'true' if ('TRUE' in told.opname) == told.jumped else 'false'}"
    if "OR_POP" in told.opname and told.jumped:
        return f"looks at {value}: it {fact}, {then} and leaves it there"
    return f"takes {value} off the stack; it {fact}, {then}"


def _from_table(name: str, told: Told) -> str:
    template = _WORDS.get(name)
    if template is None:
        return ""
    took = [*told.took, "", "", ""]
    arg = told.argument.removeprefix("NULL + ").removeprefix("NULL|self + ")
    return template.format(
        *took,
        arg=arg.rstrip("=") if name == "BINARY_OP" else arg,
        took=_all(told.took),
        put=_all(told.put),
        null=_with_null(told),
        top=told.top,
    )


def _with_null(told: Told) -> str:
    return ", with an empty slot (NULL) for the call" if "NULL" in (told.put or ()) else ""


def _by_counts(told: Told) -> str:
    took = f"takes {_all(told.took)} off the stack" if told.took else ""
    put = f"puts {_all(told.put)} there" if told.put else ""
    return " and ".join(part for part in (took, put) if part) or "leaves the stack as it is"


def _all(words: tuple[str, ...] | None) -> str:
    kept = [w for w in words or () if w != "NULL"]
    if not kept:
        return "what it makes" if words is None else "nothing"
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}"


_LANES = (
    ("JUMP", _JUMP),
    ("POP_JUMP", _JUMP),
    ("FOR_ITER", _JUMP),
    ("SEND", _JUMP),
    ("LOAD_ATTR", _OPERATE),
    ("LOAD_METHOD", _OPERATE),
    ("LOAD_", _LOAD),
    ("PUSH_NULL", _LOAD),
    ("COPY", _LOAD),
    ("STORE_FAST_LOAD", _STORE),
    ("STORE_", _STORE),
    ("DELETE_", _STORE),
    ("POP_", _STORE),
    ("SWAP", _STORE),
    ("END_", _STORE),
    ("CALL", _CALL),
    ("PRECALL", _CALL),
    ("KW_NAMES", _CALL),
    ("RETURN", _CALL),
    ("YIELD", _CALL),
    ("RESUME", _CALL),
    ("RAISE", _JUMP),
    ("RERAISE", _JUMP),
)
_BUILDS = {"LIST": "list", "TUPLE": "tuple", "SET": "set", "MAP": "dict", "STRING": "text"}
_WORDS = {
    "LOAD_FAST": "puts {put}, the value of {arg}, on the stack",
    "LOAD_FAST_LOAD_FAST": "puts {put}, the values of {arg}, on the stack",
    "LOAD_FAST_AND_CLEAR": "puts the value of {arg} on the stack and unbinds the name",
    "LOAD_CONST": "puts the constant {put} on the stack",
    "LOAD_GLOBAL": "looks {arg} up (globals, then builtins) and puts {put} on the stack{null}",
    "LOAD_NAME": "looks the name {arg} up and puts {put} on the stack",
    "LOAD_DEREF": "reads the cell of {arg} and puts {put} on the stack",
    "LOAD_CLOSURE": "puts the cell of {arg} itself on the stack, to be shared",
    "LOAD_ATTR": "takes {0}, looks its attribute {arg} up and puts {put} there",
    "LOAD_METHOD": "takes {0}, looks its method {arg} up and puts {put} there",
    "LOAD_ASSERTION_ERROR": "puts the class AssertionError on the stack",
    "STORE_FAST": "takes {0} off the stack; the name {arg} refers to it from now on",
    "STORE_FAST_STORE_FAST": "takes {took} off the stack, for the names {arg}",
    "STORE_FAST_LOAD_FAST": "takes {0} off the stack for the first of {arg}; loads the second",
    "STORE_NAME": "takes {0} off the stack; the name {arg} refers to it from now on",
    "STORE_GLOBAL": "takes {0} off the stack; the global name {arg} refers to it from now on",
    "STORE_DEREF": "takes {0} off the stack and puts it into the cell of {arg}",
    "STORE_ATTR": "takes {took} off the stack: {1}.{arg} refers to {0} from now on",
    "STORE_SUBSCR": "takes {took} off the stack: item {2} of {1} is {0} from now on",
    "DELETE_FAST": "unbinds the name {arg}",
    "POP_TOP": "takes {0} off the stack; nobody wants it",
    "PUSH_NULL": "puts an empty slot (NULL) on the stack, for the call to come",
    "BINARY_OP": "takes {0} and {1}, computes {0} {arg} {1} and puts {put} there",
    "COMPARE_OP": "takes {0} and {1}, asks whether {0} {arg} {1} and puts {put} there",
    "BINARY_SUBSCR": "takes {0} and {1}, gets item {1} of {0} and puts {put} there",
    "IS_OP": "takes {0} and {1}, asks whether they are one object and puts {put} there",
    "CONTAINS_OP": "takes {0} and {1}, asks whether {0} is in {1} and puts {put} there",
    "UNARY_NEGATIVE": "takes {0} and puts its negative, {put}, there",
    "UNARY_NOT": "takes {0} and puts its opposite, {put}, there",
    "TO_BOOL": "takes {0} and puts its truth, {put}, there",
    "GET_ITER": "takes {0} and puts an iterator over it there",
    "UNPACK_SEQUENCE": "takes {0} and puts its parts there, the first on top",
    "FORMAT_VALUE": "takes {took} and puts the text {put} there",
    "LIST_APPEND": "takes {0} off the stack and appends it to the list below",
    "SET_ADD": "takes {0} off the stack and adds it to the set below",
    "MAP_ADD": "takes {took} off the stack and adds the pair to the dict below",
    "LIST_EXTEND": "takes {0} off the stack and adds its items to the list below",
    "MAKE_FUNCTION": "takes {took} and puts a new function there",
    "MAKE_CELL": "makes a cell for {arg}, which inner functions share",
    "COPY_FREE_VARS": "copies the cells that outer functions share into this frame",
    "COPY": "copies the value at place {arg} from the top: {put}",
    "SWAP": "exchanges the top of the stack and the value at place {arg} from it",
    "RETURN_GENERATOR": "makes a generator of this frame and returns it",
    "RESUME": "begins, or goes on after a yield: nothing moves",
    "PRECALL": "gets ready for the call: a bound method is taken apart, nothing else moves",
    "KW_NAMES": "notes which of the arguments are given by name: nothing moves",
    "NOP": "does nothing",
    "PUSH_EXC_INFO": "notes that {top} is being handled; what was handled before lies below it",
    "CHECK_EXC_MATCH": "takes {0} off the stack and asks whether the exception is one: {put}",
    "POP_EXCEPT": "takes {0} back: the exception is handled",
    "RERAISE": "raises the exception on top of the stack again",
    "BEFORE_WITH": "calls __enter__ of {0}; its __exit__ is kept below the result",
    "WITH_EXCEPT_START": "calls the __exit__ that was kept, with the exception; it says {put}",
    "END_FOR": "takes what the loop left there off the stack",
    "IMPORT_NAME": "imports {arg} and puts {put} there",
    "IMPORT_FROM": "looks {arg} up in the module and puts {put} on the stack",
    **{f"BUILD_{kind}": f"takes {{took}} and puts a new {word}, {{put}}, there"
       for kind, word in _BUILDS.items()},
}  # fmt: skip


class CodeRows:
    """What every step of one code object needs, looked up once. `place`: its number in the run.

    `tables` tells of a code object: `listing()` gives the offset of each instruction, its name, its
    argument in words, the offset that it jumps to, and the offset of its place in the source.
    """

    def __init__(self, tables, pages: Pages, place: int):
        self.tables, self.place, code = tables, place, tables.code
        self.function, self.named = plain(code.co_name), tables.named()[:MOST_NAMED]
        places, handlers = disassembly.positions(code), tables.handlers()
        source, above = pages.place(code)
        rows, self.lines, self.handlers = [], {}, {}
        for offset, opname, argument, target, written in tables.listing():
            position = places[written // 2]
            line, column, end, end_column = source.span(position)
            span = (above + line, column, above + end, end_column) if line else NOWHERE
            rows.append(Row(offset, opname, argument, lane(opname), span, target))
            self.lines[offset] = pages.line(code, position[0])
            self.handlers[offset] = disassembly.handler_words(handlers, offset)
        if not self.function.startswith("<"):  # a lambda and the like are no statements
            rows = own_words(rows, pages.snippet(code))
        self.rows = {row.offset: row for row in rows}

    def listed(self) -> Code:
        """Return the rows as a record."""
        depth = self.tables.code.co_stacksize
        return Code(self.function, tuple(self.rows.values()), self.named, depth)

    def origin(self, offset: int) -> str:
        """Say which instruction put a value there."""
        if offset < 0:
            return "put there by the interpreter"
        row = self.rows[offset]
        return f"from {offset} {row.opname} {row.argument}".rstrip()


def own_words(rows: Iterable[Row], snippet: Callable[[tuple], str]) -> list[Row]:
    """Return the rows of a function, without the places that they only borrow.

    The compiler gives every instruction a place. One that goes back to a loop's head, or returns
    None at the end of a function, has no words of its own; it bears those of what ran before it.
    `snippet`: the text of a place.
    """
    rows = list(rows)
    borrowed = set()
    for at, row in enumerate(rows):
        before = rows[at - 1] if at else None
        words = snippet(row.span)
        goes_on = row.opname.startswith("JUMP") and "_IF_" not in row.opname
        if goes_on and before and row.span == before.span and words not in WRITTEN:
            borrowed.add(at)
        if row.opname in RETURNS and _is_unwritten(row, before, words):
            borrowed |= {at} if row.argument else {at - 1, at}
    return [replace(row, span=NOWHERE) if at in borrowed else row for at, row in enumerate(rows)]


def _is_unwritten(row: Row, before: Row | None, words: str) -> bool:
    """Tell whether nobody wrote this return: it gives None, and stands at a statement."""
    if words.partition(" ")[0] in ("return", "None", ""):
        return False
    if row.opname == "RETURN_CONST":
        return row.argument == "None"
    gave = before is not None and (before.opname, before.argument) == ("LOAD_CONST", "None")
    return gave and before.span == row.span
