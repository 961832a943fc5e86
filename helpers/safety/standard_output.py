"""What a program prints while a verb runs it -> noted, by a stand-in for its `sys.stdout`.

The stand-in differs from the program's stream only in where text goes, and bytes for its `buffer`.
All else is asked of the stream itself. The program may keep the stand-in, as the stream of a log
handler. Once the verb has ended, the stand-in writes to the program's stream.
"""

import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOBase

from .dynamo_aside import leave_to_python


class _StandIn:
    """Stands for a stream.

    What is written goes to `note`, or to the stream if `note` is None. Its own attributes are set
    by `object.__setattr__`, because `__setattr__` sets those of the stream.
    """

    def __init__(self, stream, note: Callable[[str], object]):
        """Stand for `stream`, and call `note` with each text that is written."""
        object.__setattr__(self, "_stream", stream)
        object.__setattr__(self, "_note", note)

    @property
    def __class__(self):
        return type(self._stream)  # for `isinstance`

    @property
    def writelines(self) -> Callable[[Iterable], None]:
        """The method, as a property: it is looked up before it is called, as in the stream."""
        self._stream.writelines  # noqa: B018 (AttributeError where there is none)
        return self._write_lines

    def _write_lines(self, lines: Iterable) -> None:
        """Write each of these texts, as the `writelines` of a stream does."""
        for line in lines:
            self.write(line)

    def end(self) -> None:
        """Write to the stream from now on."""
        object.__setattr__(self, "_note", None)

    def __getattr__(self, name: str):
        return getattr(self._stream, name)

    def __setattr__(self, name: str, value) -> None:
        setattr(self._stream, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._stream, name)

    def __reduce_ex__(self, protocol: int):
        return self._stream.__reduce_ex__(protocol)

    def __dir__(self):
        return dir(self._stream)

    def __repr__(self) -> str:
        return repr(self._stream)

    def __iter__(self):
        return iter(self._stream)

    def __enter__(self):
        kind = type(self._stream)
        if not hasattr(kind, "__enter__"):  # as Python says it of such a stream
            reason = "object does not support the context manager protocol"
            raise TypeError(f"'{kind.__name__}' {reason}")
        self._stream.__enter__()
        return self

    def __exit__(self, *error):
        return self._stream.__exit__(*error)


class StandardOutput(_StandIn):
    """Stands for a stream of text, such as `sys.stdout`."""

    def write(self, *texts):
        """Note the text. What the stream would refuse is passed on to it, so that it refuses."""
        shown = _as_shown(self._stream, texts)
        if self._note is None or shown is None:
            return self._stream.write(*texts)
        self._note(shown)
        # What a stream of another kind would return is not known; most return nothing.
        return len(texts[0]) if isinstance(self._stream, TextIOBase) else None

    @property
    def buffer(self):
        """The buffer of the stream, or what stands for it."""
        buffer = self._stream.buffer  # AttributeError where there is none
        if self._note is None:
            return buffer
        if "_bytes" not in vars(self):
            object.__setattr__(self, "_bytes", _StandardBytes(self, buffer))
        return self._bytes


class _StandardBytes(_StandIn):
    """Stands for the buffer of a stream of text: it decodes bytes, and notes them as text."""

    def __init__(self, text: StandardOutput, buffer):
        """Stand for the buffer of the stream for which `text` stands."""
        encoding = getattr(text, "encoding", None) or "utf-8"
        super().__init__(buffer, text._note)
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_decoder", getincrementaldecoder(encoding)("backslashreplace"))

    def write(self, *arguments):
        """Note the bytes as text. Other arguments go to the buffer itself, which refuses them."""
        note = self._text._note
        if note is None or len(arguments) != 1 or getattr(self._stream, "closed", False):
            return self._stream.write(*arguments)
        try:
            data = memoryview(arguments[0]).tobytes()
        except (TypeError, ValueError, BufferError):
            return self._stream.write(*arguments)
        note(self._decoder.decode(data))
        return len(data)


def _as_shown(stream, texts: tuple) -> str | None:
    """Return the text as the stream's encoding shows it, or None if the stream would raise.

    `texts` are the arguments of a call of `write`, which should be one str.
    """
    if len(texts) != 1 or not isinstance(texts[0], str) or getattr(stream, "closed", False):
        return None
    encoding = getattr(stream, "encoding", None)
    errors = getattr(stream, "errors", None)
    if type(encoding) is not str or type(errors) is not str:
        return texts[0]
    try:
        return texts[0].encode(encoding, errors).decode(encoding, errors)
    except (UnicodeError, LookupError):
        return None


@contextmanager
def redirected(printed) -> Iterator[None]:
    """Have `printed.write` note what the block prints; a stream that the block sets stays.

    `printed` has a method `write`, which receives each text.
    """
    stream = sys.stdout
    if stream is None:  # as in a program without a console, where nothing is printed
        yield
        return
    leave_to_python(StandardOutput.write, _StandIn._write_lines, _StandardBytes.write)
    leave_to_python(_StandIn.__getattr__, StandardOutput.buffer.fget)
    stand_in = StandardOutput(stream, printed.write)
    sys.stdout = stand_in
    try:
        yield
    finally:
        stand_in.end()
        if sys.stdout is stand_in:
            sys.stdout = stream
