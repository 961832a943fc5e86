"""A system call that no signal is to interrupt is not interrupted in a verb, nor after it."""

import ctypes
import os
import signal
import threading

import pytest

from helpers import show_journey, watch_call, watch_frames, watch_names, watch_stack
from helpers.safety.limits import Limits, enforce_limits

pytestmark = [
    pytest.mark.own_process,
    pytest.mark.skipif(not hasattr(signal, "siginterrupt"), reason="Windows has no siginterrupt"),
]
SOON, LATER = 0.03, 0.12  # seconds until the signal, and until there is something to read
TRIES = 8  # on a busy machine the signal may come before the read waits; then once more, slower
NUMBERS = [getattr(signal, name) for name in ("SIGINT", "SIGUSR1") if hasattr(signal, name)]


def _ends_a_read(number: int, patience: float) -> bool:
    """Return whether the signal ends a read of C: Python's own would begin again."""
    received, sent = os.pipe()
    main, buffer = threading.get_ident(), ctypes.create_string_buffer(1)
    timers = [
        threading.Timer(SOON * patience, signal.pthread_kill, (main, number)),
        threading.Timer(LATER * patience, os.write, (sent, b"x")),
    ]
    for timer in timers:
        timer.start()
    count = ctypes.CDLL(None).read(received, buffer, 1)
    for timer in timers:
        timer.join()
    os.close(received), os.close(sent)
    return count == -1


def _reads_until_one_ends(number: int, tries: int) -> list[bool]:
    """Return of each read whether the signal ended it; each sends the signal once."""
    reads: list[bool] = []
    while len(reads) < tries and not any(reads):
        reads.append(_ends_a_read(number, patience=1.5 ** len(reads)))
    return reads


def _in_limits(fn, *args):
    with enforce_limits(Limits(seconds=20)):
        fn(*args)


def _in_limits_that_set_a_handler(fn, *args):
    with enforce_limits(Limits(seconds=20)):
        fn(*args)
        signal.signal(signal.SIGINT, signal.SIG_DFL)


VERBS = [
    watch_names,
    watch_stack,
    watch_frames,
    watch_call,
    show_journey,
    _in_limits,
    _in_limits_that_set_a_handler,
]


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("verb", VERBS)
def test_the_flag_of_siginterrupt_stays(verb, number, flag):
    heard, in_verb = [], []
    tries = TRIES if flag else 1

    def handler(number, frame):
        heard.append(number)

    before = signal.signal(number, handler)
    try:
        signal.siginterrupt(number, flag)
        verb(lambda: in_verb.append(_reads_until_one_ends(number, tries)))
        assert {any(reads) for reads in in_verb} == {flag}
        assert signal.getsignal(number) is handler
        afterwards = _reads_until_one_ends(number, tries)
        assert any(afterwards) == flag
        assert heard == [number] * sum(map(len, (*in_verb, afterwards)))
    finally:
        signal.signal(number, before)


def test_a_flag_that_the_body_sets_stays():
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        watch_names(lambda: signal.siginterrupt(signal.SIGINT, False))
        assert not any(_reads_until_one_ends(signal.SIGINT, tries=1))
        watch_names(lambda: signal.signal(signal.SIGINT, lambda number, frame: None) and None)
        assert any(_reads_until_one_ends(signal.SIGINT, TRIES))
    finally:
        signal.signal(signal.SIGINT, before)
