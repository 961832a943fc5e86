"""Symbolic values and instructions of Dynamo -> short texts, such as `x` or `pops x and jumps`.

A symbolic value stands for a value of the program while Dynamo translates. It is lazy until Dynamo
needs to know more of it. The functions here do not make Dynamo look at a lazy value.
"""

import re
from types import FunctionType

from ...mini.versions import normalize_opname
from ...model.phrase import clip_text, end_sentence, format_names
from ...safety.arguments import real_type_name
from ..text.value import format_text, short_repr
from .dynamo_events import RENAMED, DynamoEvent
from .dynamo_messages import LONGEST, format_source

LONGEST_GUARDS = 40  # characters of new guards that a sentence names
MOST_ITEMS = 4  # of a symbolic list that are named

_STACK_ONLY = "changes only the symbolic stack"
_JUMPS = "pops {top} {jumps}"
_ANY_OTHER = ("Dynamo records it", _STACK_ONLY, _STACK_ONLY)

# Start of an opcode's name -> what Dynamo does for such an instruction (symbolic_convert.py). The
# first start that fits is used. Where there are three sentences, the first is for an instruction
# that added a node to the graph. The second is for one that added none. The third is for one whose
# function or method Dynamo translated as well.
_SENTENCES = {
    "LOAD_FAST": "pushes the symbolic value of {arg}",
    "LOAD_CONST": "pushes the constant {arg}, whose value Dynamo knows",
    "LOAD_GLOBAL": "looks up {arg} and pushes its symbolic value",
    "LOAD_ATTR": "pops {top} and pushes the symbolic value of its attribute {arg}",
    "STORE_FAST": "pops {top}; for Dynamo, {arg} is {top} from now on",
    "BINARY_OP": (
        "Dynamo records {second} {arg} {top}",
        "Dynamo computes {second} {arg} {top} itself: {result}",
        "Dynamo continues inside the method for {second} {arg} {top}, which returns {result}",
    ),
    "BINARY_SUBSCR": (
        "Dynamo records {second}[{top}]",
        "Dynamo looks {second}[{top}] up itself: {result}",
        "Dynamo continues inside the method for {second}[{top}], which returns {result}",
    ),
    "PRECALL": "prepares the call; the stack does not change",
    "CALL": (
        "Dynamo records the call",
        "Dynamo makes the call itself: {result}",
        "Dynamo continues inside the function, which returns {result}",
    ),
    "POP_JUMP_IF": (_JUMPS, _JUMPS, "pops {top}, and cannot know whether to jump"),
    "RETURN_VALUE": "ends the function: {top} is its result",
    "RESUME": "starts; the stack does not change",
}


def format_variable(variable) -> str:
    """Return a short text for one symbolic value, such as `x`, `[x, y]` or `NULL`.

    `variable` is of any subclass of Dynamo's `VariableTracker`.
    """
    kind = real_type_name(variable).replace("NullVariable", "NULL").removesuffix("Variable")
    try:
        return format_text(_format_fields(vars(variable)) or kind)
    except Exception:  # this torch has no such field
        return kind


def _format_fields(fields: dict) -> str:
    """Return a short text for a symbolic value from its `__dict__`; "" if nothing there names it.

    Only the `__dict__` is read, because reading an attribute of a lazy variable makes Dynamo look
    at the value and add guards.
    """
    present = {name: value for name, value in fields.items() if value is not None}

    # A LazyVariableTracker has a cache, whose `vt` is None until Dynamo has looked at the value.
    lazy_cache = present.get("_cache")
    if lazy_cache and lazy_cache.vt is not None:
        return format_variable(lazy_cache.vt)
    if "obj" in present:  # an attribute of another symbolic value
        return f"{format_variable(present['obj'])}.{fields.get('name', '?')}"
    if "proxy" in present:  # a value that is a node of the graph
        proxy = present["proxy"]
        return getattr(proxy, "node", proxy).name
    if "items" in present:
        items = map(format_variable, [*present["items"]])
        return f"[{format_names(items, MOST_ITEMS)}]"

    source = present.get("source")  # where the value comes from, such as `L['x']`
    if source:
        # `name` is a method in older releases of torch, and a property in newer ones
        name = source.name() if callable(source.name) else source.name
        text = format_source(name)
        return f"{text} (lazy)" if lazy_cache else text

    value = present.get("value", present.get("fn"))
    if type(value) is FunctionType:
        return value.__name__
    return "" if value is None else short_repr(value)


def describe_instruction(event: DynamoEvent, cause: str) -> str:
    """Return a sentence on what Dynamo did for an instruction.

    `cause` says why Dynamo cannot translate it; "" if it can.
    """
    if cause:
        return end_sentence(cause)

    added_lines = [line for line in event.node_lines if RENAMED not in line]
    renamed_lines = [line for line in event.node_lines if RENAMED in line]
    clauses = [_describe_handler(event)]
    clauses += [f"in the graph, {line}" for line in renamed_lines]
    if added_lines:
        clauses.append(f"the graph gains {' and '.join(added_lines)}")

    guards = ", ".join(event.new_guards)
    if guards:
        is_short = len(guards) <= LONGEST_GUARDS
        clauses.append(f"guards are added: {guards}" if is_short else "guards are added")
    return end_sentence(clip_text("; ".join(clauses), LONGEST))


def _describe_handler(event: DynamoEvent) -> str:
    """Return what Dynamo did with the symbolic stack, such as `pushes the symbolic value of x`."""
    # What differs between Python versions is removed, and similar opcodes share a sentence.
    opname = normalize_opname(event.opname).replace("COMPARE", "BINARY").replace("METHOD", "ATTR")
    starts = (start for start in _SENTENCES if opname.startswith(start))
    sentence = _SENTENCES.get(next(starts, ""), _ANY_OTHER)

    if type(sentence) is tuple:
        with_new_node, without_new_node, with_called_function = sentence
        has_new_node = any(" = " in line for line in event.node_lines)
        if event.entered_function:
            sentence = with_called_function
        elif has_new_node:
            sentence = with_new_node
        else:
            sentence = without_new_node

    # The stack may have fewer than two values. So it begins with two empty texts.
    stack = ["", ""]
    stack += [name.removesuffix(" (lazy)") for name in event.stack if name != "NULL"]
    return sentence.format(
        arg=re.sub(r"^NULL(\|self)? \+ ", "", event.argrepr),  # `NULL + f` means `f`
        top=stack[-1],
        second=stack[-2],
        result=event.result,
        jumps="and jumps" if event.has_jumped else "and does not jump",
    )
