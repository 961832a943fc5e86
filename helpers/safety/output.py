"""A stream of output -> the same stream, which a learner's code may close without closing it.

`sys.stdout.close()` in a notebook ends all output of its kernel for good.
"""

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs


class Shielded:
    """Passes everything on to a stream; `close` closes only this."""

    def __init__(self, stream):
        self._stream, self._closed = stream, False

    @property
    def closed(self) -> bool:
        """Return whether this, or the stream behind it, was closed."""
        return self._closed or self._stream.closed

    def close(self) -> None:
        """Take no more output."""
        self._closed = True

    def write(self, text: str) -> int:
        """Write to the stream; ValueError once closed, as of any file."""
        return self._open().write(text)

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


def shielded(stream):
    """Return a stream behind a shield; None, as a program without a terminal has it, as it is."""
    return stream if stream is None or type(stream) is Shielded else Shielded(stream)
