"""A call in CPython -> the stack that it kept before every instruction, read from its memory."""

from collections import namedtuple
from functools import lru_cache

from helpers.capture.cpython.disassembly import instructions
from helpers.capture.cpython.opcode_recorder import Moment
from helpers.capture.cpython.stack_run import record
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.study.check import exercise
from helpers.study.engine import in_order, parts_tried

MOST_STEPS = 20_000


# Before one instruction: number and name of the call, offset, plain name, the stack.
Place = namedtuple("Place", "call function offset opname stack")


def is_told(code) -> bool:
    """Return whether both sides record its frames. C code can call methods such as `__eq__`."""
    return not code.co_name.startswith("__")


def kept_by_cpython(fn, args) -> list[tuple[int, tuple[str, ...]]]:
    """Return (offset, stack) before every instruction of the first frame of `fn(*args)`."""
    return [(offset, stack) for number, _, offset, stack in _record(fn, args) if number == 1]


def plain_places(program, args) -> list[Place]:
    """Return CPython's stack before each instruction, in the form of plain instructions."""
    places, calls = [], {}
    for number, code, offset, stack in _record(program, args):
        opname, named = _plain_at(code).get(offset, ("", False))
        if opname and is_told(code):
            call = calls.setdefault(number, len(calls))
            stack = stack[:-1] if named else stack
            places.append(Place(call, code.co_name, offset, opname, stack))
    return places


def _record(fn, args) -> list[tuple]:
    """Return (number of the call, its code, offset, stack) of all functions of the module."""
    kept = []
    for moment in record(fn, args, fold=False, most=MOST_STEPS).moments:
        if type(moment) is not Moment or moment.found is None:
            continue
        tables, offset = moment.activation.tables, moment.offset
        names = {i.offset: i.opname for i in instructions(tables.code)}
        while names[offset] == "EXTENDED_ARG":
            offset += 2
        stack = tuple(words for words in moment.found[len(tables.names) :] if words != "NULL")
        told = moment.activation.number, tables.code, offset, stack
        # An instruction with a prefix is recorded at the prefix, or at both.
        if kept[-1:] != [told] or names.get(offset - 2) != "EXTENDED_ARG":
            kept.append(told)
    return kept


@lru_cache(maxsize=200)
def _plain_at(code) -> dict[int, tuple[str, bool]]:
    """Return offset -> (plain name, whether 3.13 has the keywords' names on top of the stack)."""
    steps, _ = vm.plain(code)
    named = {i.offset for i in instructions(code) if i.opname == "CALL_KW"}
    return {s.offset: (s.opname, s.offset in named) for s in steps if s.first}


@exercise(
    "Read the function from left to right. What is computed first, and where does it wait?",
    "Each operator pops its two operands and pushes one result. Results wait on the stack.",
    "The results of the first two operators are below the two operands of the third.",
)
def stack_at(guess, fn, args, offset):
    """You separated the waiting values from the operands."""
    items = in_order(guess, 100, "the guess")
    parts_tried({f"place {place}, from the bottom,": item for place, item in enumerate(items, 1)})
    kept = kept_by_cpython(fn, args)
    places = [n for n, (place, _) in enumerate(kept) if place == offset]
    if not places:
        return f"no instruction starts at offset {short_repr(offset)} in a run of {short_repr(fn)}"
    if odd := [item for item in items if type(item) is not int]:
        kind = "text" if isinstance(odd[0], str) else f"a {type(odd[0]).__name__}"
        return f"the values here are whole numbers, but {short_repr(odd[0])} is {kind}"
    stack, (_, after) = kept[places[0]][1], (*kept, (0, None))[places[0] + 1]
    told = tuple(map(short_repr, items))
    words = {
        after: "that is the stack after the instruction ran, so go back to just before it",
        stack[::-1]: "those are the right values, but the bottom comes first and the top last",
        stack[-2:]: "those two are its operands, but below them wait values that are used later",
        stack: None,
    }
    run_it = "run it in your head: push names and numbers, and let an operator pop two and push one"
    return words.get(told, run_it)
