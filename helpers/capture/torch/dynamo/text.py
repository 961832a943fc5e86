"""Dynamo's symbolic values, sources and messages -> words that are the same in every run.

The one place where addresses, uuids, ids, counters, times and folders are taken out of what Dynamo
says. Nothing here makes Dynamo look at a value that it has not looked at yet.
"""

import re
from itertools import islice
from os.path import basename
from types import FunctionType

from helpers.capture.text.value import brief, plain, type_name
from helpers.model import phrase
from helpers.model.phrase import listed

LONGEST, LONGEST_LINE = 300, 5_000
MOST_KINDS, MOST_ITEMS = 3, 4
LAZY = "lazy"
GLOBAL_STATE = "torch's global state"
JUMP = "Data-dependent branching"
_JUMP_WHY = "where to jump depends on a value that Dynamo does not know while it translates"
_RESUME = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
_IMPORTED = re.compile(r"G\['__import_(\w+?)'\]")
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
    """Return a text of Dynamo's with all that differs from run to run replaced or left out.

    Of a line with a learner's words in it, only so much is read that the patterns come to an end.
    """
    text, link, _ = text.partition(_LINK)
    text = "\n".join(map(_cut, (text.rstrip() if link else text).split("\n")))
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    return text


def _cut(line: str) -> str:
    more = len(line) - LONGEST_LINE
    return line if more <= 0 else f"{line[:LONGEST_LINE]}… ({more:,} more characters)"


def source_words(name: str) -> str:
    """Return where a value comes from as a learner writes it: `G['torch'].abs` is `torch.abs`."""
    name = _IMPORTED.sub(lambda found: f"G['{found[1].replace('_dot_', '.')}']", same(name))
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
    return f"{_source(fields['source'], fields)} ({LAZY})"


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
