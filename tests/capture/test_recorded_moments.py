"""helpers/capture/cpython/recorded_moments.py: the next moment of the same call."""

from helpers.capture.cpython.recorded_moments import (
    Activation,
    FoldedMoments,
    RecordedMoment,
    find_next_moments,
)

CALLS = {name: Activation(None, number) for number, name in enumerate("ab", 1)}


def record(text: str) -> list:
    """Return a record: a letter for a moment of that call, a capital for a fold of that call."""
    entries = []
    for serial, letter in enumerate(text, 1):
        call = CALLS[letter.lower()]
        if letter.isupper():
            entries.append(FoldedMoments(serial, call, header=0, rounds=1, steps=1))
        else:
            entries.append(RecordedMoment(serial, call, 0, 0, None, 0, None))
    return entries


def next_serials(text: str) -> dict[int, int]:
    """Return position -> serial of the next moment, for a record as `record` makes it."""
    return {position: moment.serial for position, moment in find_next_moments(record(text)).items()}


def test_the_next_moment_is_one_of_the_same_call():
    assert next_serials("abba") == {0: 4, 1: 3}
    assert next_serials("a") == next_serials("") == {}


def test_a_fold_between_two_moments_of_a_call_hides_the_later_one():
    assert next_serials("aaAaa") == {0: 2, 3: 5}
    assert next_serials("aBa") == {0: 3}  # a fold of another call hides nothing
    assert next_serials("aA") == {}
