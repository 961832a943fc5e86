"""What torch logs of a translation -> the events in it, for a torch that cannot be watched."""

import re
from types import CodeType

from helpers.capture.torch.dynamo import text as words
from helpers.capture.torch.dynamo.events import SO_FAR, Happened, Instruction
from helpers.model.graph import Graph

_TRACED = re.compile(r"TRACE (\S+) (.*) \[(.*)\]$", re.DOTALL)
_BROKE = re.compile(
    r"Graph Break Reason:\s*(?:.*?(?:encountered|f\(x, y\)|\]):\s*)?(.*)", re.DOTALL
)


def logged(messages: list[str], code: CodeType) -> list:
    """Return the events that can be read from what torch logs: less than it lets be watched.

    The log names no function, line, graph or guard; each stack is one text.
    """
    events = []
    for message in messages:
        if found := _TRACED.match(message):
            opname, argval, stack = found.groups()
            shown = (words.clipped(words.same(stack)),) if stack else ()
            empty = Graph(SO_FAR, (), ())
            told = words.same(argval) if argval != "None" else ""
            events.append(
                Instruction(code, -1, opname, told, (None,) * 4, 0, False, shown, empty, [], 0)
            )
        elif found := _BROKE.search(message):
            kind = "given up" if "Skipping the function" in message else "break"
            events.append(Happened(kind, code, found[1]))
    return events
