"""What ends a call -> one sentence: of an exception, or of what is no function to call."""

import re
from functools import cached_property
from itertools import islice
from pathlib import PurePath
from types import FunctionType, ModuleType

from helpers.safety import missing_parts
from helpers.safety.arguments import by_type, is_a, kind_of, printable, word

LONGEST = 300
MOST_READ = 20_000  # characters of a message that are looked through
MOST_NAMES = 10_000  # of a module that are looked at
# JupyterLab would make a link of it, in a colour that cannot be told from the text.
LINK = re.compile(r"\s*(?:[Ss]ee|[Vv]isit)?\s*https?://\S+(?: for more information)?\.?")
PLACE = re.compile(r'\s*(File "|<stack traces unavailable>|Detected at node|in user code:)')
OP = re.compile(r"\s*(\[\[\{\{.*\}\}\]\]|\[Op:[^\]]*\]|\{\{function_node [^}]*\}\})")
BINDING = re.compile(r"(Binding inputs to tf\.function failed due to `.*?`)\. Received args.*")
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")


def said(error: BaseException) -> str:
    """Return the type and the sentence of an exception: no path, address or number that changes.

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


def instead(thing: object) -> str:
    """Return what to give in place of what is no function, as the end of a sentence; "" if unknown.

    No line of a module's own code is run, not even its `__getattr__`.
    """
    if is_a(thing, ModuleType):
        return f"; of a module, give a function{_such_as(ModuleType.__dict__['__dict__'], thing)}"
    if held := by_type({property: "fget", cached_property: "func"}, thing):
        return f"; give its {held}, and the object as its argument"
    if is_a(thing, PurePath) or (is_a(thing, str) and str.endswith(thing, ".py")):
        return "; runpy.run_path(path) runs a script, and gives its functions by name"
    return ""


def _such_as(slot, module) -> str:
    """Return the first function of a module that is for others, as an example."""
    space = slot.__get__(module)
    names = (
        name
        for name, value in islice(dict.items(space), MOST_NAMES)
        if type(value) is FunctionType and type(name) is str and name[:1] != "_"
    )
    found, home = next(names, ""), dict.get(space, "__name__")
    return f", such as {printable(home)}.{printable(found)}" if found and type(home) is str else ""
