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
from .source import file_lines

FRAMEWORKS = ("tensorflow", "keras")
MARKS = re.compile(r"in user code:|Graph execution error|tf\.function|AutoGraph|\[Op:|\{\{node ")
FRAME = re.compile(r'(\s*)File "([^"]+)", line (\d+)(?:, in .*)?\s*$')
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
GENERATED = "__autograph_generated_file"


def is_tensorflows(error: BaseException, message: str) -> bool:
    """Return whether TensorFlow or Keras is in the type, the words or the frames of an error."""
    if str(type(error).__module__).partition(".")[0] in FRAMEWORKS or MARKS.search(message):
        return True
    files = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(traceback_of(error)))
    return any(f"{os.sep}{name}{os.sep}" in file for file in files for name in FRAMEWORKS)


def tensorflow_words(message: str, name: str) -> str:
    """Return a message of TensorFlow or Keras on one line. `name`: the type of the error.

    The user's line, if the message has one, follows in brackets: `(line 3 of steps.py: y = g(x))`.
    """
    message = BINDING.sub(r"\1 for signature: ", message)
    words, place, frame = [], "", None
    for line in message.split("\n"):
        if found := FRAME.match(line):
            frame = found
            place = _users_place(found) or place
        elif frame and _is_source(line, frame):
            place = _with_source(place, frame, line.strip())
        else:
            frame = None
            words.append(_cleaned(line).removeprefix(f"{name}: "))
    words = list(filter(None, words))
    if words[1:] and words[-1] == words[0]:  # at the end of a traceback
        del words[-1]
    said = " ".join(words)
    return f"{said} ({place})" if place else said


def _is_source(line: str, frame: re.Match) -> bool:
    """Return whether a line is the source that follows the line of a frame, or points into it."""
    indent = len(line) - len(line.lstrip())
    return bool(frame[1] and line.strip()) and (indent > len(frame[1]))


def _with_source(place: str, frame: re.Match, source: str) -> str:
    """Return the place of a frame with the source that TensorFlow shows of it."""
    mine = _users_place(frame)
    is_elsewhere = not mine or place != mine or POINTER.fullmatch(source)
    return place if is_elsewhere else f"{_home(frame)}: {source}"


def _cleaned(line: str) -> str:
    text = line.strip()
    if HEADING.match(text):
        return ""
    return INFERENCE.sub(r"\1", LINK.sub("", VARYING.sub("", text))).strip()


def _users_place(frame: re.Match) -> str:
    """Return the place of a frame in words, and its source; "" if it is not the user's."""
    path = _path(frame)
    if is_library(path) or GENERATED in path:
        return ""
    source = "".join(file_lines(path)[int(frame[3]) - 1 : int(frame[3])]).strip()
    return f"{_home(frame)}: {source}" if source else _home(frame)


def _path(frame: re.Match) -> str:
    file = frame[2]  # XLA leaves out the first slash
    return file if file.startswith((os.sep, "<")) or ":" in file else os.sep + file


def _home(frame: re.Match) -> str:
    path = _path(frame)
    is_cell = "ipykernel_" in path or path == "<answer>"
    return f"line {frame[3]} of {'its cell' if is_cell else os.path.basename(path)}"
