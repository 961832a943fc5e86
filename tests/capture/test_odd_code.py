"""Code objects, frames and errors that nobody would write: looked at, refused, never run into."""

import os
import random
import subprocess
import sys
import threading
import types

import pytest

import helpers
from helpers.capture.cpython import disassembly
from helpers.capture.text.source import file_lines, source_of
from helpers.capture.text.value import brief

VERBS = (helpers.show_code, helpers.show_bytecode)
MEGABYTE = 1_000_000


class Raising:
    """Every question is answered with an error."""

    def __hash__(self):
        raise RuntimeError("hash")

    def __eq__(self, other):
        raise RuntimeError("eq")

    def __repr__(self):
        raise RuntimeError("repr")


class Meta(type):
    def __hash__(cls):
        raise RuntimeError("hash of a class")

    def __eq__(cls, other):
        raise RuntimeError("== of a class")


class OfMeta(metaclass=Meta):
    """Its type answers for hash and ==."""


class Text(str):
    def startswith(self, *args):
        raise RuntimeError("startswith")

    __str__ = __format__ = startswith


def add(a, b=2):
    for n in range(a):
        try:
            b += 7.5 if n else "x" in {n}
        except TypeError as error:
            raise ValueError from error
    return b


CODE = add.__code__


def with_constant(value):
    return CODE.replace(co_consts=tuple(value if c == 7.5 else c for c in CODE.co_consts))


ODD_CONSTANTS = (
    Raising(), [], {}, OfMeta(), OfMeta, 10**5_000, "a" * MEGABYTE, (Raising(),), {1: []}
)  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("value", ODD_CONSTANTS, ids=lambda value: type(value).__name__)
def test_constant_may_be_any_object(verb, value):
    shown = verb(with_constant(value))
    assert len(repr(shown)) < 50_000
    shown._repr_mimebundle_()


@pytest.mark.parametrize("value", [Raising(), [1]], ids=["raising", "list"])
def test_code_with_such_a_constant_is_watched(value):
    fn = types.FunctionType(with_constant(value), {"range": range, "TypeError": TypeError})
    assert helpers.watch_stack(fn, 1, 2).model.steps
    assert helpers.watch_frames(fn, 1, 2).model.steps
    assert helpers.watch_specialising(fn, {"ints": (1, 2)}, times=3).model.rows


@pytest.mark.parametrize("seed", range(40))
def test_garbled_code_is_listed_or_refused(seed):
    rng = random.Random(seed)

    def noise(most):
        return bytes(rng.randrange(256) for _ in range(rng.randrange(most)))

    fields = {
        "co_linetable": (b"", noise(60), CODE.co_linetable[:5]),
        "co_exceptiontable": (b"", noise(40), b"\xff" * 30),
        "co_code": (noise(30) * 2, CODE.co_code[:20], b"\0\0"),
        "co_stacksize": (0, 1, 10**6),
        "co_firstlineno": (0, 10**9, 1),
        "co_name": ("\x1b[31m", "\0", "\ud800", "\u202e", Text("x"), "<lambda>", "n" * MEGABYTE),
        "co_filename": ("\0", "\ud800", Text("x"), "", "/", os.devnull, "<string>"),
        "co_names": (tuple("\x1b\0\ud800\u202e"[: len(CODE.co_names)]),),
    }
    chosen = {name: rng.choice(fields[name]) for name in rng.sample(sorted(fields), 3)}
    try:
        code = CODE.replace(**chosen)
    except ValueError:
        return
    for verb in VERBS:
        try:
            shown = verb(code)
        except ValueError as refused:
            assert "cannot be decoded" in str(refused)
            continue
        data, _ = shown._repr_mimebundle_()
        assert not set("\x1b\0\ud800\u202e") & set(repr(shown) + data["text/html"])


def test_cache_goes_by_identity_and_keeps_nothing_alive():
    asked = []
    cached = disassembly.once_per_code(lambda code: asked.append(code.co_name) or len(asked))
    first, second = CODE.replace(co_name="first"), CODE.replace(co_name="second")
    assert (cached(first), cached(second), cached(first)) == (1, 2, 1)
    before = sys.getrefcount(first)
    del asked[:]
    assert cached(first) == 1 and not asked and sys.getrefcount(first) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_no_device_and_no_pipe_is_read_as_source(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    for name in (tmp_path / "pipe.py", "/dev/zero", tmp_path, "/proc/self/mem", "\0", "\ud800"):
        assert not source_of(CODE.replace(co_filename=str(name))).text


def test_huge_file_is_not_read_as_source(tmp_path):
    path = tmp_path / "huge.py"
    with open(path, "w") as file:
        file.truncate(50_000_000)
    assert file_lines(str(path)) == []


def test_class_body_has_its_own_source():
    source = "def before():\n    pass\n\n\nclass Inner:\n    x = 1\n"
    import linecache

    linecache.cache["<odd>"] = len(source), None, source.splitlines(True), "<odd>"
    codes = [c for c in compile(source, "<odd>", "exec").co_consts if type(c) is types.CodeType]
    assert source_of(codes[1]).text.startswith("class Inner")


def test_brief_asks_no_metaclass():
    assert brief(OfMeta()) == "OfMeta object" and brief(OfMeta) == "class OfMeta"
    odd = type("\x1b[31m", (), {})()
    assert brief(odd) == "\\x1b[31m object"


def test_traceback_of_thousands_of_frames_is_all_in_the_model():
    def deep(n):
        return deep(n - 1) if n else 1 // 0

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(9_000)
    try:
        deep(6_000)
    except ZeroDivisionError as error:
        shown = helpers.show_traceback(error)
        later = helpers.show_traceback(error, start=5_001)
    finally:
        sys.setrecursionlimit(limit)
    assert len(shown.model.rows) == 5_000
    assert "Frames 5,001 to 6,002 are left out; show_traceback(error, start=5001)" in repr(shown)
    assert [row.place for row in later.model.rows][-1] == "6002"
    html = shown._repr_mimebundle_()[0]["text/html"]
    assert len(html) < MEGABYTE and "left out here" in html


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: helpers.show_traceback(ValueError(), 0), ValueError),
        (lambda: helpers.show_traceback(ValueError(), 2), ValueError),
        (lambda: helpers.show_bytecode(add, start=-1), ValueError),
        (lambda: helpers.show_bytecode(add, caches=1), TypeError),
        (lambda: helpers.show_frames(0), ValueError),
        (lambda: helpers.show_rosetta(3), ValueError),
        (lambda: helpers.watch_tracers(list.append.__class__), TypeError),
        (lambda: helpers.watch_tracers(add, iter([1])), TypeError),
        (lambda: helpers.watch_costs(add, {"a": 3}), TypeError),
        (lambda: helpers.watch_costs(add, [add]), TypeError),
        (lambda: helpers.watch_specialising(add, {}), ValueError),
        (lambda: helpers.watch_specialising(add, {"a": (1,)}, times=0), ValueError),
        (lambda: helpers.show_table("t", [1]), TypeError),
        (lambda: helpers.show_table("t", {1: 2}), TypeError),
        (lambda: helpers.show_table("t", ({"a": n} for n in range(3))), TypeError),
        (lambda: helpers.show_table("t", {f"k{n}": 1 for n in range(5_000)}), ValueError),
        (lambda: helpers.show_opcode_coverage(3), TypeError),
        (lambda: helpers.predict("q", (str(n) for n in range(10**9)), run=add), ValueError),
    ],
)
def test_misuse_is_refused_in_one_sentence(call, error):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) and "\n" not in str(caught.value)


def test_stage_may_be_called_before():
    rows = helpers.watch_specialising(add, {"before": (1,)}, times=2).model
    assert [column.heading for column in rows.columns][3] == "after 2 calls: before"


def test_system_exit_is_the_answer_of_a_prediction():
    asked = helpers.predict("q", ["SystemExit", "1"], run=sys.exit)
    assert asked.model.answer == "SystemExit"
    with pytest.raises(KeyboardInterrupt):
        helpers.predict("q", ["SystemExit", "1"], run=interrupted)


def interrupted():
    raise KeyboardInterrupt


def test_table_asks_no_value_for_its_words():
    row = {"a b": Raising(), "class": [1, "x"], "a_b": None, "n": 10**5_000}
    shown = helpers.show_table("t", row)
    assert "Raising object" in repr(shown) and "[1, 'x']" in repr(shown)


@pytest.mark.parametrize("verb", [helpers.watch_stack, helpers.watch_frames])
@pytest.mark.parametrize("closed", [True, False])
def test_output_that_is_closed_or_none_is_borne(verb, closed, monkeypatch):
    stream = open(os.devnull, "w")  # noqa: SIM115 - it is closed on purpose
    stream.close()
    monkeypatch.setattr(sys, "stdout", stream if closed else None)
    assert verb(add, 1).model.steps
    assert helpers.predict("q", ["2", "3"], run=lambda: 2).answer == "2"


@pytest.mark.parametrize("verb", [helpers.watch_stack, helpers.watch_frames])
def test_generator_that_lives_on_has_no_tracer(verb):
    def numbers():
        yield from range(9)

    kept = numbers()
    verb(lambda: next(kept))
    assert kept.gi_frame.f_trace is None and not kept.gi_frame.f_trace_opcodes
    assert next(kept) == 1


PROGRAM = """
import sys, threading
import helpers
sys.setrecursionlimit(10**6)
def deep(n): return n and 1 + deep(n - 1)
def gen():
    for n in range(9):
        yield n
def other():
    found = []
    thread = threading.Thread(target=lambda: found.append(sum(range(99))))
    thread.start(); thread.join()
    return found
def untraced(): sys.settrace(None); return [n for n in gen()]
def cleared():
    g = gen(); next(g); frame = g.gi_frame; g.close(); frame.clear(); del g
    return frame.f_locals
def sent():
    async def one(): return 1
    try: one().send(None)
    except StopIteration as stop: return stop.value
for verb in (helpers.watch_stack, helpers.watch_frames):
    for fn, *args in ((deep, 20_000), (gen,), (other,), (untraced,), (cleared,), (sent,)):
        verb(fn, *args)._repr_mimebundle_()
helpers.show_frames(99); helpers.show_frame(sys._getframe())
for frame in sys._current_frames().values(): helpers.show_frame(frame)
print("alive")
"""


def test_odd_runs_do_not_end_the_interpreter():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout.strip() == "alive", (done.returncode, done.stderr[-500:])


def test_frames_of_other_threads_are_shown():
    go, done = threading.Event(), threading.Event()

    def wait(secret="of the thread"):
        go.set()
        done.wait(20)

    thread = threading.Thread(target=wait)
    thread.start()
    go.wait(20)
    try:
        frame = sys._current_frames()[thread.ident]
        while frame.f_code is not wait.__code__:
            frame = frame.f_back
        assert "of the thread" in repr(helpers.show_frame(frame))
    finally:
        done.set()
        thread.join()
