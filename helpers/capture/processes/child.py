"""A function, or source that may kill an interpreter -> what a child interpreter makes of it.

On Linux the children that need TensorFlow are forked from one process that has imported it and
done nothing else; all others are started anew. Each works in an empty folder of its own, and ends
at the limit, on Ctrl-C and with the kernel.
"""

import ast
import os
import re
from contextlib import suppress
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType

from ...model.phrase import clipped
from ...model.tables import CUTS, Transcript, Transcripts
from ...safety import PACKAGE, missing_parts, progress
from ...safety.arguments import is_exactly, real_isinstance
from ...safety.children import CAN_FORK, ChildResult, ask, ask_fork, signal_name, why_not_json
from ...safety.restoring import is_interrupted
from ..cpython.objects import names_used
from ..text.error import instead
from ..text.source import source_of, why_outdated
from ..text.value import short_repr

PREAMBLE = "import tensorflow as tf"
PRELOAD = ("triton", "tensorflow", f"{PACKAGE}.mini.eager")  # triton's LLVM before TensorFlow's
SECONDS, SECONDS_OF_A_CALL, LONGEST = 60, 240, 400
PLAIN = (bool, int, float, complex, str, bytes, type(None), dict, list, tuple)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")
HOST = re.compile(r"(registered in binary running on )\S+(?=\. )")
QUALIFIED = re.compile(r"^(?:\w+\.)+(\w+)")
FRAMES = re.compile(r'Exception originated from\s*\n|^ +File ".*\n(?: {4}.*\n)*', re.MULTILINE)
PLACE = re.compile(r"(?:[A-Za-z]:)?[\\/][^\s'\"]*[\\/](?:site-packages|ipykernel_\d+)[\\/]")
UNSEEN = re.compile(r"NameError: name '(\w+)' is not defined\b.*")


def watch_in_child(*what, title: str = "", imports: str | None = None) -> Transcripts:
    """Run functions without arguments, or source code, each in its own child interpreter."""
    if not what:
        raise TypeError("watch_in_child needs a function, or a piece of source, to run")
    made = []
    for one in what:
        label, source, shown = "", one, one
        if callable(one):
            source, name = portable(one), one.__code__.co_name
            label, source, shown = f"{name}()", f"{source}\n\n{name}()\n", ""
        elif not real_isinstance(one, str):
            given = f"{short_repr(one)}{instead(one)}"
            raise TypeError(f"a child runs a function or source, not {given}")
        made.append(transcript(label, source, shown, imports))
        if is_interrupted():
            break
    names = ", ".join(one.label for one in made if one.label)
    return Transcripts(title or f"In a child process: {names}".removesuffix(": "), tuple(made))


def transcript(label: str, source: str, shown: str, imports: str | None = None) -> Transcript:
    """Run source in a child. `shown` is what a reader sees of it."""
    reply = run_child(source, SECONDS, imports)
    # TensorFlow may put a stack before its message
    lines = [line.strip() for line in FRAMES.sub("", reply["error"]).split("\n")]
    error = QUALIFIED.sub(r"\1", plain(" ".join(filter(None, lines))))
    printed = "\n".join(map(plain, reply["printed"].splitlines()))
    return Transcript(label, shown, printed, error, reply["code"], reply["cut"], SECONDS)


def run_child(source: str, seconds: float = SECONDS, imports: str | None = None) -> dict:
    """Run source in a child; return what it `printed`, its last `error`, exit `code` and `told`.

    A code below 0 is the signal that ended it. `cut`: late or large (its memory).
    """
    if CAN_FORK and imports is None:
        reply = ask_fork(PREAMBLE, source, seconds, PRELOAD, shows=True)
        if failed := reply.last("failed"):
            if words := missing_parts.of_line(failed):
                raise missing_parts.MissingPart(words)
            raise RuntimeError(f"no child can be forked: {failed}")
    else:
        whole = f"{PREAMBLE if imports is None else imports}\n{source}"
        env = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONFAULTHANDLER": ""}
        reply = ask({"source": whole}, seconds, env, shows=True)
    cut = next((why for why in CUTS if getattr(reply.ended, why, False)), "")
    found = {"printed": reply.ended.out, "error": reply.last("error", ""), "cut": cut}
    return found | {"code": reply.ended.code, "told": reply.told}


def plain(words: str) -> str:
    """Return a line without addresses, the machine's name and places on its disk."""
    words = ADDRESS.sub("", words.rstrip().replace("\t", "    "))
    return clipped(PLACE.sub("", HOST.sub(r"\1this machine", words)), LONGEST)


def call_in_child(fn, /, *args):
    """Run `fn(*args)` from its source in a child interpreter, and return the result."""
    _require_def(fn)
    source, name = _own_source(fn, TypeError), fn.__code__.co_name
    if fn.__code__.co_freevars:
        free = ", ".join(fn.__code__.co_freevars)
        raise TypeError(f"{name} uses {free} of an enclosing function, which is not sent along")
    if fault := next(filter(None, map(why_not_json, args)), ""):
        accepted = "arguments of dicts, lists, text and numbers"
        raise TypeError(f"call_in_child accepts {accepted}, not {fault}")
    with progress.doing(f"running {name}"):
        reply = ask({"source": f"{source}\n", "name": name, "args": args}, SECONDS_OF_A_CALL)
    return _read_result(reply, name, fn.__globals__)


def _read_result(reply: ChildResult, name: str, known: dict):
    for line in reply.told:
        if "result" in line:
            return line["result"]
    if fault := reply.last("fault"):
        raise TypeError(f"{name} returned {fault}, which cannot be sent as JSON")
    if reply.ended.late:
        raise RuntimeError(f"{name} did not end within {SECONDS_OF_A_CALL} seconds")
    if reply.ended.large:
        raise RuntimeError(f"{name} took more than half of this machine's memory")
    raised = reply.last("error") or f"it ended with {reply.ended.code}"
    if reply.ended.code < 0:
        raised = f"it was killed: {signal_name(-reply.ended.code)}"
    raised = raised.splitlines()[-1] if raised.startswith('File "') else raised  # a SyntaxError
    if words := missing_parts.of_line(raised):
        raise missing_parts.MissingPart(words)
    if (unseen := UNSEEN.fullmatch(raised)) and unseen[1] in known:
        raised += ", because this notebook's names are not there: import it inside, or pass it in"
    raise RuntimeError(f"{name} failed in its own interpreter: {raised}")


# ------------------------------------------------------------------ a function as source


def portable(fn) -> str:
    """Return source that defines a function elsewhere, with what it uses of the globals around it.

    Functions of the same place go along, imports and plain values; the rest is missing there.
    """
    lines: dict[str, str] = {}
    _require_def(fn)
    _collect(fn.__code__.co_name, fn, lines)
    return "\n".join(lines.values())


def _require_def(fn) -> None:
    if not real_isinstance(fn, FunctionType) or fn.__code__.co_name == "<lambda>":
        raise TypeError(f"{short_repr(fn)} is not a function made by def")


def _own_source(fn, error: type[Exception] = ValueError) -> str:
    text, why = source_of(fn.__code__).text, why_outdated(fn.__code__)
    if why or not text:
        why = why or f"the source of {fn.__code__.co_name} is not available"
        raise error(f"a function is run from its source, and {why}")
    return text


def _collect(name: str, fn: FunctionType, lines: dict[str, str]) -> None:
    own, text = fn.__code__.co_name, _own_source(fn)
    lines[name] = f"{text}\n" + (f"\n{name} = {own}" if own.isidentifier() and own != name else "")
    for used in sorted(names_used(fn.__code__) & fn.__globals__.keys() - lines.keys()):
        value = fn.__globals__[used]
        if real_isinstance(value, FunctionType) and value.__module__ == fn.__module__:
            if used not in lines:
                _collect(used, value, lines)
        elif line := _value_line(used, value, fn.__module__):
            lines[used] = line


def _value_line(name: str, value: object, here: str) -> str:
    """Return the line that gives a name its value elsewhere; nothing where there is none."""
    if real_isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if is_exactly(value, *PLAIN) and not name.startswith("__"):
        with suppress(ValueError, SyntaxError, RecursionError):
            if ast.literal_eval(repr(value)) == value:
                return f"{name} = {value!r}"
    kinds = type, FunctionType, BuiltinFunctionType, type(cache(id))  # `cache` keeps the names
    if real_isinstance(value, *kinds):
        module, own = value.__module__, value.__qualname__
        if module and module != here and own.isidentifier():
            return f"from {module} import {own} as {name}"
    return ""
