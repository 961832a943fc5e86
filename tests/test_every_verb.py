"""Every verb has its place where all verbs are tried and shown; the missing ones are named at once.

After you add a verb, this test says where it is missing.
"""

from tests.front_door import INSTRUMENTS
from tests.observer.test_observer import OF_NO_PROGRAM
from tests.observer.verbs import VERBS
from tests.robustness import test_zoo as zoo
from tools.instrument_examples import LISTED, SECTIONS

EVERY = set(INSTRUMENTS)


def names(*tables) -> set[str]:
    """Return the verbs of tables; a key may say after the verb's name how it is called."""
    return {key.partition(" ")[0] for table in tables for key in table}


HAVE = {
    "tests/robustness/test_zoo.py": names(
        zoo.PLAIN, zoo.OF_TORCH, zoo.OF_TENSORFLOW, zoo.WITHOUT_OBJECT
    ),
    "tests/observer/verbs.py": names(VERBS, OF_NO_PROGRAM),
    "tools/instrument_examples.py": names(*SECTIONS.values(), LISTED),
}


def test_every_verb_is_in_the_zoo_in_the_observer_and_on_the_instruments_page():
    missing = {place: sorted(EVERY - have) for place, have in HAVE.items()}
    assert {place: verbs for place, verbs in missing.items() if verbs} == {}


def test_no_place_names_a_verb_that_is_gone():
    exercises = {"predict", "check"}  # not instruments, and awkward answers are put to them too
    gone = {place: sorted(have - EVERY - exercises) for place, have in HAVE.items()}
    assert {place: verbs for place, verbs in gone.items() if verbs} == {}
