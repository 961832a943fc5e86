"""Whatever a learner hands over: its metaclass, its class and its names are never asked."""

import pytest

from helpers import predict, show_bytecode, show_names, show_table
from helpers.capture.references.holder_search import describe
from helpers.capture.references.places import label as key_label
from helpers.capture.text import value
from helpers.capture.text.error import said
from helpers.mini.vm import run
from helpers.safety import arguments


def _raises(*args):
    raise SystemExit("asked")


class Asked(type):
    """A metaclass that answers nothing."""

    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = __repr__ = _raises
    __name__ = property(_raises)


class Liar(type):
    """A metaclass that says yes to every comparison."""

    def __eq__(cls, other):
        return True

    __hash__ = type.__hash__


class Hostile(metaclass=Asked):
    """An object of such a class, which lies about it."""

    __class__ = property(_raises)
    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = _raises


class Lied(metaclass=Liar):
    """An object of a class that is equal to every other."""


MADE = {"Hostile": Hostile, "Lied": Lied}  # by name: pytest would ask the classes for theirs


@pytest.mark.parametrize("name", MADE)
def test_words_ask_no_metaclass(name):
    thing = MADE[name]()
    assert arguments.kind_of(thing) == arguments.shown(thing) == value.type_name(thing) == name
    assert value.label(thing) == name and value.detail(thing) == "instance"
    assert value.brief(thing) == f"{name} object" and not value.same_for_ever(thing)
    assert describe(thing).endswith(name) and key_label(thing) == f"[<{name}>]"


@pytest.mark.parametrize("name", MADE)
def test_kinds_are_told_by_the_real_type(name):
    thing = MADE[name]()
    assert arguments.is_a(thing, MADE[name]) and arguments.is_exactly(thing, int, MADE[name])
    assert not arguments.is_a(thing, int, str) and not arguments.is_exactly(thing, int, str)
    assert arguments.by_type({int: 1}, thing, 2) == 2 and arguments.by_type({int: 1}, 3) == 1
    assert arguments.is_a(True, int) and not arguments.is_exactly(True, int)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "verb",
    [
        lambda thing: show_bytecode(thing),
        lambda thing: predict("q?", ["a", "b"], run=thing),
    ],
)
def test_refusal_is_one_sentence(verb, name):
    with pytest.raises((TypeError, ValueError), match=name) as raised:
        verb(MADE[name]())
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", MADE)
def test_what_holds_it_is_shown(name):
    thing = MADE[name]()
    assert name in repr(show_table("T", {"a": thing})) and name in repr(show_names("thing"))


@pytest.mark.parametrize("name", MADE)
def test_machine_asks_no_metaclass(name):
    thing = MADE[name]()
    assert run(lambda: thing is None) is False


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, BaseException, RecursionError])
def test_message_that_raises_is_said(error):
    class Mute(Exception):
        def __str__(self):
            raise error

    assert said(Mute()) == f"Mute (its message raised {error.__name__})"


@pytest.mark.parametrize("longest", [5, 40])
def test_text_is_printable_and_short(longest):
    found = arguments.printable("a\x1b[31m\u202e" * 30, longest)
    assert found.isprintable() and arguments.printable("plain") == "plain"
    assert value.plain("\x00") == "\\x00"
