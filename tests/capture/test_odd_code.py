"""Code objects, frames and errors that nobody would write: looked at, refused, never run into."""

import sys
import types

import pytest

import helpers
from helpers.capture.cpython import disassembly
from helpers.capture.text.source import source_of
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


def test_cache_goes_by_identity_and_keeps_nothing_alive():
    asked = []
    cached = disassembly.once_per_code(lambda code: asked.append(code.co_name) or len(asked))
    first, second = CODE.replace(co_name="first"), CODE.replace(co_name="second")
    assert (cached(first), cached(second), cached(first)) == (1, 2, 1)
    before = sys.getrefcount(first)
    del asked[:]
    assert cached(first) == 1 and not asked and sys.getrefcount(first) == before


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
    finally:
        sys.setrecursionlimit(limit)
    assert len(shown.model.rows) == 5_000
    assert "Frames 5,001 to 6,002 are left out." in repr(shown)
    html = shown._repr_mimebundle_()[0]["text/html"]
    assert len(html) < MEGABYTE and "left out here" in html


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: helpers.show_bytecode(add, caches=1), TypeError),
        (lambda: helpers.show_frames(0), ValueError),
        (lambda: helpers.show_rosetta(3), ValueError),
        (lambda: helpers.watch_tracers(list.append.__class__), TypeError),
        (lambda: helpers.watch_tracers(add, iter([1])), TypeError),
        (lambda: helpers.watch_costs(add, {"a": 3}), TypeError),
        (lambda: helpers.watch_costs(add, [add]), TypeError),
        (lambda: helpers.watch_specialising(add, {}), TypeError),
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
