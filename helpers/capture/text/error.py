"""What ends a call -> a few sentences: an exception, or an object that is not a function.

The framework's own words are kept: the first sentence, the cause below it, the line of yours that
it names, notes, hints, and the errors behind it. Frames of libraries, links and addresses are not.
"""

import re
from os.path import basename
from types import FunctionType, ModuleType

from ...safety import missing_parts
from ...safety.arguments import printable, real_isinstance, real_type_name
from ...safety.error_parts import (
    cause_of,
    context_of,
    hides_context,
    members_of,
    notes_of,
    traceback_of,
)
from ...safety.users_frames import is_library
from .error_text import NOT_RUN, has_own_words, message_of, note_text
from .tensorflow_words import is_tensorflows, tensorflow_words

LONGEST, LONGEST_LINE = 2_000, 600
MOST_LINES, MOST_CAUSES = 16, 4
MOST_READ = 20_000  # characters of a message that are looked through
# JupyterLab would make a link of it, in a colour that looks like the text's.
LINK = re.compile(r"\s*(?:[Ss]ee|[Vv]isit)?\s*https?://\S+(?: for more information)?\.?")
FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.*))?')
NO_NEWS = re.compile(
    r"\s*(<stack traces unavailable>|Detected at node|in user code:|from user code:|[\^~]+$|User "
    r"stack:$|Graph execution error:$|The above exception|Set TORCHDYNAMO_VERBOSE|Traceback \(most"
    r"|For more (information|details))"
)
OP = re.compile(r"\s*(\[\[\{\{.*\}\}\]\]|\[Op:[^\]]*\]|\{\{function_node [^}]*\}\})")
TENSOR = re.compile(
    r"<tf\.Tensor: (shape=\([^)]*\), dtype=\w+), numpy=.*?>(?=[,)\]}\s]|$)", re.DOTALL
)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
NO_NAME = re.compile(r"\s*\bname:\s*$")  # TensorFlow's, where the op was given none
CELL = re.compile(r"ipykernel_\d+|<ipython-input")
CELL_FILE = re.compile(r"[^\s\"']*ipykernel_\d+/\d*(\.py)?")
FOLDERS = re.compile(r'(?<=File ")[^"]*[/\\](?=[^/\\"]+")')
IMPORTANT = re.compile(  # is kept where a message is too long
    r"\s*(hint|note|explanation|cause|all kernels registered|registered|the matching|device=|size "
    r"mismatch|missing key|unexpected key|- |• )|.*(specialized|inferred to be|expected|received)",
    re.IGNORECASE,
)


def error_message(error: BaseException) -> str:
    """Return the type of an exception and what it says, with its notes and the errors behind it.

    No path, address or number that changes is in it. A line of yours that the message names is at
    the end, such as `(line 3 of steps.py: y = g(x))`.
    """
    sentences = error_words(error)
    if missing_parts.sentence(error):
        return sentences
    for cause in _causes(error):
        kind = real_type_name(cause)
        words = _words(cause, kind)
        if not words or words.removeprefix(": ") not in sentences:
            full_stop = "" if sentences.endswith((".", "!", "?")) else "."
            sentences = f"{sentences}{full_stop} Behind it: {kind}{words}"
    return printable(sentences, LONGEST)


def error_words(error: BaseException) -> str:
    """Return the type of an exception, its message and its notes, without the errors behind it."""
    name = real_type_name(error)
    if words := missing_parts.sentence(error):
        return f"{name}: {words}"
    return printable(f"{name}{_words(error, name)}", LONGEST)


def _words(error: BaseException, name: str) -> str:
    """Return what follows the name of an error's type: its message and its notes."""
    whole, lines = "", []
    try:
        message = message_of(error)[:MOST_READ]
        if is_tensorflows(error, message):
            whole = ADDRESS.sub("", tensorflow_words(message, name))
        else:
            lines = _lines(message, name)
    except Exception as second:  # its own `__str__` may raise anything
        return f" (its message raised {real_type_name(second)})"
    members = members_of(error)  # of an ExceptionGroup
    lines += [error_message(member) for member in members[:MOST_CAUSES]]
    if more := len(members) - MOST_CAUSES:
        lines += [f"{more:,} more in the group"] * (more > 0)
    for note in notes_of(error):
        lines += _lines(note_text(note)[:MOST_READ], name)
    words = [*filter(None, [whole]), *_chosen(lines)]
    silent = f" ({NOT_RUN})" if has_own_words(error) else ""
    return f": {_joined(words)}{silent}" if words else silent


def _causes(error: BaseException):
    """Yield the errors behind one: its cause, or what was being handled, unless it was hidden."""
    met = {id(error)}
    for _ in range(MOST_CAUSES):
        behind = cause_of(error)
        if behind is None and not hides_context(error) and _is_users(context_of(error)):
            behind = context_of(error)
        if behind is None or id(behind) in met:
            return
        met.add(id(behind))
        error = behind
        yield error


def _is_users(error: BaseException | None) -> bool:
    """Return whether code of the user raised this, and not a library on its way."""
    trace = None if error is None else traceback_of(error)
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and _is_yours(trace.tb_frame.f_code.co_filename)


def _lines(message: str, name: str) -> list[str]:
    """Return the lines of a message that say something; a frame of yours is its place."""
    lines, after_frame = [], ""
    users = "in user code:" in message
    message = TENSOR.sub(r"tf.Tensor(\1)", COLOUR.sub("", message))
    for line in message.split("\n"):
        if frame := FRAME.match(line):
            after_frame = "yours" if _is_yours(frame["file"]) else "library"
            if after_frame == "yours":
                lines.append(_place(frame))
            continue
        if after_frame and line.startswith("  "):  # the source of that frame
            if after_frame == "yours" and line.strip() and not NO_NEWS.match(line):
                lines[-1] = f"{lines[-1][:-1]}: {line.strip()})"
            after_frame = ""
            continue
        after_frame = ""
        words = _clean(line)
        if words and not NO_NEWS.match(words):
            lines.append(words)
    if users:  # the frames come first there, and the sentence follows them
        lines.sort(key=lambda line: line.startswith(PLACE))
    lines = [lines[0].removeprefix(f"{name}: "), *lines[1:]] if lines else []
    return _innermost_place(lines)


PLACE = "(line "


def _is_yours(file: str) -> bool:
    return not (is_library(file) or basename(file).startswith("__autograph_generated_file"))


def _place(frame: re.Match) -> str:
    file = frame["file"]
    where = "a cell" if CELL.search(file) else basename(file)
    return f"{PLACE}{frame['line']} of {where})"


def _innermost_place(lines: list[str]) -> list[str]:
    """Return the lines with one place of yours, that of the innermost frame, and none twice."""
    places = [line for line in lines if line.startswith(PLACE)]
    others = [line for line in lines if not line.startswith(PLACE)]
    return list(dict.fromkeys(others + places[-1:]))


def _clean(line: str) -> str:
    line = FOLDERS.sub("", CELL_FILE.sub("its cell", line))
    words = OP.sub("", line).strip().lstrip("; ")
    return NO_NAME.sub("", LINK.sub("", ADDRESS.sub("", words))).strip()


def _chosen(lines: list[str]) -> list[str]:
    """Return the lines that fit, at least the first one, what is important, and the last."""
    if len(lines) <= MOST_LINES and sum(map(len, lines)) <= LONGEST:
        return lines
    kept = [line for at, line in enumerate(lines) if not at or IMPORTANT.match(line)]
    last = lines[-1:] if lines[-1] not in kept else []
    return [line[:LONGEST_LINE] for line in [*kept[: MOST_LINES - 1], *last]]


def _joined(lines: list[str]) -> str:
    words = lines[0]
    for before, line in zip(lines, lines[1:], strict=False):
        words += f"{_end(before, line)}{line}"
    return words


def _end(words: str, following: str = "") -> str:
    """Return what separates these words from the next ones."""
    is_free = words.endswith((".", ":", "!", "?", ",", ";")) or following.startswith(PLACE)
    return " " if is_free else "; "


def instead(thing: object) -> str:
    """Return what to pass instead of an object that is not a function, to end a sentence."""
    if real_isinstance(thing, ModuleType):
        space = object.__getattribute__(thing, "__dict__")
        functions = (k for k, v in space.items() if type(v) is FunctionType and k[:1] != "_")
        such_as = (f", such as {space.get('__name__')}.{one}" for one in functions)
        return f"; for a module, pass one of its functions{next(such_as, '')}"
    return ""
