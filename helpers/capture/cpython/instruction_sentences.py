"""Write a plain sentence on what an instruction is about to do, with the values on the stack.
Such as, for `BINARY_OP` with 3 and 4 on the stack: "pops 3 and 4, computes 3 + 4 and pushes 7".
"""

from typing import NamedTuple

from ...mini.versions import normalize_opname
from ...model.phrase import end_sentence
from ...model.stack_records import LANES
from .disassembly import RETURNS

_LOAD, _STORE, _OPERATE, _CALL, _JUMP = LANES
# (lane, prefixes of instruction names). A lane is one of five kinds of instructions. The first row
# decides that has a prefix of the name, so the narrower prefixes come before the wider ones.
_PREFIXES_BY_LANE = (
    (_JUMP, ("JUMP", "POP_JUMP", "FOR_ITER", "SEND", "RAISE", "RERAISE")),
    (_OPERATE, ("LOAD_ATTR", "LOAD_METHOD")),
    (_LOAD, ("LOAD_", "PUSH_NULL", "COPY")),
    (_STORE, ("STORE_", "DELETE_", "POP_", "SWAP", "END_")),
    (_CALL, ("CALL", "PRECALL", "KW_NAMES", "RETURN", "YIELD", "RESUME")),
)
_BUILDS = {"LIST": "list", "TUPLE": "tuple", "SET": "set", "MAP": "dict", "STRING": "text"}
# Name of an instruction -> its sentence. {0}, {1} and {2} stand for the values that it takes from
# the stack, the deepest first. `_fill_in` says what {arg}, {put} and the other names stand for.
_SENTENCES = {
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
    **{
        f"BUILD_{kind}": f"pops {{took}} and pushes a new {word}, {{put}}"
        for kind, word in _BUILDS.items()
    },
}


class InstructionFacts(NamedTuple):
    """What is known of one instruction that ran. Values of the program are given as text."""

    opname: str
    #: What the argument means, as text, such as a name or "to 24"; "" without an argument.
    argument: str
    #: The values that the instruction takes from the stack, the deepest first.
    taken: tuple[str, ...]
    #: The value on top of the stack before the instruction runs, "" for an empty stack.
    top: str
    #: The values that the instruction pushes, the deepest first. None if they were not recorded.
    pushed: tuple[str, ...] | None
    #: Whether the instruction is a jump, and the run continued at the target of the jump.
    jumped: bool
    #: How the instruction left its frame, such as "returns 3" or "raises ValueError()", or "".
    ending: str
    #: What the exception table does for an exception of the instruction, "" for nothing.
    handler: str


def find_lane(opname: str) -> str:
    """Return the kind of an instruction, one of `LANES`, such as load, store or jump."""
    for lane, prefixes in _PREFIXES_BY_LANE:
        if opname.startswith(prefixes):
            return lane
    return _OPERATE


def describe_instruction(facts: InstructionFacts) -> str:
    """Return in one plain sentence what the instruction is about to do, and with which values."""
    # The same name on all versions of Python: JUMP for JUMP_FORWARD and JUMP_BACKWARD, for example.
    name = normalize_opname(facts.opname)
    if facts.ending.startswith("raises"):
        sentence = _describe_raise(facts)
    elif name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
        sentence = _describe_call(facts)
    elif "JUMP_IF" in name:
        sentence = _describe_branch(facts)
    else:
        sentence = _fill_in(name, facts) or _describe_stack_change(facts)
    return end_sentence(sentence.removeprefix("pops nothing and "))


def _describe_raise(facts: InstructionFacts) -> str:
    """Return what the instruction raises, and where the exception goes."""
    if facts.handler:
        return f"{facts.ending}; the exception table says: {facts.handler}"
    return f"{facts.ending}; no handler here, so the exception leaves the frame"


def _describe_call(facts: InstructionFacts) -> str:
    """Return what is called, with which arguments, and what the call returns."""
    # A call takes a callable and its arguments. CPython pushes NULL beside a callable without self.
    values = [value for value in facts.taken if value != "NULL"]
    if not values:  # the stack was not read
        return "calls the value below its arguments"
    function, *arguments = values
    with_arguments = f"with {', '.join(arguments)}" if arguments else "without arguments"
    result = f" and pushes the result, {_join_values(facts.pushed)}" if facts.pushed else ""
    return f"calls {function} {with_arguments}{result}"


def _describe_branch(facts: InstructionFacts) -> str:
    """Return which condition a conditional jump tests, and where the run continues."""
    value = facts.top
    if "NONE" in facts.opname:  # POP_JUMP_IF_NONE, POP_JUMP_IF_NOT_NONE
        finding = "is None" if value == "None" else "is not None"
    else:
        # The text of a value does not say whether it is true, but whether the jump was taken does.
        jumps_if_true = "TRUE" in facts.opname
        is_true = jumps_if_true == facts.jumped
        finding = "counts as true" if is_true else "counts as false"

    if not facts.jumped:
        return f"pops {value}; it {finding}, so the next instruction runs"
    target = facts.argument  # such as "to 24"
    if "OR_POP" in facts.opname:  # JUMP_IF_TRUE_OR_POP pops the value only if it does not jump
        return f"looks at {value}: it {finding}, so it jumps {target} and leaves it on the stack"
    return f"pops {value}; it {finding}, so it jumps {target}"


def _fill_in(name: str, facts: InstructionFacts) -> str:
    """Return the sentence of `_SENTENCES` for an instruction, with the values filled in.

    Return "" if the table has no sentence for the instruction.
    """
    if name == "FOR_ITER" and facts.jumped:
        name = "FOR_ITER at its end"
    # `dis` writes so that the instruction also pushes NULL. The sentence says that in {null}.
    argument = facts.argument.removeprefix("NULL + ").removeprefix("NULL|self + ")
    if name == "BINARY_OP":
        argument = argument.rstrip("=")  # `+=` computes what `+` does
    pushes_null = facts.pushed is not None and "NULL" in facts.pushed
    # A sentence may name up to three values. If the stack was not read, each of them is "".
    not_recorded = ("", "", "")
    return _SENTENCES.get(name, "").format(
        *facts.taken,
        *not_recorded,
        arg=argument,
        took=_join_values(facts.taken),
        put=_join_values(facts.pushed),
        null=", and an empty slot (NULL) for the call" if pushes_null else "",
        top=facts.top,
        value=facts.ending.partition(" ")[2],  # the 3 of "returns 3"
    )


def _describe_stack_change(facts: InstructionFacts) -> str:
    """Return which values an instruction pops and pushes. The table has no sentence for it."""
    phrases = []
    if facts.taken:
        phrases.append(f"pops {_join_values(facts.taken)}")
    if facts.pushed:
        phrases.append(f"pushes {_join_values(facts.pushed)}")
    return " and ".join(phrases) or "leaves the stack as it is"


def _join_values(values: tuple[str, ...] | None) -> str:
    """Return values as text, such as "1, 2 and 3", without those that are NULL.

    `values` is None if the values were not recorded.
    """
    if values is None:
        return "what it makes"
    shown = [value for value in values if value != "NULL"]
    if not shown:
        return "nothing"
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last
