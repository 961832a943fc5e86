"""A function in an interpreter of its own: its result comes back, what it breaks stays there."""

import pytest

from helpers import run_apart
from helpers.capture import apart


def adds(a, b):
    import sys

    return {"sum": a + b, "numpy": "numpy" in sys.modules}


def prints_and_returns():
    print("something else")
    return [1, None]


def raises():
    raise ValueError("not today")


def dies():
    import os

    os._exit(3)


def test_result_comes_back_from_another_interpreter():
    assert run_apart(adds, 1, 2) == {"sum": 3, "numpy": False}


def test_what_it_prints_is_no_result():
    assert run_apart(prints_and_returns) == [1, None]


def test_its_error_is_told_in_one_line():
    with pytest.raises(RuntimeError, match="raises failed .*: ValueError: not today"):
        run_apart(raises)


def test_its_end_is_no_end_of_this_process():
    with pytest.raises(RuntimeError, match="dies failed .*: it ended with 3"):
        run_apart(dies)


@pytest.mark.parametrize("call", [(print,), (adds, object(), 1), (5,)])
def test_what_cannot_travel_is_refused(call):
    with pytest.raises(TypeError, match="run_apart needs a function written in Python"):
        run_apart(*call)


def waits():
    import threading

    threading.Event().wait()


def test_what_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(apart, "LONGEST", 1)
    with pytest.raises(RuntimeError, match="waits did not end within 1 seconds"):
        run_apart(waits)
