"""What TensorFlow and Keras say of an error, on one line: the cause, the hint and the user's line.

Their messages contain tracebacks (tensorflow/python/autograph/pyct/error_utils.py, and
framework/error_interpolation.py). Of these the last line of the user's own is kept. Everything else
they say is kept whole, but for numbers and addresses that are different in each run.
"""

import os
import re
import traceback

from ...safety.error_parts import traceback_of
from ...safety.users_frames import is_library
from .source import read_file_lines

FRAMEWORKS = ("tensorflow", "keras")
GENERATED = "__autograph_generated_file"
# What only TensorFlow writes in its messages.
MARKS = re.compile(r"in user code:|Graph execution error|tf\.function|AutoGraph|\[Op:|\{\{node ")
FRAME = re.compile(r'(?P<indent>\s*)File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in .*)?\s*$')
POINTER = re.compile(r"\s*[~^\s]+$")
HEADING = re.compile(
    r"in user code:$|Graph execution error:$|<stack traces unavailable>$|Traceback \(most recent"
    r"|Detected at node .* defined at \(most recent call last\)|Node: '|Original stack trace for"
    r"|The op is created at: *$|.* was defined here:$"
)
VARYING = re.compile(
    r"\s*(\[\[\{\{.*?\}\}\]\]|\[Op:__[^\]]*\]|\{\{function_node [^}]*\}\})"
    r"|\[_XlaMustCompile=[^\]]*\]|\x1b\[\d*m|, id=\d+(?=\))|(?<=\]) name: *(?=\x1b|$)"
)
LINK = re.compile(r"\s*(?:Please )?\b[Ss]ee https?://\S+?(?: for more information)?\.?(?=\s|$)")
INFERENCE = re.compile(r"__inference_(\w+?)_\d+")
BINDING = re.compile(r"(failed due to `.*?`)\. Received args: .* for signature: ", re.DOTALL)


def is_from_tensorflow(error: BaseException, message: str) -> bool:
    """Return whether TensorFlow or Keras is in the type, the words or the frames of an error."""
    package = str(type(error).__module__).partition(".")[0]
    if package in FRAMEWORKS or MARKS.search(message):
        return True
    folders = [f"{os.sep}{name}{os.sep}" for name in FRAMEWORKS]
    for frame, _line in traceback.walk_tb(traceback_of(error)):
        if any(folder in frame.f_code.co_filename for folder in folders):
            return True
    return False


def format_tensorflow_message(message: str, kind: str) -> str:
    """Return a message of TensorFlow or Keras on one line; `kind` is the name of the error's type.

    The user's line, if the message has one, follows in brackets: `(line 3 of steps.py: y = g(x))`.
    """
    message = BINDING.sub(r"\1 for signature: ", message)
    sentences = []
    place = ""
    frame = None  # the frame that the line before named, as a match of FRAME
    for line in message.split("\n"):
        next_frame = FRAME.match(line)
        if next_frame:
            frame = next_frame
            place = _format_users_place(frame) or place
        elif frame and _is_source(line, frame):
            place = _add_source(place, frame, line.strip())
        else:
            frame = None
            sentence = _strip_varying_parts(line).removeprefix(f"{kind}: ")
            if sentence:
                sentences.append(sentence)

    # At the end of a traceback, TensorFlow repeats the first sentence.
    if len(sentences) > 1 and sentences[-1] == sentences[0]:
        sentences.pop()
    text = " ".join(sentences)
    return f"{text} ({place})" if place else text


def _is_source(line: str, frame: re.Match) -> bool:
    """Return whether a line is the source that follows the line of a frame, or points into it."""
    if not frame["indent"] or not line.strip():
        return False
    indent = len(line) - len(line.lstrip())
    return indent > len(frame["indent"])


def _add_source(place: str, frame: re.Match, source: str) -> str:
    """Return the place of a frame with the source that TensorFlow shows of it.

    The place stays as it is if it is that of another frame, or if the source is only a pointer.
    """
    users_place = _format_users_place(frame)
    if not users_place or place != users_place or POINTER.fullmatch(source):
        return place
    return f"{_format_line(frame)}: {source}"


def _strip_varying_parts(line: str) -> str:
    """Return a line without what differs in each run and without links; "" for a heading."""
    text = line.strip()
    if HEADING.match(text):
        return ""
    text = VARYING.sub("", text)
    text = LINK.sub("", text)
    return INFERENCE.sub(r"\1", text).strip()


def _format_users_place(frame: re.Match) -> str:
    """Return the place of a frame in words, and its source; "" if it is not the user's."""
    path = _complete_path(frame["file"])
    if is_library(path) or GENERATED in path:
        return ""
    line_number = int(frame["line"])
    lines = read_file_lines(path)[line_number - 1 : line_number]  # none if the file is not there
    source = "".join(lines).strip()
    return f"{_format_line(frame)}: {source}" if source else _format_line(frame)


def _complete_path(file: str) -> str:
    """Return the path of a file with its first slash, which XLA leaves out."""
    has_start = file.startswith((os.sep, "<")) or ":" in file
    return file if has_start else os.sep + file


def _format_line(frame: re.Match) -> str:
    """Return the line and the file of a frame, such as `line 3 of steps.py`."""
    path = _complete_path(frame["file"])
    is_cell = "ipykernel_" in path or path == "<answer>"
    file = "its cell" if is_cell else os.path.basename(path)
    return f"line {frame['line']} of {file}"
