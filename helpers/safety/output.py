"""A stream of output -> the same stream, which a learner's code may close without closing it.

`sys.stdout.close()` in a notebook ends all output of its kernel for good; so does to print half of
a surrogate pair, which no message can carry (ipykernel/iostream.py): it is spelled out here.
"""

import sys
from collections import deque
from contextlib import redirect_stdout

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

# `print` does not count its reference to sys.stdout (Python 3.11, Python/bltinmodule.c): in another
# thread it may be between two writes to a stream that nobody else holds any more.
_LATEST_SHIELDS: deque = deque(maxlen=10_000)
_LATEST_BLOCKS: deque = deque(maxlen=200)  # their streams keep what was printed


class Shielded:
    """Passes everything on to a stream; `close` closes only this."""

    def __init__(self, stream):
        self._stream, self._closed, self.ended = stream, False, False

    @property
    def closed(self) -> bool:
        """Return whether this, or the stream behind it, was closed."""
        return self._closed or self._stream.closed

    def close(self) -> None:
        """Take no more output."""
        self._closed = True

    def write(self, text: str) -> int:
        """Write to the stream; ValueError once closed, as of any file."""
        return self._open().write(sendable(text))

    def writelines(self, lines) -> None:
        """Write each; ValueError once closed."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the stream; ValueError once closed."""
        self._open().flush()

    def _open(self):
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        return self._stream

    def __enter__(self):
        self._open()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self.close()

    def __getattr__(self, name):
        if name in ("_stream", "_closed"):  # not there yet, as while copying
            raise AttributeError(name)
        return getattr(self._stream, name)


def sendable(text):
    """Return text that UTF-8 can write; what is no text as it is, for the stream to refuse."""
    if type(text) is not str or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shielded(stream):
    """Return a stream behind a shield; None, as a program without a terminal has it, as it is."""
    if stream is None or type(stream) is Shielded:
        return stream
    return outliving(Shielded(stream))


def outliving(shield: "Shielded") -> "Shielded":
    """Return a shield, which is not freed before many others have stood in its place."""
    _LATEST_SHIELDS.append(shield)
    return shield


class redirected(redirect_stdout):  # noqa: N801 (used like a function)
    """Sends what is printed to a stream, which outlives the `with` block.

    After it, what stands there is no stream of a block that has ended: two verbs, one of them in a
    thread, may end in another order than they began.
    """

    def __init__(self, stream):
        super().__init__(stream)
        self.behind, self.ended = None, False
        _LATEST_BLOCKS.append(self)

    def __enter__(self):
        self.behind = sys.stdout
        return super().__enter__()

    def __exit__(self, kind, error, trace) -> None:
        self.ended = True
        super().__exit__(kind, error, trace)
        sys.stdout = still_open(sys.stdout)


def still_open(stream):
    """Return a stream; in place of one whose verb has ended, the one behind it."""
    latest = tuple(_LATEST_BLOCKS)  # in one go: another thread may begin a block meanwhile
    for _ in range(2 * len(latest) + 1):  # an end, should two streams stand behind one another
        if isinstance(stream, Shielded) and stream.ended:
            stream = stream._stream
            continue
        blocks = [block for block in latest if block._new_target is stream]
        if not blocks or not all(block.ended for block in blocks):
            break
        stream = blocks[0].behind
    return stream
