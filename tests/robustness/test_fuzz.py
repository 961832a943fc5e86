"""A few seeded runs of verbs on odd programs; `python -m tests.robustness.fuzz` makes thousands."""

import ast

import pytest

from tests.robustness import fuzz, odd_programs
from tests.robustness.odd_pieces import KINDS, LAST

SEED, RUNS = 1, 24


@pytest.fixture(scope="module")
def found():
    return fuzz.fuzz(RUNS, SEED, ["none"])


def test_no_verb_dies_or_hangs_on_odd_programs(found):
    assert len(found) == RUNS
    assert [one for one in found if one.get("died") or one.get("hung")] == []


def test_no_verb_leaves_anything_behind(found):
    assert [one for one in found if one.get("left")] == []


def test_every_piece_of_a_program_is_python():
    for definitions, body in [piece for kind in KINDS.values() for piece in kind] + LAST:
        ast.parse(definitions)
        lines = "\n".join(f"    {line}" for line in (body or "pass").split("\n"))
        ast.parse(f"async def fn():\n{lines}\n")


def test_a_seed_gives_the_same_program_again():
    assert odd_programs.source_of(5) == odd_programs.source_of(5) != odd_programs.source_of(6)


def _dies(fn, n):
    import os

    os.kill(os.getpid(), 11)


def _hangs(fn, n):
    while True:
        pass


def _leaves(fn, n):
    import sys

    sys.settrace(_leaves)


def _breaks(fn, n):
    raise ValueError("two\nlines")


@pytest.mark.parametrize(
    ("verb", "kind"), [(_dies, "died"), (_hangs, "hung"), (_leaves, "left"), (_breaks, "fault")]
)
def test_fault_is_seen(verb, kind, monkeypatch, tmp_path):
    """What kills, hangs, leaves or breaks is told; the program itself is harmless."""
    monkeypatch.setitem(fuzz.VERBS["none"], "made", verb)
    fuzz._warm("none")
    monkeypatch.setitem(fuzz.LONGEST, "none", 1 if kind == "hung" else 60)
    monkeypatch.setattr(odd_programs, "source_of", lambda seed: "def fn(n=3):\n    return n\n")
    told = fuzz._fork(1, "made", "none", str(tmp_path))
    assert [name for name in fuzz.FAULTS if told.get(name)] == [kind], told
