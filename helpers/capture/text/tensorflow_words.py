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
GENERATED = "__autograph_generated_file"  # is in the names of the files that AutoGraph writes
# What only TensorFlow writes in its messages.
MARKS = re.compile(r"in user code:|Graph execution error|tf\.function|AutoGraph|\[Op:|\{\{node ")
FRAME = re.compile(r'(?P<indent>\s*)File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in .*)?\s*$')
POINTER = re.compile(r"\s*[~^\s]+$")  # points into the source line above it
# Lines that announce a traceback, and say nothing else.
HEADING = re.compile(
    r"in user code:$|Graph execution error:$|<stack traces unavailable>$|Traceback \(most recent"
    r"|Detected at node .* defined at \(most recent call last\)|Node: '|Original stack trace for"
    r"|The op is created at: *$|.* was defined here:$"
)
# Names and numbers that TensorFlow counts up, so that they differ in each run.
VARYING = re.compile(
    r"\s*(\[\[\{\{.*?\}\}\]\]|\[Op:__[^\]]*\]|\{\{function_node [^}]*\}\})"
    r"|\[_XlaMustCompile=[^\]]*\]|\x1b\[\d*m|, id=\d+(?=\))|(?<=\]) name: *(?=\x1b|$)"
)
LINK = re.compile(r"\s*(?:Please )?\b[Ss]ee https?://\S+?(?: for more information)?\.?(?=\s|$)")
# The name of a traced function, of which only the part in brackets is the user's.
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

    The message may contain tracebacks. Of their frames only the user's last one is kept. It follows
    the sentences in brackets: `(line 3 of steps.py: y = g(x))`.
    """
    # A call that does not fit a signature: the values of the arguments are left out.
    message = BINDING.sub(r"\1 for signature: ", message)
    sentences = []
    users_place = ""
    frame = None  # the frame whose source lines may follow, as a match of FRAME
    for line in message.split("\n"):
        next_frame = FRAME.match(line)
        if next_frame:
            frame = next_frame
            # "" for a frame of a library: then the user's frame above it stays the last one.
            users_place = _format_users_place(frame) or users_place
        elif frame and _is_source(line, frame):
            users_place = _add_source(users_place, frame, line.strip())
        else:  # a sentence, which ends the traceback
            frame = None
            sentence = _strip_varying_parts(line).removeprefix(f"{kind}: ")
            if sentence:
                sentences.append(sentence)

    # At the end of a traceback, TensorFlow repeats the first sentence.
    if len(sentences) > 1 and sentences[-1] == sentences[0]:
        sentences.pop()
    text = " ".join(sentences)
    return f"{text} ({users_place})" if users_place else text


def _is_source(line: str, frame: re.Match) -> bool:
    """Return whether a line belongs to the frame above it: its source, or a row of `^` and `~`.

    Such a line has more indent than the `File "…"` line of the frame. Where that line has no
    indent, the next one cannot be told from a sentence.
    """
    if not frame["indent"] or not line.strip():
        return False
    indent = len(line) - len(line.lstrip())
    return indent > len(frame["indent"])


def _add_source(place: str, frame: re.Match, source: str) -> str:
    """Return the user's last place with the source line that the message shows for `frame`.

    `place` is returned as it is in three cases: `frame` is a library's, `place` is that of another
    frame or has this source already, or `source` is only a row of `^` and `~`.
    """
    place_of_frame = _format_users_place(frame)
    if not place_of_frame or place != place_of_frame or POINTER.fullmatch(source):
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
    """Return a frame of the user's as `line 3 of steps.py: y = g(x)`; "" for any other frame.

    The source is left out where the file is not there.
    """
    path = _complete_path(frame["file"])
    if is_library(path) or GENERATED in path:
        return ""
    line_number = int(frame["line"])
    lines = read_file_lines(path)[line_number - 1 : line_number]  # one line or none
    source = "".join(lines).strip()
    return f"{_format_line(frame)}: {source}" if source else _format_line(frame)


def _complete_path(file: str) -> str:
    """Return the path of a file with its first slash, which XLA leaves out.

    A name such as `<answer>`, and a path with a colon such as `C:/…`, never had one.
    """
    has_start = file.startswith((os.sep, "<")) or ":" in file
    return file if has_start else os.sep + file


def _format_line(frame: re.Match) -> str:
    """Return the line and the file of a frame, such as `line 3 of steps.py`."""
    path = _complete_path(frame["file"])
    is_cell = "ipykernel_" in path or path == "<answer>"
    file = "its cell" if is_cell else os.path.basename(path)
    return f"line {frame['line']} of {file}"
