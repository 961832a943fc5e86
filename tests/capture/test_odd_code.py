"""Code objects, frames and errors that nobody would write: looked at, refused, never run into."""

import types

import pytest

import helpers
from helpers.capture.text.source import source_of


def test_class_body_has_its_own_source():
    source = "def before():\n    pass\n\n\nclass Inner:\n    x = 1\n"
    import linecache

    linecache.cache["<odd>"] = len(source), None, source.splitlines(True), "<odd>"
    codes = [c for c in compile(source, "<odd>", "exec").co_consts if type(c) is types.CodeType]
    assert source_of(codes[1]).text.startswith("class Inner")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: helpers.show_frames(0), ValueError),
        (lambda: helpers.show_rosetta(3), ValueError),
        (lambda: helpers.watch_tracers(list.append.__class__), TypeError),
        (lambda: helpers.watch_tracers(interrupted, iter([1])), TypeError),
        (lambda: helpers.watch_costs(interrupted, {"a": 3}), TypeError),
        (lambda: helpers.watch_specialising(interrupted, {}), TypeError),
        (lambda: helpers.watch_specialising(interrupted, {"a": ()}, times=0), ValueError),
        (lambda: helpers.show_table("t", [1]), TypeError),
        (lambda: helpers.show_table("t", {f"k{n}": 1 for n in range(5_000)}), ValueError),
        (lambda: helpers.show_opcode_coverage(3), TypeError),
    ],
)
def test_misuse_is_refused_in_one_sentence(call, error):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) and "\n" not in str(caught.value)


def interrupted():
    raise KeyboardInterrupt


def test_table_asks_no_value_for_its_words():
    class Raising:
        def __repr__(self):
            raise RuntimeError

    row = {"a b": Raising(), "class": [1, "x"], "a_b": None, "n": 10**5_000}
    shown = helpers.show_table("t", row)
    assert "Raising object" in repr(shown) and "[1, 'x']" in repr(shown)
