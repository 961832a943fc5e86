"""An exception -> a few sentences that say what went wrong and in which line of the user's.

The sentences are the framework's own: its message, its hints and notes, and the errors that caused
the exception. A message may contain whole tracebacks. Of these, only the user's innermost line
stays, as "(line 3 of steps.py: y = g(x))". Frames of libraries, folders, links and addresses are
left out, so that the text is the same in each run.
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
MOST_CAUSES = 4  # errors that caused an error, and errors in a group
MOST_READ = 20_000  # characters of a message that are looked through
PLACE = "(line "  # how the place of a frame begins
LAST_MARKS = (".", ":", "!", "?", ",", ";")  # after these a sentence needs no semicolon

# JupyterLab would make a link of an address, in a colour that looks like the text's.
LINK = re.compile(r"\s*(?:[Ss]ee|[Vv]isit)?\s*https?://\S+(?: for more information)?\.?")
FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.*))?')
# Lines of a message that tell a reader nothing.
EMPTY_PHRASES = re.compile(
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
IMPORTANT = re.compile(  # a line that stays if a message is too long
    r"\s*(hint|note|explanation|cause|all kernels registered|registered|the matching|device=|size "
    r"mismatch|missing key|unexpected key|- |• )|.*(specialized|inferred to be|expected|received)",
    re.IGNORECASE,
)


def describe_error(error: BaseException) -> str:
    """Return the type of an exception, its message and notes, and the errors that caused it.

    For example "ValueError: bad shape. Behind it: KeyError: 'x'". If the message names a line of
    the user's program, the line is at the end, as in "(line 3 of steps.py: y = g(x))".
    """
    sentences = describe_error_without_causes(error)
    if missing_parts.describe_missing_part(error):  # the text already says which package to install
        return sentences

    for cause in _list_causes(error):
        kind = real_type_name(cause)
        message = _format_message_and_notes(cause, kind)
        if message and message.removeprefix(": ") in sentences:
            continue  # the error repeats what its cause says
        full_stop = "" if sentences.endswith((".", "!", "?")) else "."
        sentences = f"{sentences}{full_stop} Behind it: {kind}{message}"
    return printable(sentences, LONGEST)


def describe_error_without_causes(error: BaseException) -> str:
    """Return the type of an exception, its message and its notes, without its causes."""
    kind = real_type_name(error)
    # How to install a package whose absence has caused the error, or "".
    sentence = missing_parts.describe_missing_part(error)
    if sentence:
        return f"{kind}: {sentence}"
    return printable(f"{kind}{_format_message_and_notes(error, kind)}", LONGEST)


def _format_message_and_notes(error: BaseException, kind: str) -> str:
    """Return what follows the type of an error in its description, as in ": bad shape".

    `kind` is the name of the type. After the message follow the errors in an ExceptionGroup, and
    the notes. The result ends with a remark in brackets if the message cannot be read, or if a
    user's `__str__` was not called. It is "" if there is nothing to say.
    """
    parts = []  # text that is shown whole
    lines = []  # text of which lines are left out if it is too long
    try:
        message = read_message(error)[:MOST_READ]
        if is_from_tensorflow(error, message):  # its tracebacks have another form
            sentence = ADDRESS.sub("", format_tensorflow_message(message, kind))
            if sentence:
                parts.append(sentence)
        else:
            lines = _list_telling_lines(message, kind)
    except Exception as second_error:  # its own `__str__` may raise anything
        return f" (its message raised {real_type_name(second_error)})"

    members = members_of(error)  # of an ExceptionGroup
    lines += [describe_error(member) for member in members[:MOST_CAUSES]]
    if len(members) > MOST_CAUSES:
        lines.append(f"{len(members) - MOST_CAUSES:,} more in the group")
    for note in notes_of(error):
        lines += _list_telling_lines(format_note(note)[:MOST_READ], kind)
    parts += _choose_lines(lines)

    remark = f" ({NOT_RUN})" if has_users_str(error) else ""
    return f": {_join_sentences(parts)}{remark}" if parts else remark


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error that caused this one, then the error that caused that, up to MOST_CAUSES.

    The cause of an error is its `__cause__` (`raise … from`). Without one, it is its `__context__`:
    the error that was being handled when this one was raised. The context counts only if the user's
    code raised it, and if `from None` does not hide it.
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
    """Return whether the frame that raised an error runs a file of the user's; False for None.

    A library often raises and catches an error of its own before it raises the one that users see.
    Such an error explains nothing to them.
    """
    entry = None if error is None else traceback_of(error)
    if entry is None:
        return False
    while entry.tb_next is not None:  # the last entry is the frame that raised
        entry = entry.tb_next
    return _is_written_by_user(entry.tb_frame.f_code.co_filename)


def _list_telling_lines(message: str, kind: str) -> list[str]:
    """Return the lines of a message that tell something, and last the user's innermost frame.

    The message may contain tracebacks. A traceback has two lines for each frame: `File "…", line
    3`, and below it, with more indent, the source. Frames of libraries are left out. A frame of the
    user's becomes one line, such as "(line 3 of steps.py: y = g(x))". `kind` is the name of the
    error's type, which is removed if the message repeats it.
    """
    lines = []
    # Whether the previous line named a frame of the user's, or one of a library.
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

        is_after_frame = is_after_users_frame or is_after_library_frame
        if is_after_frame and line.startswith("  "):  # the source of that frame
            if is_after_users_frame and line.strip() and not EMPTY_PHRASES.match(line):
                # The previous round of the loop appended "(line 3 of steps.py)".
                place = lines[-1].removesuffix(")")
                lines[-1] = f"{place}: {line.strip()})"
        else:
            sentence = _strip_noise(line)
            if sentence and not EMPTY_PHRASES.match(sentence):
                lines.append(sentence)
        is_after_users_frame = False
        is_after_library_frame = False

    # After "in user code:", TensorFlow writes the frames before the message. The sort moves the
    # frames to the end. It is stable, so all other lines stay in their order.
    if "in user code:" in message:
        lines.sort(key=lambda line: line.startswith(PLACE))
    if lines:
        lines[0] = lines[0].removeprefix(f"{kind}: ")
    return _keep_innermost_place(lines)


def _is_written_by_user(file: str) -> bool:
    """Return whether a file is the user's: not of a library, and not generated by AutoGraph."""
    is_generated = basename(file).startswith("__autograph_generated_file")
    return not is_library(file) and not is_generated


def _format_place_of_frame(frame: re.Match) -> str:
    """Return the place of a frame, such as "(line 3 of steps.py)". `frame` is a match of FRAME."""
    file = frame["file"]
    short_file = "a cell" if CELL.search(file) else basename(file)
    return f"{PLACE}{frame['line']} of {short_file})"


def _keep_innermost_place(lines: list[str]) -> list[str]:
    """Return each line once. Of the lines with a place, only the last one stays, at the end.

    A place is a line such as "(line 3 of steps.py)". The last one is that of the innermost frame.
    """
    places = [line for line in lines if line.startswith(PLACE)]
    others = [line for line in lines if not line.startswith(PLACE)]
    return list(dict.fromkeys(others + places[-1:]))


def _strip_noise(line: str) -> str:
    """Return a line of a message without folders, addresses, links and names of graph nodes.

    The order of the replacements matters: the file of a cell is in a folder, which goes next.
    """
    line = CELL_FILE.sub("its cell", line)
    line = FOLDERS.sub("", line)
    line = OP.sub("", line).strip().lstrip("; ")
    line = ADDRESS.sub("", line)
    line = LINK.sub("", line)
    return NO_NAME.sub("", line).strip()


def _choose_lines(lines: list[str]) -> list[str]:
    """Return all lines of a message if they are few and short, else the most telling ones.

    These are the first line, the last line, and between them those that IMPORTANT matches. Each of
    them is cut at LONGEST_LINE.
    """
    if len(lines) <= MOST_LINES and sum(map(len, lines)) <= LONGEST:
        return lines
    first, *others = lines
    chosen = [first, *filter(IMPORTANT.match, others)]
    last = [] if lines[-1] in chosen else lines[-1:]  # it must not be there twice
    return [line[:LONGEST_LINE] for line in [*chosen[: MOST_LINES - 1], *last]]


def _join_sentences(parts: list[str]) -> str:
    """Return the parts of a message on one line. `parts` has at least one.

    Two parts are separated by a semicolon. A space is enough if the first of the two ends with a
    mark such as a full stop, or if the second is a place such as "(line 3 of steps.py)".
    """
    text = parts[0]
    for previous, part in itertools.pairwise(parts):
        needs_no_semicolon = previous.endswith(LAST_MARKS) or part.startswith(PLACE)
        separator = " " if needs_no_semicolon else "; "
        text += separator + part
    return text


def suggest_function_of_module(value: object) -> str:
    """Return the end of an error for a user who has passed a module in place of a function.

    It names a function of the module. Return "" if `value` is no module.
    """
    if not real_isinstance(value, ModuleType):
        return ""
    # The dict is read, because a lazy module loads its parts when an attribute is read.
    attributes = object.__getattribute__(value, "__dict__")
    for name, member in attributes.items():
        if type(member) is FunctionType and name[:1] != "_":
            example = f"{attributes.get('__name__')}.{name}"
            return f"; for a module, pass one of its functions, such as {example}"
    return "; for a module, pass one of its functions"
