"""One instruction that Dynamo translates, with what it added -> its lane, and a sentence on it.

Mirrors the handlers of torch/_dynamo/symbolic_convert.py: on the symbolic stack lies what stands
for a value, and an operation on tensors is recorded, not computed.
"""

from collections.abc import Sequence

from helpers.capture.torch.dynamo.events import Instruction
from helpers.capture.torch.dynamo.text import clipped
from helpers.mini.versions import one_name
from helpers.model.phrase import ended

RENAMED = " gets the name "


def lane(made: Sequence[str], guarded: Sequence[str]) -> str:
    """Return the kind of step: it adds to the graph, takes a guard, or does neither."""
    return "graph" if made else "guard" if guarded else "stack"


def does(event: Instruction, after: Instruction | None, cause: str) -> str:
    """Return in a sentence what the instruction does, and what comes of it.

    `after`: the instruction translated next, if nothing lay between; `cause`: why this one is not
    translated.
    """
    if cause:
        return ended(cause)
    parts = [_moves(event, after)]
    recorded = [made for made in event.made if RENAMED not in made]
    if recorded:
        parts.append(f"the graph grows by {clipped('; '.join(recorded))}")
    parts += [f"in the graph, {made}" for made in event.made if RENAMED in made]
    if event.guarded:
        more = f", and {len(event.guarded) - 1} more" if len(event.guarded) > 1 else ""
        parts.append(f"takes a guard: {clipped(event.guarded[0])}{more}")
    return ended("; ".join(part for part in parts if part))


def _moves(event: Instruction, after: Instruction | None) -> str:
    name = one_name(event.opname)
    second, top = ("", "", *_full(event.stack))[-2:]
    here = after if after is not None and after.code is event.code else None
    result = ("", *_full(here.stack))[-1] if here else ""
    facts = {"arg": event.argrepr.removeprefix("NULL + ").removeprefix("NULL|self + ")}
    facts |= {"top": top, "second": second, "result": result}
    lazy = ": not looked at yet" if result.endswith("(lazy)") and name.startswith("LOAD_") else ""
    for start, template in _WORDS.items():
        if name.startswith(start):
            return template.format(**facts).removesuffix(", ") + lazy
    if name.startswith("CALL"):
        return _call(event, after, result)
    if name == "FOR_ITER":
        over = here is not None and len(here.stack) <= len(event.stack)
        return (
            f"there is no next value: the loop is over, and Dynamo goes {event.argrepr}"
            if over
            else f"the next value is {result}: Dynamo translates the loop's body for it"
        )
    if "JUMP_IF" in name:
        return f"takes {top} off the stack and goes the way that it decides, while it translates"
    if name in ("BINARY_OP", "COMPARE_OP", "BINARY_SUBSCR"):
        return _operation(event, f"{second} {event.argrepr} {top}", (second, top), result)
    return "" if event.made or event.guarded else "works on the symbolic stack alone"


def _full(stack: Sequence[str]) -> tuple[str, ...]:
    return tuple(words for words in stack if words != "NULL")


def _call(event: Instruction, after: Instruction | None, result: str) -> str:
    if any(RENAMED not in made for made in event.made):
        return "the call is not made but recorded"
    if after is not None and after.code is not event.code:
        return "Dynamo goes on inside the function that is called: its graph is the same one"
    return f"Dynamo makes this call itself, while it translates: {result}" if result else ""


def _operation(event: Instruction, words: str, took: tuple[str, str], result: str) -> str:
    if event.opname == "BINARY_SUBSCR":
        words = "item {1} of {0}".format(*took)
    if any(RENAMED not in made for made in event.made):
        return f"{words} is not computed but recorded"
    return f"Dynamo works {words} out itself: {result}" if result else f"takes {words}"


# start of an opcode's name -> what its handler does; the first that fits
_WORDS = {
    "LOAD_FAST_AND_CLEAR": "puts what stands for {arg} on the stack and unbinds the name",
    "LOAD_FAST": "puts what stands for {arg} on the stack, {result}",
    "LOAD_CONST": "puts the constant {arg} on the stack: Dynamo knows its value",
    "LOAD_GLOBAL": "looks {arg} up and puts what stands for it on the stack, {result}",
    "LOAD_NAME": "looks {arg} up and puts what stands for it on the stack, {result}",
    "LOAD_DEREF": "reads the cell of {arg} and puts what stands for its value there, {result}",
    "LOAD_CLOSURE": "puts what stands for the cell of {arg} on the stack",
    "LOAD_ATTR": "takes {top} and puts what stands for its attribute {arg} there, {result}",
    "LOAD_METHOD": "takes {top} and puts what stands for its attribute {arg} there, {result}",
    "STORE_FAST_": "takes {top} off the stack; the names {arg} are tracked on",
    "STORE_ATTR": "notes that {top}.{arg} changes; the change is made after the graph has run",
    "STORE_FAST": "takes {top} off the stack: for Dynamo, {arg} is {top} from now on",
    "STORE_DEREF": "takes {top} off the stack: for Dynamo, the cell of {arg} holds {top}",
    "POP_TOP": "takes {top} off the stack; nobody wants it",
    "PUSH_NULL": "puts an empty slot (NULL) on the stack, for the call to come",
    "GET_ITER": "takes {top} and puts an iterator over it there",
    "JUMP": "goes {arg}",
    "RETURN_VALUE": "ends the function: {top} is its result",
    "RETURN_CONST": "ends the function: {arg} is its result",
    "COPY_FREE_VARS": "copies the cells that outer functions share into this frame",
    "RESUME": "begins: nothing moves",
    "PRECALL": "gets ready for the call: nothing moves",
    "KW_NAMES": "notes which of the arguments are given by name: nothing moves",
    "NOP": "does nothing",
    "BUILD_": "takes its items off the stack and puts {result} there; the graph does not see it",
}
