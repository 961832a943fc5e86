"""Whatever a learner hands over: what it says of itself is not asked."""

import pytest

from helpers import predict, show_bytecode, show_names, show_table
from helpers.safety import arguments
from helpers.safety.arguments import is_exactly, quote_value, real_isinstance, static_attribute


def _raises(*args):
    raise ValueError("asked")


class Odd:
    """An object that answers for itself, and lies."""

    __class__ = property(lambda self: dict)
    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __getattr__ = _raises
    stored, asked = 1, property(_raises)


def test_what_is_asked_is_the_real_type_and_what_is_stored():
    assert isinstance(Odd(), dict) and not real_isinstance(Odd(), dict)
    assert real_isinstance(True, int) and not is_exactly(True, int) and is_exactly(Odd(), int, Odd)
    assert arguments.real_type_name(Odd()) == quote_value(Odd()) == "Odd"
    assert [static_attribute(Odd(), n, 5) for n in ("stored", "asked", "none")] == [1, 5, 5]
    assert "Odd" in repr(show_table("T", {"a": Odd()})) and "Odd" in repr(show_names("Odd"))


REFUSED = {
    "^a name .*Odd$": lambda: arguments.require_str(Odd(), "a name"),
    "^runs .*int.*str$": lambda: arguments.require_int("3", "runs", 5),
    "^runs .*1 .*5, .*9$": lambda: arguments.require_int(9, "runs", 5),
    "^it .*cases.*empty$": lambda: arguments.require_dict({}, "it", "cases", 5),
    "^it .*cases.*int$": lambda: arguments.require_dict({3: 1}, "it", "cases", 5),
    "^run .*True .*False.* 1$": lambda: arguments.require_bool(1, "run"),
    "^fn .*function.*type$": lambda: arguments.require_function(int, "fn"),
    "Odd": lambda: show_bytecode(Odd()),
    "not callable": lambda: predict("q?", ["a", "b"], run=Odd()),
}


@pytest.mark.parametrize("says", REFUSED)
def test_refusal_is_one_sentence(says, refused):
    refused((TypeError, ValueError), says, REFUSED[says])
