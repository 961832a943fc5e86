"""The table verb x attack is full and without faults; a few attacks of each kind run afresh."""

import random

import pytest

import helpers
from tests.robustness import table
from tests.robustness.attacks import KINDS, fault_of
from tests.robustness.subjects import SUBJECTS

# What the cells of one chapter call on their own op files and cases is no verb.
HOMES = {"study.chapter_5", "study.chapter_6.op_cases"}
VERBS = {name for name, home in helpers._HOMES.items() if home not in HOMES}
CHEAP = [verb for verb, subject in SUBJECTS.items() if not subject.imports]


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_a_full_row_without_faults(verb):
    row = table.read().get(verb, {})
    assert set(row) == set(KINDS), f"attack it: python -m tests.robustness.table {verb}"
    for kind, found in row.items():
        assert not found["faults"], (kind, found["faults"][:5])
        assert found["tried"] or found["because"], (kind, "nothing was tried, and no word says why")


def test_no_verb_is_in_the_table_that_is_not_there():
    assert set(table.read()) == set(SUBJECTS) == VERBS


def faults_of(attacks):
    """Try a dozen cases of each attack, all in one child; return the faults of those that have."""
    found = table.attacked_in_turn(attacks, sample=12, seconds=900)
    told = zip(attacks, (one["faults"] for one in found), strict=True)
    return {attack: faults for attack, faults in told if faults}


def test_attacks_are_borne():
    verbs = random.Random(20).sample(sorted(CHEAP), 6)
    attacks = [(kind, verb) for kind in ("hostile", "misuse") for verb in verbs]
    assert not faults_of(attacks)


def test_interrupts_leave_nothing():
    verbs = "watch_stack", "rebind_everywhere", "predict", "watch_tracers"
    assert not faults_of([("interrupt", verb) for verb in verbs])


def test_death_of_a_child_is_a_fault():
    assert table.attacked("hostile", "no_such_verb", seconds=900)["faults"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: 1 / 0, "ZeroDivisionError from"),
        (lambda: (_ for _ in ()).throw(ValueError("a\nb")), "no one sentence"),
        (lambda: "\x1b[31m", "holds"),
        (lambda: (_ for _ in ()).throw(SystemExit), "escapes"),
        (lambda: helpers.show_table("T", {"a": "<b>"}), ""),
        (lambda: helpers.show_table("T"), ""),
    ],
)
def test_fault_is_told(call, words):
    class Shown(str):
        __slots__ = ()
        __repr__ = str.__str__

    found = fault_of(lambda: Shown(given) if type(given := call()) is str else given)
    assert words in found if words else not found


def test_use_that_is_not_refused_is_a_fault():
    assert fault_of(lambda: helpers.show_table("T", {"a": 1}), refused=True)
