"""Dynamo's symbolic values, sources, messages and steps -> words that are the same in every run.

The one place where addresses, uuids, ids, counters, times and folders are taken out of what Dynamo
says. Nothing here makes Dynamo look at a value that it has not looked at yet. The sentences on
instructions mirror the handlers of torch/_dynamo/symbolic_convert.py: on the symbolic stack lies
what stands for a value, and an operation on tensors is recorded, not computed.
"""

import re
from collections.abc import Sequence
from itertools import islice
from os.path import basename
from types import FunctionType

from helpers.capture.text.value import brief, plain, type_name
from helpers.mini.versions import one_name
from helpers.model import phrase
from helpers.model.phrase import ended, listed

LONGEST, LONGEST_LINE, MOST_KINDS, MOST_ITEMS = 300, 5_000, 3, 4
GLOBAL_STATE = "torch's global state"
JUMP = "Data-dependent branching"
_JUMP_WHY = "where to jump depends on a value that Dynamo does not know while it translates"
_RESUME = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
IMPORTED = re.compile(r"G\['__import_(\w+?)'\]")
_SAME = (
    (re.compile(r"__compiled_fn_\d+\w*"), "__compiled_fn"),
    (re.compile(r"__resume_at_(\d+)_\d+"), r"__resume_at_\1"),
    (re.compile(r"__builtins_dict___\d+"), "builtins"),
    (re.compile(r"[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"(?: at )?0x[0-9a-fA-F]{4,}"), ""),
    (re.compile(r"[^\s'\"`]*site-packages[/\\]"), ""),
    (re.compile(r"(?:[A-Za-z]:)?[^\s'\"`(]*[/\\]ipykernel_\d+[/\\]\d+\.py"), "<cell>"),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[\w.+ -]+[/\\])+(?=[\w.-]+\.py)"), ""),
    (re.compile(r"(?<![\w.])\d{9,}(?![\w.])"), "<id>"),
    (re.compile(r"(?<![\w.])\d+\.\d+ ?(?:s|ms|us|seconds)\b"), "<time>"),
)
_LINK = "For more details about this graph break, please visit:"


def same(text: str) -> str:
    """Return a text of Dynamo's with all that differs from run to run replaced or left out."""
    text, link, _ = text.partition(_LINK)
    lines = (text.rstrip() if link else text).split("\n")
    text = "\n".join(phrase.clipped(line, LONGEST_LINE) for line in lines)  # or it takes for ever
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    return text


def source_words(name: str) -> str:
    """Return where a value comes from as a learner writes it: `G['torch'].abs` is `torch.abs`."""
    name = IMPORTED.sub(lambda found: f"G['{found[1].replace('_dot_', '.')}']", same(name))
    name = re.sub(r"[LG]\['([\w.]+)'\]", r"\1", name)
    name = re.sub(r"\bbuiltins\['(\w+)'\]", r"\1", name)
    return plain(re.sub(r"___stack(\d+)", r"stack \1", name))


def guard_words(guard) -> str:
    """Return what a guard looks at and which kind of guard it is."""
    named = source_words(guard.name) if guard.name else GLOBAL_STATE
    return f"{named}: {guard.create_fn_name()}"


def grouped(guards) -> list[str]:
    """Return the words of guards with those that look at the same thing in one line."""
    kinds = {}
    for guard in guards:
        named, _, kind = guard.rpartition(": ")
        kinds.setdefault(named, []).append(kind)
    return [f"{named}: {_several(found)}" for named, found in kinds.items()]


def symbol(value) -> str:
    """Return the words of one symbolic value (a `VariableTracker`), whatever it is."""
    try:
        return plain(_symbol(value))
    except Exception:  # a field that this torch does not have
        return _kind(value)


def message(words: str) -> tuple[str, str]:
    """Return the cause and the explanation in a message of Dynamo's about a graph break."""
    if words.startswith("generic_jump"):
        return JUMP, _JUMP_WHY
    lines = [line.strip() for line in same(words).split("\n") if line.strip()]
    told = [line.partition(":")[2].strip() for line in lines if line.startswith("Explanation:")]
    cause = lines[0].rstrip(".") if lines else "no reason given"
    explanation = told[0] if told else ""
    return clipped(cause), clipped(explanation)


def advice(words: str) -> tuple[str, str]:
    """Return the first hint in a message about a graph break, and the address of its page."""
    told, _, page = words.partition(_LINK)
    hint = re.search(r"^ *Hint: (.+)$", same(told), re.MULTILINE)
    return clipped(hint[1]) if hint else "", "".join(page.split()[:1])


def in_file(path: str, lineno: int) -> str:
    """Return a file's name and a line of it; nothing for a cell or other text in memory."""
    name = same(path)
    return "" if name.startswith("<") else f" ({basename(name)}:{lineno})"


def resumed(name: str) -> tuple[str, int]:
    """Return the name of the function that a resume function goes on with, and its file's line.

    The line is 0 for a function that Dynamo did not make.
    """
    found = _RESUME.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


def _several(kinds: list[str]) -> str:
    if len(kinds) <= MOST_KINDS:
        return ", ".join(kinds)
    return listed(sorted(kinds, key=lambda kind: (len(kind), kind)), 2)


def clipped(words: str) -> str:
    """Return at most `LONGEST` characters."""
    return phrase.clipped(words, LONGEST)


def _symbol(value) -> str:
    fields = vars(value)
    if "_cache" in fields:  # a LazyVariableTracker: asking it for anything makes it look
        return _lazy(fields)
    for field, told in _FIELDS:
        if fields.get(field) is not None:
            return told(fields[field], fields)
    return "NULL" if type_name(value) == "NullVariable" else _kind(value)


def _lazy(fields) -> str:
    known = fields["_cache"].vt
    if known is not None:
        return _symbol(known)
    return f"{_source(fields['source'], fields)} (lazy)"


def _source(source, fields) -> str:
    name = source.name
    return source_words(name() if callable(name) else name)


def _proxy(proxy, fields) -> str:
    return getattr(proxy, "node", proxy).name


def _items(items, fields) -> str:
    if isinstance(items, dict):
        return f"dict of {len(items)}"
    parts = [symbol(item) for item in islice(items, MOST_ITEMS)]
    return f"[{', '.join(parts)}{', …' if len(items) > MOST_ITEMS else ''}]"


def _plain(value, fields) -> str:
    return value.__name__ if type(value) is FunctionType else brief(value)


def _attribute(obj, fields) -> str:
    return f"{_symbol(obj)}.{fields.get('name', '?')}"


_FIELDS = (
    ("obj", _attribute),
    ("proxy", _proxy),
    ("items", _items),
    ("source", _source),
    ("value", _plain),
    ("fn", _plain),
)


def _kind(value) -> str:
    return type_name(value).removesuffix("Variable")


# ------------------------------------------------------------------ one step of the translation

RENAMED = " gets the name "


def lane(made: Sequence[str], guarded: Sequence[str]) -> str:
    """Return the kind of step: it adds to the graph, takes a guard, or does neither."""
    return "graph" if made else "guard" if guarded else "stack"


def does(event, after, cause: str) -> str:
    """Return in a sentence what an `Instruction` of the recorder does, and what comes of it.

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


def _moves(event, after) -> str:
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


def _call(event, after, result: str) -> str:
    if any(RENAMED not in made for made in event.made):
        return "the call is not made but recorded"
    if after is not None and after.code is not event.code:
        return "Dynamo goes on inside the function that is called: its graph is the same one"
    return f"Dynamo makes this call itself, while it translates: {result}" if result else ""


def _operation(event, words: str, took: tuple[str, str], result: str) -> str:
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
