"""What is being done is said in words while it lasts, and no longer."""

import pytest

from helpers.safety import progress


@pytest.fixture(autouse=True)
def silence():
    progress.say("")
    yield
    progress.say("")


def test_block_says_what_it_does_and_then_what_was_said_before():
    with progress.doing("outside"):
        with progress.doing("inside"):
            assert progress.said() == "inside"
        assert progress.said() == "outside"
    assert progress.said() == ""


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_block_that_raises_says_no_more(error):
    with pytest.raises(error), progress.doing("this"):
        raise error
    assert progress.said() == ""


def test_items_are_counted():
    heard = [(item, progress.said()) for item in progress.counted("call", iter("ab"))]
    assert heard == [("a", "call 1 of 2"), ("b", "call 2 of 2")]
    assert progress.said() == ""


def test_count_ends_with_a_loop_that_is_left():
    with pytest.raises(ValueError):
        for _ in progress.counted("call", "ab"):
            raise ValueError
    assert progress.said() == ""


def test_nothing_is_printed(capfd):
    with progress.doing("this"):
        list(progress.counted("call", "ab"))
    assert capfd.readouterr() == ("", "")
