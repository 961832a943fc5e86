"""A signal handler of the program runs in the program's own lines, and what it raises is raised."""

import json
import os
import select
import signal
import time
from contextlib import contextmanager

import pytest

import helpers

pytestmark = pytest.mark.own_process

LONGEST = 20  # seconds that a run may take: a hang becomes a failure
SOON = 0.03  # seconds until the alarm
NOTED: list[str] = []


class Late(Exception):
    """Raised by the handlers of the programs."""


class Slow:
    """An object whose repr is code of a user, and takes long."""

    def __repr__(self):
        return str(sum(range(20_000)))


def raises(number, frame):
    raise Late(number)


def notes(number, frame):
    NOTED.append(frame.f_globals["__name__"].partition(".")[0])


@contextmanager
def alarm(handler, again: float = 0.0):
    """Have a handler hear an alarm in the block."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, SOON, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def inner(n):
    return [n, (n, {"n": n})]


def loops():
    n = 0
    while True:
        n += 1


def calls():
    while True:
        for each in range(3):
            abs(each)
        inner(1)


def makes_slow_values():
    while True:
        value = Slow()
        str(value)


def sleeps():
    time.sleep(3600)


def yields():
    while True:
        yield inner(1)


def runs_a_generator():
    for each in yields():
        inner(each)


ENDLESS = loops, calls, makes_slow_values, sleeps, runs_a_generator


def is_ended_by_an_alarm(endless):
    def body():
        with alarm(raises):
            endless()

    return body


def catches_an_alarm(endless):
    def body():
        try:
            with alarm(raises):
                endless()
        except Late as error:
            return f"caught {error}"

    return body


def is_ended_by_an_alarm_of_before(endless):
    signal.signal(signal.SIGALRM, raises)

    def body():
        signal.setitimer(signal.ITIMER_REAL, SOON)
        endless()

    return body


def hears_some_alarms(_):
    def body():
        with alarm(notes, 0.005):
            while len(NOTED) < 5:
                inner(1)
        return "in a verb" if "helpers" in NOTED else "not in a verb"

    return body


def is_told_by_itself(_):
    def body():
        before = signal.signal(signal.SIGUSR1, notes)
        signal.raise_signal(signal.SIGUSR1)
        here = len(NOTED)
        signal.signal(signal.SIGINT, raises)
        try:
            signal.raise_signal(signal.SIGINT)
        except Late as error:
            return f"{here} {error} {before}"

    return body


PROGRAMS = {(is_told_by_itself, loops), (hears_some_alarms, loops)}
PROGRAMS |= {(is_ended_by_an_alarm, one) for one in ENDLESS}
PROGRAMS |= {(catches_an_alarm, one) for one in ENDLESS}
PROGRAMS |= {(is_ended_by_an_alarm_of_before, one) for one in (loops, calls)}
PROGRAMS = sorted(PROGRAMS, key=lambda pair: f"{pair[0].__name__} {pair[1].__name__}")
VERBS = """
    watch_names watch_frames watch_stack watch_call watch_ops show_journey watch_hooked
"""


def outcome(call, body) -> str:
    """Return in words how a program ended, and what stands afterwards."""
    returned = []

    def run():
        returned.append(body())

    try:
        made = call(run)
        told = made.model.first.outcome if hasattr(made, "model") and not returned else ""
        # A verb that calls twice tells what was raised.
        ended = told.replace("Late:", "raised") or f"returned {returned[:1]}"
    except Late as error:
        ended = f"raised {error}"
    handlers = [signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGINT)]
    return f"{ended}, then {[getattr(one, '__qualname__', str(one)) for one in handlers]}"


def in_fork(run) -> str:
    """Return what `run` returns in a fork, or that it did not end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            try:
                said = run()
            except BaseException as error:
                said = f"broken by {type(error).__name__}: {error}"
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    is_ready = select.select([reading], [], [], LONGEST)[0]
    said = os.read(reading, 1 << 16) if is_ready else b'"it did not end"'
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(said)


@pytest.mark.parametrize("name", VERBS.split())
def test_a_handler_of_the_program_does_what_it_does_in_a_plain_run(name):
    verb = getattr(helpers, name)
    verb(lambda: 1)
    differing = {}
    for make, endless in PROGRAMS:
        plain = in_fork(lambda make=make, endless=endless: outcome(lambda fn: fn(), make(endless)))
        watched = in_fork(lambda make=make, endless=endless: outcome(verb, make(endless)))
        if plain != watched:
            differing[f"{make.__name__}({endless.__name__})"] = plain, watched
    assert differing == {}
