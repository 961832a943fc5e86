"""A code object -> its instructions: how deep the stack is, what each takes, and does."""

import dis
from collections import namedtuple
from types import CodeType

from ...mini.versions import JUMPS, effect, ends, one_name
from ...model.code_records import Handler
from ...model.phrase import counted, ended
from ...model.stage_records import LANES, NOWHERE, Row
from ..text.source import Pages
from ..text.value import plain

RETURNS = ("RETURN_VALUE", "RETURN_CONST")  # none of them raises
_TAKES = {
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "BEFORE_WITH", "UNPACK_SEQUENCE", "UNPACK_EX",
                     "PUSH_EXC_INFO", "STORE_FAST_LOAD_FAST", "BEFORE_ASYNC_WITH"), 1),
    "LOAD_SUPER_ATTR": 3, "CHECK_EG_MATCH": 2,
}  # fmt: skip
_MAKES_ONE = ("BINARY_", "UNARY_", "COMPARE_", "IS_OP", "CONTAINS_", "BUILD_", "CALL", "LOAD_",
              "FORMAT_", "CONVERT_", "MAKE_FUNCTION", "SET_FUNCTION", "TO_BOOL", "LIST_TO_TUPLE",
              "GET_", "IMPORT_", "CHECK_", "MATCH_", "PREP_", "SEND", "END_SEND",
              "YIELD_")  # fmt: skip


class Doubt(Exception):
    """The stack of this code cannot be derived from its bytecode; the message says why."""


def instructions(code: CodeType) -> list[dis.Instruction]:
    """Return the instructions; ValueError where the bytes are none that Python could run."""
    try:
        return list(dis.get_instructions(code))
    except Exception:
        raise ValueError(f"the bytecode of {plain(code.co_name)} cannot be decoded") from None


def handlers(code: CodeType) -> tuple[Handler, ...]:
    """Return the rows of the code's exception table (3.11 and later)."""
    return tuple(Handler(*row) for row in dis._parse_exception_table(code))


def handler_words(row: Handler) -> str:
    """Say what a row of an exception table does for an exception."""
    values, lasti = counted(row.depth, "value"), ", push the offset" * row.lasti
    return f"go to {row.target}, keep {values}{lasti}"


def depths(code: CodeType) -> dict[int, int]:
    """Return offset -> stack depth before it, as `calculate_stackdepth` does (Python/compile.c)."""
    listed, found = instructions(code), {}
    after = {i.offset: (i, then) for i, then in zip(listed, [*listed[1:], None], strict=True)}
    waiting = [(0, 0), *((row.target, row.depth + 1 + row.lasti) for row in handlers(code))]
    while waiting:
        offset, depth = waiting.pop()
        if not 0 <= depth <= code.co_stacksize:
            raise Doubt(f"offset {offset} would need {depth} values")
        if found.setdefault(offset, depth) != depth:
            raise Doubt(f"two paths reach offset {offset} with different depths")
        i, then = after.pop(offset, (None, None))
        if i and i.opcode in JUMPS:
            waiting.append((i.argval, depth + effect(i, True)))
        if then and not ends(i.opname):
            waiting.append((then.offset, depth + effect(i, False)))
    return found


def taken(instruction: dis.Instruction, depth: int) -> int:
    """Return how many values on the stack it works on; what it only looks at is not counted."""
    name, change = instruction.opname, effect(instruction, False)
    count = instruction.arg if name == "SWAP" else _TAKES.get(name)
    if count is None:
        count = max(0, name.startswith(_MAKES_ONE) - change)
    return min(count, depth)


# What is known of one moment. `put` is None where its result was not recorded.
Told = namedtuple("Told", "opname argument took top put jumped ending handler")


def lane(opname: str) -> str:
    """Return which of the lanes an instruction belongs to."""
    return next((lane for lane, names in _LANES if opname.startswith(names)), LANES[2])


def sentence(told: Told) -> str:
    """Return in one plain sentence what the instruction is about to do, and with which values."""
    name = one_name(told.opname)
    at_end = " at its end" * (name == "FOR_ITER" and told.jumped)
    if told.ending.startswith("raises"):
        then = f"the exception table says: {told.handler}"
        then = then if told.handler else "no handler here, so the exception leaves the frame"
        words = f"{told.ending}; {then}"
    elif name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
        words = _call(told)
    elif "JUMP_IF" in name:
        words = _branch(told)
    else:
        words = _from_table(name + at_end, told) or _by_counts(told)
    return ended(words.removeprefix("pops nothing and "))


def _call(told: Told) -> str:
    values = [words for words in told.took if words != "NULL"]
    if not values:
        return "calls the value below its arguments"
    given = f"with {', '.join(values[1:])}" if values[1:] else "without arguments"
    result = f" and pushes the result, {_all(told.put)}" if told.put else ""
    return f"calls {values[0]} {given}{result}"


def _branch(told: Told) -> str:
    value = told.top
    then = f"so it jumps {told.argument}" if told.jumped else "so the next instruction runs"
    if "NONE" in told.opname:
        fact = "is None" if value == "None" else "is not None"
    else:
        fact = f"counts as {'true' if ('TRUE' in told.opname) == told.jumped else 'false'}"
    if "OR_POP" in told.opname and told.jumped:
        return f"looks at {value}: it {fact}, {then} and leaves it on the stack"
    return f"pops {value}; it {fact}, {then}"


def _from_table(name: str, told: Told) -> str:
    arg = told.argument.removeprefix("NULL + ").removeprefix("NULL|self + ")
    return _WORDS.get(name, "").format(
        *told.took,
        *("", "", ""),  # of what was not recorded
        arg=arg.rstrip("=") if name == "BINARY_OP" else arg,
        took=_all(told.took),
        put=_all(told.put),
        null=", and an empty slot (NULL) for the call" if "NULL" in (told.put or ()) else "",
        top=told.top,
        value=told.ending.partition(" ")[2],
    )


def _by_counts(told: Told) -> str:
    took = f"pops {_all(told.took)}" if told.took else ""
    put = f"pushes {_all(told.put)}" if told.put else ""
    return " and ".join(filter(None, (took, put))) or "leaves the stack as it is"


def _all(words: tuple[str, ...] | None) -> str:
    kept = [w for w in words or () if w != "NULL"]
    if not kept:
        return "what it makes" if words is None else "nothing"
    return kept[0] if len(kept) == 1 else f"{', '.join(kept[:-1])} and {kept[-1]}"


_LOAD, _STORE, _OPERATE, _CALL, _JUMP = LANES
_LANES = (
    (_JUMP, ("JUMP", "POP_JUMP", "FOR_ITER", "SEND", "RAISE", "RERAISE")),
    (_OPERATE, ("LOAD_ATTR", "LOAD_METHOD")),
    (_LOAD, ("LOAD_", "PUSH_NULL", "COPY")),
    (_STORE, ("STORE_", "DELETE_", "POP_", "SWAP", "END_")),
    (_CALL, ("CALL", "PRECALL", "KW_NAMES", "RETURN", "YIELD", "RESUME")),
)
_BUILDS = {"LIST": "list", "TUPLE": "tuple", "SET": "set", "MAP": "dict", "STRING": "text"}
_WORDS = {
    "FOR_ITER": "asks the iterator for its next value and pushes {put}",
    "FOR_ITER at its end": "asks the iterator for its next value; there is none, so it jumps {arg}",
    "JUMP": "jumps {arg}",
    **dict.fromkeys(RETURNS, "ends the call and returns {value} to the caller"),
    "YIELD_VALUE": "passes {value} to the caller; the frame is kept with all its values",
    "LOAD_FAST": "pushes {put}, the value of {arg}",
    "LOAD_CONST": "pushes the constant {put}",
    "LOAD_GLOBAL": "looks up {arg} (globals, then builtins) and pushes {put}{null}",
    "LOAD_DEREF": "reads the cell of {arg} and pushes {put}",
    "LOAD_ATTR": "pops {0}, looks up its attribute {arg} and pushes {put}",
    "LOAD_METHOD": "pops {0}, looks up its method {arg} and pushes {put}",
    "STORE_FAST": "pops {0}; the name {arg} refers to it from now on",
    "STORE_ATTR": "pops {took}; {1}.{arg} refers to {0} from now on",
    "STORE_SUBSCR": "pops {took}; item {2} of {1} is {0} from now on",
    "POP_TOP": "pops {0}, which is not needed",
    "PUSH_NULL": "pushes an empty slot (NULL) for the next call",
    "BINARY_OP": "pops {0} and {1}, computes {0} {arg} {1} and pushes {put}",
    "COMPARE_OP": "pops {0} and {1}, tests whether {0} {arg} {1} and pushes {put}",
    "BINARY_SUBSCR": "pops {0} and {1}, gets item {1} of {0} and pushes {put}",
    "CONTAINS_OP": "pops {0} and {1}, tests whether {0} is in {1} and pushes {put}",
    "GET_ITER": "pops {0} and pushes an iterator over it",
    "MAKE_FUNCTION": "pops {took} and pushes a new function",
    "COPY": "copies the value at place {arg} from the top: {put}",
    "SWAP": "swaps the top of the stack with the value at place {arg} from the top",
    "RETURN_GENERATOR": "makes a generator from this frame and returns it",
    "RESUME": "starts, or continues after a yield; the stack does not change",
    "PRECALL": "prepares the call: a bound method is split up, and nothing else changes",
    "KW_NAMES": "notes which arguments are passed by name; the stack does not change",
    "PUSH_EXC_INFO": "notes that {top} is being handled; the exception handled before is below it",
    "CHECK_EXC_MATCH": "pops {0} and tests whether the exception matches it: {put}",
    "POP_EXCEPT": "pops {0} and restores it; the exception is handled",
    "RERAISE": "raises the exception on top of the stack again",
    **{f"BUILD_{kind}": f"pops {{took}} and pushes a new {word}, {{put}}"
       for kind, word in _BUILDS.items()},
}  # fmt: skip


class CodeRows:
    """What every step of one code object needs, looked up once. `place`: its number in the run."""

    def __init__(self, tables, pages: Pages, place: int):
        self.tables, self.place, code = tables, place, tables.code
        self.function, self.named = plain(code.co_name), tables.named
        places = list(code.co_positions())
        source, above = pages.place(code)
        self.rows, self.lines, self.handlers = {}, {}, {}
        for offset, opname, argument, target, written in tables.listing:
            position = places[written // 2]
            line, column, end, end_column = source.span(position)
            span = (above + line, column, above + end, end_column) if line else NOWHERE
            self.rows[offset] = Row(offset, opname, argument, lane(opname), span, target)
            self.lines[offset] = pages.line(code, position[0])
            covering = (row for row in tables.handlers if row.start <= offset < row.end)
            self.handlers[offset] = next(map(handler_words, covering), "")
