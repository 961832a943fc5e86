"""What a program does with its `sys.stdout` has the same outcome in a watched run."""

import contextlib
import io
import logging
import pickle
import sys
import tempfile
from functools import partial

import pytest

import helpers
from helpers.safety.standard_output import redirect_prints
from tests.safety.settings_programs import OF_ONE_CALL, in_fork

pytestmark = pytest.mark.own_process


class OfAKernel(io.TextIOBase):
    """A stream as that of a Jupyter kernel: without a buffer, and with its own attributes."""

    encoding = "UTF-8"
    topic = b"stream.stdout"

    def __init__(self):
        self.got = []

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        self.got.append(text)
        return len(text)

    def fileno(self):
        raise io.UnsupportedOperation("fileno")


class Tee:
    """The least that `print` needs."""

    def __init__(self):
        self.got = []

    def write(self, text):
        self.got.append("" + text)


def of_a_file(**options):
    return open(tempfile.mkstemp()[1], "w+", **options)


STREAMS = {
    "of bytes": lambda: io.TextIOWrapper(io.BytesIO(), encoding="latin-1", newline="\n"),
    "of a file": partial(of_a_file, encoding="utf-8"),
    "in ASCII": partial(of_a_file, encoding="ascii", errors="xmlcharrefreplace"),
    "in memory": io.StringIO,
    "of a kernel": OfAKernel,
    "the least": Tee,
    "none": lambda: None,
}


def content(stream) -> object:
    """Return all that a stream has got, as text; None of one that is closed."""
    if getattr(stream, "closed", False):
        return None
    if isinstance(stream, io.TextIOWrapper):
        stream.flush()
        stream.buffer.seek(0)
        return stream.buffer.read().decode(stream.encoding, "backslashreplace")
    if isinstance(stream, io.StringIO):
        return stream.getvalue()
    return None if stream is None else "".join(map(str, stream.got))


def asks_what_it_is():
    out = sys.stdout
    yield isinstance(out, io.TextIOBase), isinstance(out, io.StringIO), isinstance(out, Tee)
    yield out.__class__.__name__, repr(out)[:12], sorted(dir(out)), bool(out)
    yield hasattr(out, "buffer"), hasattr(out, "getvalue"), hasattr(out, "topic")
    yield out == sys.stdout, out is sys.stdout, hash(out) == hash(sys.stdout)


def asks_where_it_goes():
    yield sys.stdout.isatty()
    yield sys.stdout.encoding, sys.stdout.errors, sys.stdout.newlines
    yield sys.stdout.writable(), sys.stdout.readable(), sys.stdout.closed
    yield type(sys.stdout.fileno()).__name__


def asks_for_a_file_number():
    yield type(sys.stdout.fileno()).__name__


def writes_what_is_no_text():
    sys.stdout.write(b"bytes")
    yield "written"


def writes_nothing():
    yield sys.stdout.write("")
    yield sys.stdout.write()


def writes_letters():
    yield sys.stdout.write("é\n")
    yield sys.stdout.write("→\n")


def writes_lines():
    yield sys.stdout.writelines(["a\n", "b"])
    yield sys.stdout.writelines([1])


def writes_bytes():
    yield sys.stdout.buffer.write(b"bytes \xc3\xa9\n")
    yield sys.stdout.buffer.write(bytearray(b"more")), sys.stdout.buffer.flush()
    yield sys.stdout.buffer.write("text")


def has_it_in_another_place():
    print("to it", file=sys.stdout, flush=True)
    with contextlib.redirect_stdout(io.StringIO()) as elsewhere:
        print("elsewhere")
    yield elsewhere.getvalue()
    sys.stdout.flush()


def is_a_context():
    with sys.stdout as out:
        print("in it", file=out)
    yield sys.stdout.closed
    print("closed")


def closes_it():
    sys.stdout.close()
    yield sys.stdout.closed
    print("closed")


def sets_an_attribute():
    sys.stdout.of_mine = 1
    yield sys.stdout.of_mine
    del sys.stdout.of_mine
    yield sys.stdout.of_mine


def is_changed():
    sys.stdout.reconfigure(errors="replace", line_buffering=True)
    yield sys.stdout.errors, sys.stdout.line_buffering
    yield sys.stdout.write("→")


def is_pickled():
    yield pickle.dumps(sys.stdout)


def sets_another_for_good():
    sys.stdout = io.StringIO()
    print("into it")
    yield sys.stdout.getvalue()


def sets_none_for_good():
    sys.stdout = None
    print("nowhere")
    yield sys.stdout


def puts_one_around_it():
    sys.stdout = Around(sys.stdout)
    print("around")
    yield sys.stdout.count


class Around:
    """A stream that a program puts in the place of another one."""

    def __init__(self, stream):
        self.stream, self.count = stream, 0

    def write(self, text):
        self.count += 1
        return self.stream.write(text)


PROGRAMS = (
    *(asks_what_it_is, asks_where_it_goes, asks_for_a_file_number, writes_what_is_no_text),
    *(writes_nothing, writes_letters, writes_lines, writes_bytes, has_it_in_another_place),
    *(is_a_context, closes_it, sets_an_attribute, is_changed, is_pickled, sets_another_for_good),
    *(sets_none_for_good, puts_one_around_it),
)


class Noted(io.StringIO):
    """What a verb notes."""


def outcome(program, stream, noting) -> dict:
    """Return what a program yields, how it ends, what is set afterwards, and what was printed."""
    found, before = [], sys.stdout
    sys.stdout = stream
    try:
        with noting:
            try:
                found.extend(map(str, program()))
            except BaseException as error:
                found.append(f"{type(error).__name__}: {error}")
        after = sys.stdout
    finally:
        sys.stdout = before
    return {"found": found, "same": after is stream, "after": type(after).__name__}


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_a_program_finds_its_own_stream_and_what_it_prints_is_noted(make):
    wrong = {}
    for program in PROGRAMS:
        stream, noted, untouched = make(), Noted(), make()
        plain = outcome(program, stream, contextlib.nullcontext())
        watched = outcome(program, untouched, redirect_prints(noted))
        if (printed := content(stream)) is not None:
            plain["printed"], watched["printed"] = printed, noted.getvalue()
        if plain != watched or content(untouched):
            wrong[program.__name__] = plain, watched, content(untouched)
    assert wrong == {}


def keeps_the_stream(verb, make) -> bool:
    """Return whether what keeps a stream, as a handler of a log does, writes to it after a call."""
    stream = sys.stdout = make()
    kept = []

    def body():
        kept.extend([sys.stdout, logging.StreamHandler(sys.stdout)])

    verb(body)
    if stream is None:
        return sys.stdout is None
    kept[0].write("later")
    kept[1].emit(logging.makeLogRecord({"msg": "logged"}))
    return sys.stdout is stream and "laterlogged" in content(stream)


def sets_another(verb, make) -> bool:
    """Return whether a stream that the body sets stays, and gets what is written to it."""
    sys.stdout, own = make(), io.StringIO()

    def body():
        sys.stdout = own
        print("into it")

    verb(body)
    return sys.stdout is own and "into it" in own.getvalue()


@pytest.mark.parametrize("name", OF_ONE_CALL.split())
def test_a_stream_that_is_kept_or_set_in_the_call_is_used_after_it(name):
    verb = getattr(helpers, name)
    verb(lambda: 1)

    def wrong() -> list[str]:
        cases = [(case, stream) for case in (keeps_the_stream, sets_another) for stream in STREAMS]
        return [f"{case.__name__} {at}" for case, at in cases if not case(verb, STREAMS[at])]

    assert in_fork(wrong) == []
