"""What ends a call -> a few sentences: an exception, or an object that is not a function.

The framework's own words are kept: the first sentence, the cause below it, the line of yours that
it names, notes, hints, and the errors behind it. Frames of libraries, links and addresses are not.
"""

import itertools
import re
from collections.abc import Iterator
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
from .error_text import NOT_RUN, format_note, has_users_str, read_message
from .tensorflow_words import format_tensorflow_message, is_from_tensorflow

LONGEST = 2_000  # characters of a message
LONGEST_LINE = 600  # characters of a line in a message that is too long
MOST_LINES = 16
MOST_CAUSES = 4  # errors behind an error, and errors in a group
MOST_READ = 20_000  # characters of a message that are looked through
PLACE = "(line "  # how the place of a frame begins
LAST_MARKS = (".", ":", "!", "?", ",", ";")  # after these a sentence needs no semicolon

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


def describe_error(error: BaseException) -> str:
    """Return the type of an exception and what it says, with its notes and the errors behind it.

    It has no folder, address or number that differs in each run. If the message names a line of the
    user's, that is at the end, such as `(line 3 of steps.py: y = g(x))`.
    """
    sentences = describe_error_alone(error)
    if missing_parts.sentence(error):  # a sentence of ours, which needs no causes
        return sentences

    for cause in _list_causes(error):
        kind = real_type_name(cause)
        message = _format_message_and_notes(cause, kind)
        if message and message.removeprefix(": ") in sentences:
            continue  # the error repeats what its cause says
        full_stop = "" if sentences.endswith((".", "!", "?")) else "."
        sentences = f"{sentences}{full_stop} Behind it: {kind}{message}"
    return printable(sentences, LONGEST)


def describe_error_alone(error: BaseException) -> str:
    """Return the type of an exception, its message and its notes, without the errors behind it."""
    kind = real_type_name(error)
    sentence = missing_parts.sentence(error)  # if a part of the installation is missing
    if sentence:
        return f"{kind}: {sentence}"
    return printable(f"{kind}{_format_message_and_notes(error, kind)}", LONGEST)


def _format_message_and_notes(error: BaseException, kind: str) -> str:
    """Return what follows the name of an error's type: `: ` and its message, or "" for none.

    `kind` is the name of the type. The errors in a group and the notes follow the message. Where
    the message cannot be read, or a method of the user's was not run for it, brackets say so.
    """
    parts = []  # is shown whole
    lines = []  # is shortened where it is too long
    try:
        message = read_message(error)[:MOST_READ]
        if is_from_tensorflow(error, message):
            sentence = ADDRESS.sub("", format_tensorflow_message(message, kind))
            if sentence:
                parts.append(sentence)
        else:
            lines = _list_lines_with_news(message, kind)
    except Exception as second_error:  # its own `__str__` may raise anything
        return f" (its message raised {real_type_name(second_error)})"

    members = members_of(error)  # of an ExceptionGroup
    lines += [describe_error(member) for member in members[:MOST_CAUSES]]
    if len(members) > MOST_CAUSES:
        lines.append(f"{len(members) - MOST_CAUSES:,} more in the group")
    for note in notes_of(error):
        lines += _list_lines_with_news(format_note(note)[:MOST_READ], kind)
    parts += _choose_lines(lines)

    not_run = f" ({NOT_RUN})" if has_users_str(error) else ""
    return f": {_join_sentences(parts)}{not_run}" if parts else not_run


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error behind this one, the error behind that, and so on, up to MOST_CAUSES.

    The error behind another is its cause (`raise … from`). Without a cause, it is the error that
    was being handled, if the user's code raised that one and `from None` does not hide it.
    """
    visited = {id(error)}  # a program may have put errors in a circle
    for _ in range(MOST_CAUSES):
        cause = cause_of(error)
        if cause is None and not hides_context(error):
            context = context_of(error)
            if _is_raised_by_user(context):
                cause = context
        if cause is None or id(cause) in visited:
            return
        visited.add(id(cause))
        error = cause
        yield error


def _is_raised_by_user(error: BaseException | None) -> bool:
    """Return whether the frame that raised this error is the user's; False for None.

    A library often raises and catches an error of its own on the way to the one that it shows.
    """
    trace = None if error is None else traceback_of(error)
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    return _is_written_by_user(trace.tb_frame.f_code.co_filename)


def _list_lines_with_news(message: str, kind: str) -> list[str]:
    """Return the lines of a message that say something, and the user's innermost frame in it.

    The message may contain tracebacks: a `File "…"` line for each frame, and below it, with more
    indent, a line of source. Frames of libraries are left out. The user's frame becomes one line,
    such as `(line 3 of steps.py: y = g(x))`.
    `kind` is the name of the error's type, which a framework may repeat before the message.
    """
    lines = []
    # Which frame the line before named; both are False if it named none.
    is_after_users_frame = False
    is_after_library_frame = False
    text = TENSOR.sub(r"tf.Tensor(\1)", COLOUR.sub("", message))
    for line in text.split("\n"):
        frame = FRAME.match(line)
        if frame is not None:
            is_after_users_frame = _is_written_by_user(frame["file"])
            is_after_library_frame = not is_after_users_frame
            if is_after_users_frame:
                lines.append(_format_place_of_frame(frame))
            continue

        is_source_of_frame = (is_after_users_frame or is_after_library_frame) and line.startswith(
            "  "
        )
        if is_source_of_frame:
            if is_after_users_frame and line.strip() and not NO_NEWS.match(line):
                place = lines[-1].removesuffix(")")  # the line of the frame was appended above
                lines[-1] = f"{place}: {line.strip()})"
        else:
            sentence = _strip_noise(line)
            if sentence and not NO_NEWS.match(sentence):
                lines.append(sentence)
        is_after_users_frame = False
        is_after_library_frame = False

    # TensorFlow's "in user code:" has the frames first. A sort moves the places to the end, and
    # keeps the order of all other lines.
    if "in user code:" in message:
        lines.sort(key=lambda line: line.startswith(PLACE))
    if lines:
        lines[0] = lines[0].removeprefix(f"{kind}: ")
    return _keep_innermost_place(lines)


def _is_written_by_user(file: str) -> bool:
    """Return whether a file is the user's: no library's, and not written by AutoGraph."""
    is_generated = basename(file).startswith("__autograph_generated_file")
    return not is_library(file) and not is_generated


def _format_place_of_frame(frame: re.Match) -> str:
    """Return the place of a frame, such as `(line 3 of steps.py)`; `frame` is a match of FRAME."""
    file = frame["file"]
    short_file = "a cell" if CELL.search(file) else basename(file)
    return f"{PLACE}{frame['line']} of {short_file})"


def _keep_innermost_place(lines: list[str]) -> list[str]:
    """Return the lines, each once, and of the user's places only the last, at the end.

    The last one is that of the innermost frame.
    """
    places = [line for line in lines if line.startswith(PLACE)]
    others = [line for line in lines if not line.startswith(PLACE)]
    return list(dict.fromkeys(others + places[-1:]))


def _strip_noise(line: str) -> str:
    """Return a line of a message without folders, addresses, links and names of graph nodes."""
    line = CELL_FILE.sub("its cell", line)
    line = FOLDERS.sub("", line)
    line = OP.sub("", line).strip().lstrip("; ")
    line = ADDRESS.sub("", line)
    line = LINK.sub("", line)
    return NO_NAME.sub("", line).strip()


def _choose_lines(lines: list[str]) -> list[str]:
    """Return all lines if they are few and short; else the first, the important and the last.

    Important are the lines that IMPORTANT matches. Each chosen line is cut at LONGEST_LINE.
    """
    if len(lines) <= MOST_LINES and sum(map(len, lines)) <= LONGEST:
        return lines
    first, *others = lines
    chosen = [first, *filter(IMPORTANT.match, others)]
    last = [] if lines[-1] in chosen else lines[-1:]
    return [line[:LONGEST_LINE] for line in [*chosen[: MOST_LINES - 1], *last]]


def _join_sentences(parts: list[str]) -> str:
    """Return the parts of a message on one line; `parts` has at least one.

    A semicolon separates two parts. A space does where the first part ends with a mark such as a
    full stop, or where the second is a place such as `(line 3 of steps.py)`.
    """
    text = parts[0]
    for previous, part in itertools.pairwise(parts):
        needs_no_semicolon = previous.endswith(LAST_MARKS) or part.startswith(PLACE)
        separator = " " if needs_no_semicolon else "; "
        text += separator + part
    return text


def suggest_function_of_module(value: object) -> str:
    """Return what to pass instead of a module, to end a sentence; "" for any other object."""
    if not real_isinstance(value, ModuleType):
        return ""
    # Read from the dict, because a lazy module would load its parts when it is asked.
    space = object.__getattribute__(value, "__dict__")
    for name, member in space.items():
        if type(member) is FunctionType and name[:1] != "_":
            example = f"{space.get('__name__')}.{name}"
            return f"; for a module, pass one of its functions, such as {example}"
    return "; for a module, pass one of its functions"
