"""What ends a call -> one sentence: an exception, or an object that is not a function."""

import re
from types import FunctionType, ModuleType

from ...safety import missing_parts
from ...safety.arguments import printable, real_isinstance, real_type_name
from .tensorflow_words import LONGEST as MOST_OF_TENSORFLOW
from .tensorflow_words import is_tensorflows, tensorflow_words

LONGEST = 300
MOST_READ = 20_000  # characters of a message that are looked through
# JupyterLab would make a link of it, in a colour that looks like the text's.
LINK = re.compile(r"\s*(?:[Ss]ee|[Vv]isit)?\s*https?://\S+(?: for more information)?\.?")
PLACE = re.compile(r'\s*(File "|<stack traces unavailable>|Detected at node|in user code:)')
OP = re.compile(r"\s*(\[\[\{\{.*\}\}\]\]|\[Op:[^\]]*\]|\{\{function_node [^}]*\}\})")
BINDING = re.compile(r"(Binding inputs to tf\.function failed due to `.*?`)\. Received args.*")
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")


def error_message(error: BaseException) -> str:
    """Return the type and the sentence of an exception: no path, address or number that changes."""
    name = real_type_name(error)
    if words := missing_parts.sentence(error):
        return f"{name}: {words}"
    try:
        message = str(error)[:MOST_READ]
        if is_tensorflows(error, message):
            words = ADDRESS.sub("", tensorflow_words(message, name))
            line = printable(words, MOST_OF_TENSORFLOW)
        else:
            line = _sentence(message, name)
    except Exception as second:  # its own `__str__` may raise anything
        return f"{name} (its message raised {real_type_name(second)})"
    return f"{name}: {line}" if line else name


def _sentence(message: str, name: str) -> str:
    lines = [OP.sub("", line).strip() for line in message.split("\n") if not PLACE.match(line)]
    lines = [line for line in lines if line and line != "Graph execution error:"]
    if "in user code:" in message:  # the source lines of the trace come first
        own = [line for line in lines if line.startswith(f"{name}: ")]
        lines = own[-1:] or lines[-1:]
    line = LINK.sub("", ADDRESS.sub("", BINDING.sub(r"\1", lines[0]))) if lines else ""
    return printable(line.removeprefix(f"{name}: "), LONGEST)


def instead(thing: object) -> str:
    """Return what to pass instead of an object that is not a function, to end a sentence."""
    if real_isinstance(thing, ModuleType):
        space = object.__getattribute__(thing, "__dict__")
        functions = (k for k, v in space.items() if type(v) is FunctionType and k[:1] != "_")
        such_as = (f", such as {space.get('__name__')}.{one}" for one in functions)
        return f"; for a module, pass one of its functions{next(such_as, '')}"
    return ""
