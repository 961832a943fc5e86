"""A function -> what it returns when it runs in an interpreter of its own.

For what should not share a process with the notebook: a second framework, or what may end it.
"""

import re
from types import FunctionType

from helpers.capture.text.source import source_of, why_outdated
from helpers.capture.text.value import brief
from helpers.safety import missing_parts, progress
from helpers.safety.arguments import printable
from helpers.safety.children import Reply, ask, signal_name, why_not_json

LONGEST = 240  # seconds
UNSEEN = re.compile(r"NameError: name '(\w+)' is not defined\b.*")
NEEDS = "call_in_child needs a function written in Python with def"
TAKES = "call_in_child takes arguments of dicts, lists, text and numbers"


def call_in_child(fn, *args):
    """Return `fn(*args)`, run from its source in a child interpreter, in an empty folder.

    It must import what it uses; what it writes to its home (`~`) goes with that folder. Arguments
    and result travel as JSON: dicts with keys of text, lists, text, numbers, None; a tuple arrives
    as a list. What it prints, or leaves running, does not count. TypeError if there is no source
    or no JSON, RuntimeError if it does not return.
    """
    source = _source(fn)
    fault = next(filter(None, map(why_not_json, args)), "")
    if fault:
        raise TypeError(f"{TAKES}, not {fault}")
    name = fn.__code__.co_name
    request = {"source": source, "name": name, "args": args}
    with progress.doing(f"running {printable(name)} in another process"):
        reply = ask(request, LONGEST)
    return _result(reply, name, fn.__globals__)


def _source(fn) -> str:
    if type(fn) is not FunctionType:
        raise TypeError(f"{NEEDS}, not {brief(fn)}")
    if fn.__code__.co_name == "<lambda>":
        raise TypeError(f"{NEEDS}, not a lambda: give it a name with def")
    if fn.__code__.co_freevars:
        names = printable(", ".join(fn.__code__.co_freevars), 300)
        raise TypeError(
            f"{NEEDS}, and {printable(fn.__code__.co_name)} uses {names} of a function around it"
        )
    if why := why_outdated(fn.__code__):
        raise TypeError(f"call_in_child runs a function from its source, and {why}")
    if text := source_of(fn.__code__).text:
        return f"{text}\n"
    raise TypeError(f"{NEEDS}, and {printable(fn.__code__.co_name)} has no source at hand")


def _result(reply: Reply, name: str, known: dict):
    for line in reply.told:
        if "result" in line:
            return line["result"]
    if fault := reply.last("fault"):
        raise TypeError(f"{name} returned {fault}, which does not travel as JSON")
    if reply.ended.late:
        raise RuntimeError(f"{name} did not end within {LONGEST} seconds")
    if reply.ended.large:
        raise RuntimeError(f"{name} took more than half of this machine's memory")
    raised = reply.last("raised") or _ending(reply)
    if raised.startswith('File "'):  # of a SyntaxError: its place and its line come first
        raised = raised.splitlines()[-1]
    if words := missing_parts.of_line(raised):
        raise missing_parts.MissingPart(words)
    unseen = UNSEEN.fullmatch(raised)
    if unseen and unseen[1] in known:
        raised += ", for it sees no name of this notebook: import it inside, or give it as argument"
    raise RuntimeError(f"{name} failed in its own interpreter: {raised}")


def _ending(reply: Reply) -> str:
    if reply.ended.lost:
        return "it killed the process that watched it"
    if reply.ended.code < 0:
        return f"it was killed: {signal_name(-reply.ended.code)}"
    last = reply.ended.err.strip().splitlines()[-1:] if reply.ended.code == 1 else []
    return last[0] if last else f"it ended with {reply.ended.code}"
