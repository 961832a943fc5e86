"""An error in a recorder's own code is collected, and the user's call goes on."""

from contextlib import contextmanager

from helpers.safety.bookkeeping import Bookkeeping


def fail(*_):
    raise ValueError("a mistake of a recorder")


def test_an_error_is_collected_and_the_default_returned():
    book = Bookkeeping()
    assert book.attempt(max, 1, 2) == 2 and book.lost == []
    assert book.attempt(fail, 1, default=7) == 7
    assert [type(error) for error in book.lost] == [ValueError]


def test_what_was_entered_is_left_in_reverse_order_also_after_an_error():
    events = []

    @contextmanager
    def noting(name):
        events.append(f"enter {name}")
        yield name
        events.append(f"leave {name}")

    book = Bookkeeping()
    assert book.open(noting, "a") == "a" and book.open(fail, default="none") == "none"
    assert book.open(noting, "b") == "b"
    book.close()
    assert events == ["enter a", "enter b", "leave b", "leave a"] and len(book.lost) == 1


def test_an_error_at_the_end_of_a_block_is_collected():
    @contextmanager
    def failing_at_its_end():
        yield
        fail()

    book = Bookkeeping()
    book.open(failing_at_its_end)
    book.close()
    assert [type(error) for error in book.lost] == [ValueError]
