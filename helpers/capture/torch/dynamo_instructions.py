"""A symbolic value, or an instruction that Dynamo translated -> a few words, or a sentence.

Nothing here makes Dynamo look at a value that it has not looked at yet.
"""

import re
from types import FunctionType

from ...mini.versions import one_name
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

# Start of an opcode's name -> what its handler in symbolic_convert.py does; the first that fits is
# used. Three sentences: the instruction added a node to the graph, it added none, or Dynamo
# continued inside another function before it was done.
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
    """Return a few words for one symbolic value, a `VariableTracker` of any class."""
    kind = real_type_name(variable).replace("NullVariable", "NULL").removesuffix("Variable")
    try:
        return format_text(_format_fields(vars(variable)) or kind)
    except Exception:  # this torch has no such field
        return kind


def _format_fields(fields: dict) -> str:
    """Return the words for a symbolic value from its attributes; "" where none of them says it.

    Only the `__dict__` is read, because asking a lazy variable for an attribute makes Dynamo look
    at the value and add guards.
    """
    present = {name: value for name, value in fields.items() if value is not None}

    lazy_cache = present.get("_cache")  # of a LazyVariableTracker
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

    source = present.get("source")
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
    """Return what an instruction does as a sentence; `cause`: why Dynamo cannot translate it."""
    if cause:
        return end_sentence(cause)

    added = [line for line in event.made if RENAMED not in line]
    renamed = [line for line in event.made if RENAMED in line]
    parts = [_describe_handler(event)]
    parts += [f"in the graph, {line}" for line in renamed]
    if added:
        parts.append(f"the graph gains {' and '.join(added)}")

    guards = ", ".join(event.guarded)
    if guards:
        is_short = len(guards) <= LONGEST_GUARDS
        parts.append(f"guards are added: {guards}" if is_short else "guards are added")
    return end_sentence(clip_text("; ".join(parts), LONGEST))


def _describe_handler(event: DynamoEvent) -> str:
    """Return what the handler of an instruction did with the symbolic stack."""
    opname = one_name(event.opname).replace("COMPARE", "BINARY").replace("METHOD", "ATTR")
    starts = (start for start in _SENTENCES if opname.startswith(start))
    sentence = _SENTENCES.get(next(starts, ""), _ANY_OTHER)

    if type(sentence) is tuple:
        recorded, computed, entered = sentence
        has_new_node = any(" = " in line for line in event.made)
        if event.entered:
            sentence = entered
        elif has_new_node:
            sentence = recorded
        else:
            sentence = computed

    # two empty names below, because the stack may have fewer than two values
    stack = ["", ""]
    stack += [name.removesuffix(" (lazy)") for name in event.stack if name != "NULL"]
    return sentence.format(
        arg=re.sub(r"^NULL(\|self)? \+ ", "", event.argrepr),
        top=stack[-1],
        second=stack[-2],
        result=event.result,
        jumps="and jumps" if event.jumped else "and does not jump",
    )
