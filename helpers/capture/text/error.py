"""An exception -> one line that says it: no path, no address, no number that changes."""

import re

from helpers.safety import missing_parts
from helpers.safety.arguments import kind_of, printable, word

LONGEST = 300
MOST_READ = 20_000  # characters of a message that are looked through
# JupyterLab would make a link of it, in a colour that cannot be told from the text.
LINK = re.compile(r"\s*(?:[Ss]ee|[Vv]isit)?\s*https?://\S+(?: for more information)?\.?")
PLACE = re.compile(r'\s*(File "|<stack traces unavailable>|Detected at node|in user code:)')
OP = re.compile(r"\s*(\[\[\{\{.*\}\}\]\]|\[Op:[^\]]*\]|\{\{function_node [^}]*\}\})")
BINDING = re.compile(r"(Binding inputs to tf\.function failed due to `.*?`)\. Received args.*")
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")


def said(error: BaseException) -> str:
    """Return the type and the sentence of an exception, even if its `str` raises.

    TensorFlow adds the place in the user's code before the sentence; that is left out. Where a
    part of the course is missing, the sentence says which, and the cure.
    """
    name = kind_of(error)
    if words := missing_parts.sentence(error):
        return f"{name}: {words}"
    try:
        line = _sentence(word(str(error), "a message")[:MOST_READ], name)
    except KeyboardInterrupt:
        raise
    except BaseException as second:  # its own `__str__` may raise anything
        return f"{name} (its message raised {kind_of(second)})"
    return f"{name}: {line}" if line else name


def _sentence(message: str, name: str) -> str:
    lines = [OP.sub("", line).strip() for line in message.split("\n") if not PLACE.match(line)]
    lines = [line for line in lines if line and line != "Graph execution error:"]
    if "in user code:" in message:  # the source lines of the trace come first
        own = [line for line in lines if line.startswith(f"{name}: ")]
        lines = own[-1:] or lines[-1:]
    lines[:1] = [BINDING.sub(r"\1", line) for line in lines[:1]]
    line = LINK.sub("", ADDRESS.sub("", lines[0])).removeprefix(f"{name}: ") if lines else ""
    return printable(line, LONGEST)
