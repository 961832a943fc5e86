"""A cell whose outputs differ -> what nbval says of it, and what it leaves out.

Of an output that came unexpectedly nbval names the kind and not the text, and of an exhibit it
compares the HTML first. What is added here, people can read.
"""

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

KINDS = re.compile(r"(Missing|Unexpected) output fields from running code: (\{.*?\})")
DIFFER = "Cell outputs differ"  # nbval's words
STORED, CAME = (
    "The first line that differs, as stored: ",
    "The first line that differs, as it came: ",
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def unexpected_heading(kind: str) -> str:
    """Return the line above the text of an output of which none is stored."""
    return f"The unexpected {kind}:"


def explain(words: str, stored: list, came: list, sanitize: Callable[[str], str]) -> str:
    """Return what nbval says of a cell with what it leaves out; unchanged where that is nothing.

    `stored` and `came` are outputs of a notebook; `sanitize` removes what may differ.
    """
    if DIFFER not in words:
        return words
    found = KINDS.search(words)
    if found and found[1] == "Unexpected":
        added = _unexpected(re.findall(r"'([^']+)'", found[2]), came)
    elif found:
        added = ()
    else:
        added = _first_difference(*(sanitize(text_of(outputs)) for outputs in (stored, came)))
    return "\n".join([words, *added])


def text_of(outputs: list) -> str:
    """Return all text that outputs show, first that of streams, without HTML and pictures."""
    streams = [output["text"] for output in outputs if output["output_type"] == "stream"]
    texts = [output["data"].get("text/plain", "") for output in outputs if "data" in output]
    return "\n".join(["".join(streams), *texts])


def _unexpected(kinds: list[str], outputs: list) -> Iterator[str]:
    for kind in sorted(kinds):
        values = [_value(output, kind) for output in outputs]
        lines = "\n".join(filter(None, values)).strip().splitlines()
        if lines and kind != "text/html":
            yield unexpected_heading(kind)
            yield from (f"  {line}" for line in lines)


def _value(output, kind: str) -> str:
    """Return the text of one kind in an output; "" where it has none."""
    if output["output_type"] == "stream":
        return output["text"] if output["name"] == kind else ""
    return str(output.get("data", {}).get(kind, output.get(kind, "")))


def _first_difference(stored: str, came: str) -> Iterator[str]:
    for before, now in zip_longest(stored.splitlines(), came.splitlines(), fillvalue=""):
        if before.split() != now.split():
            yield STORED + before.strip()
            yield CAME + now.strip()
            return
