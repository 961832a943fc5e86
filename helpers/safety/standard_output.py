"""Record what a program prints while a verb runs it, by an object that replaces `sys.stdout`.
That object is called the *stand-in*. It passes each text that is written to a function, and passes
everything else on to the program's own stream. The program may keep the stand-in, for example in a
log handler. So once the verb has ended, the stand-in writes to the program's stream.
"""

import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOBase

from .dynamo_aside import leave_to_python


class _StandIn:
    """Replaces a stream: its attributes and methods are those of the stream, but for writing.

    Its own two attributes are set by `object.__setattr__`, because its `__setattr__` sets an
    attribute of the stream. `_note` is called with each text that is written. If it is None, the
    text is written to `_stream`.
    """

    def __init__(self, stream, note: Callable[[str], object]):
        """Replace `stream`, and call `note` with each text that is written."""
        object.__setattr__(self, "_stream", stream)
        object.__setattr__(self, "_note", note)

    @property
    def __class__(self):
        return type(self._stream)  # for `isinstance`

    @property
    def writelines(self) -> Callable[[Iterable], None]:
        """The method that writes many texts. A property, so that a stream without it has none."""
        self._stream.writelines  # noqa: B018 (raises AttributeError if the stream lacks it)
        return self._write_lines

    def _write_lines(self, lines: Iterable) -> None:
        """Write each of the texts, as `writelines` of a stream does."""
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
        if not hasattr(kind, "__enter__"):  # the error that Python raises for such a stream
            reason = "object does not support the context manager protocol"
            raise TypeError(f"'{kind.__name__}' {reason}")
        self._stream.__enter__()
        return self

    def __exit__(self, *error):
        return self._stream.__exit__(*error)


class StandardOutput(_StandIn):
    """Replaces a stream of text, such as `sys.stdout`."""

    def write(self, *texts):
        """Note one text, and return what the stream's own `write` would return.

        Arguments that the stream would refuse are passed on to the stream, so that it raises its
        own error.
        """
        shown = _encode_as_stream(self._stream, texts)
        if self._note is None or shown is None:
            return self._stream.write(*texts)
        self._note(shown)
        # A `TextIOBase` returns the number of characters. Other streams mostly return None.
        return len(texts[0]) if isinstance(self._stream, TextIOBase) else None

    @property
    def buffer(self):
        """The stream's buffer of bytes, or a stand-in for it while texts are noted."""
        buffer = self._stream.buffer  # raises AttributeError if the stream has none
        if self._note is None:
            return buffer
        if "_bytes" not in vars(self):
            object.__setattr__(self, "_bytes", _StandardBytes(self, buffer))
        return self._bytes


class _StandardBytes(_StandIn):
    """Replaces the buffer of a stream of text: it decodes the bytes, and notes the text."""

    def __init__(self, text: StandardOutput, buffer):
        """Replace `buffer`, the buffer of the stream that `text` replaces."""
        encoding = getattr(text, "encoding", None) or "utf-8"
        super().__init__(buffer, text._note)
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_decoder", getincrementaldecoder(encoding)("backslashreplace"))

    def write(self, *arguments):
        """Note the bytes as text, and return how many there are.

        Arguments that the buffer would refuse are passed on to it, so that it raises its own error.
        """
        note = self._text._note
        if note is None or len(arguments) != 1 or getattr(self._stream, "closed", False):
            return self._stream.write(*arguments)
        try:
            data = memoryview(arguments[0]).tobytes()
        except (TypeError, ValueError, BufferError):
            return self._stream.write(*arguments)
        note(self._decoder.decode(data))
        return len(data)


def _encode_as_stream(stream, texts: tuple) -> str | None:
    """Return the text that a reader of the stream would see; None if the stream would raise.

    `texts` are the arguments of a call of `write`, which should be one str. A character that the
    stream's encoding lacks is replaced as the stream would replace it.
    """
    if len(texts) != 1 or not isinstance(texts[0], str) or getattr(stream, "closed", False):
        return None
    encoding = getattr(stream, "encoding", None)
    errors = getattr(stream, "errors", None)
    if type(encoding) is not str or type(errors) is not str:  # a stream that encodes nothing
        return texts[0]
    try:
        return texts[0].encode(encoding, errors).decode(encoding, errors)
    except (UnicodeError, LookupError):
        return None


@contextmanager
def redirect_prints(printed) -> Iterator[None]:
    """Replace `sys.stdout` in a `with` block, so that `printed.write` gets each text.

    If the block itself sets `sys.stdout` to another stream, that one stays after the block.
    """
    stream = sys.stdout
    if stream is None:  # a program without a console, in which nothing is printed
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
