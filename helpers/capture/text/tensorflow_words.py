"""A message of TensorFlow or Keras -> one line: its sentences, and the user's line in brackets.
Such a message contains a traceback (tensorflow/python/autograph/pyct/error_utils.py, and
framework/error_interpolation.py): a line `File "…", line 3` for each frame, and below it, with more
indent, a line of source. Of the traceback only the user's last frame stays, as "line 3 of steps.py:
y = g(x)". The sentences stay whole, except for numbers and addresses that differ in each run.
"""

import os
import re
import traceback

from ...safety.error_parts import traceback_of
from ...safety.users_frames import is_library
from .source import read_file_lines

FRAMEWORKS = ("tensorflow", "keras")
GENERATED = "__autograph_generated_file"  # is in the names of the files that AutoGraph writes
# Phrases that only TensorFlow writes in its messages.
MARKS = re.compile(r"in user code:|Graph execution error|tf\.function|AutoGraph|\[Op:|\{\{node ")
FRAME = re.compile(r'(?P<indent>\s*)File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in .*)?\s*$')
POINTER = re.compile(r"\s*[~^\s]+$")  # a line of ^ and ~ below a line of source
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
    """Return whether TensorFlow or Keras is in an error's type, its message or its traceback."""
    package = str(type(error).__module__).partition(".")[0]
    if package in FRAMEWORKS or MARKS.search(message):
        return True
    folders = [f"{os.sep}{name}{os.sep}" for name in FRAMEWORKS]
    for frame, _ in traceback.walk_tb(traceback_of(error)):
        if any(folder in frame.f_code.co_filename for folder in folders):
            return True
    return False


def format_tensorflow_message(message: str, kind: str) -> str:
    """Return a message of TensorFlow or Keras on one line.

    The sentences come first, and then, in brackets, the last frame of the user's in the message, as
    in "(line 3 of steps.py: y = g(x))". `kind` is the name of the error's type, which is removed if
    a sentence begins with it.
    """
    # If a call does not fit a signature, TensorFlow writes all arguments. They may be long.
    message = BINDING.sub(r"\1 for signature: ", message)
    sentences = []
    users_place = ""  # of the last frame of the user's so far
    frame = None  # the match of FRAME above this line, if this line may be the source of the frame
    for line in message.split("\n"):
        next_frame = FRAME.match(line)
        if next_frame:
            frame = next_frame
            # For a frame of a library, `_format_users_place` returns "", and the user's frame above
            # it stays the last one.
            users_place = _format_users_place(frame) or users_place
        elif frame and _is_source(line, frame):
            users_place = _replace_source(users_place, frame, line.strip())
        else:  # a sentence, which ends the traceback
            frame = None
            sentence = _strip_varying_parts(line).removeprefix(f"{kind}: ")
            if sentence:
                sentences.append(sentence)

    # After a traceback, TensorFlow repeats the first sentence.
    if len(sentences) > 1 and sentences[-1] == sentences[0]:
        sentences.pop()
    text = " ".join(sentences)
    return f"{text} ({users_place})" if users_place else text


def _is_source(line: str, frame: re.Match) -> bool:
    """Return whether a line belongs to a frame: its source, or a row of `^` and `~`.

    `frame` is the match of FRAME for the line `File "…"` above. Its source has more indent. If the
    line `File "…"` has no indent, its source cannot be told from a sentence, and the answer is no.
    """
    if not frame["indent"] or not line.strip():
        return False
    indent = len(line) - len(line.lstrip())
    return indent > len(frame["indent"])


def _replace_source(users_place: str, frame: re.Match, source: str) -> str:
    """Return the user's last place, with `source` from the message in place of the file's line.

    The line in the message is the one that ran, while the file may have been edited since.
    `users_place` is returned as it is if `frame` is not the frame of that place, or if `source` is
    only a row of `^` and `~`.
    """
    place_of_frame = _format_users_place(frame)
    if not place_of_frame or users_place != place_of_frame or POINTER.fullmatch(source):
        return users_place
    return f"{_format_line(frame)}: {source}"


def _strip_varying_parts(line: str) -> str:
    """Return a line without links and without what differs in each run, or "" for a heading."""
    text = line.strip()
    if HEADING.match(text):
        return ""
    text = VARYING.sub("", text)
    text = LINK.sub("", text)
    # TensorFlow calls a traced function `__inference_NAME_NUMBER`. Only the NAME is kept.
    return INFERENCE.sub(r"\1", text).strip()


def _format_users_place(frame: re.Match) -> str:
    """Return a frame of the user's as "line 3 of steps.py: y = g(x)", or "" for any other frame.

    `frame` is a match of FRAME. The source is read from the file, and left out if there is no file.
    """
    path = _complete_path(frame["file"])
    if is_library(path) or GENERATED in path:
        return ""
    line_number = int(frame["line"])
    lines = read_file_lines(path)[line_number - 1 : line_number]  # one line or none
    source = "".join(lines).strip()
    return f"{_format_line(frame)}: {source}" if source else _format_line(frame)


def _complete_path(file: str) -> str:
    """Return the path of a file with its first slash, which XLA leaves out in its messages.

    A name such as "<answer>", and a path with a colon such as "C:/…", are returned as they are.
    """
    has_start = file.startswith((os.sep, "<")) or ":" in file
    return file if has_start else os.sep + file


def _format_line(frame: re.Match) -> str:
    """Return the line and the file of a frame, such as "line 3 of steps.py"."""
    path = _complete_path(frame["file"])
    is_cell = "ipykernel_" in path or path == "<answer>"
    file = "its cell" if is_cell else os.path.basename(path)
    return f"line {frame['line']} of {file}"
