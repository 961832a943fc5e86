"""A journey counts as many frames, lines and steps as a tracer of the test's own does."""

import re
import sys
from dataclasses import dataclass

import pytest

from helpers import show_journey


def numbers(n):
    for i in range(n):  # noqa: UP028 - a generator that is resumed in the loop's body
        yield i


def a_loop(n):
    found = 0
    for i in range(n):
        found += i
    return found


def a_loop_on_one_line(n):
    while n:
        n -= 1  # noqa: E701
    return n


def a_generator_in_a_loop(n):
    return sum(numbers(n))


def a_generator_in_a_generator(n):
    def outer():
        yield from numbers(n)

    return list(outer())


def a_generator_expression(n):
    return sum(i * 2 for i in range(n))


def a_lambda_in_a_line(n):
    return sorted(range(n), key=lambda i: -i)


def a_closed_generator(n):
    found = numbers(n)
    next(found)
    found.close()
    return n


def a_generator_that_gets_an_error(n):
    found = numbers(n)
    next(found)
    try:
        found.throw(KeyError)
    except KeyError:
        return n


def an_error_before_the_start(n):
    try:
        numbers(n).throw(KeyError)
    except KeyError:
        return n


def new_generators_in_a_loop(n):
    return [next(numbers(i + 1)) for i in range(n)]


def a_recursion(n):
    return n and a_recursion(n - 1)


def a_call_on_several_lines(n):
    return [
        n,
        a_loop(n),
    ]


def coroutines(n):
    async def inner():
        return n

    async def outer():
        return await inner() + await inner()

    try:
        outer().send(None)
    except StopIteration as end:
        return end.value


def a_generator_from_before():
    going_on = numbers(10**6)
    next(going_on)

    def resumes_it(n):
        return [next(going_on) for _ in range(n)]

    return resumes_it


def dataclasses_of_the_module(n):
    @dataclass
    class Point:
        x: int
        y: int

    return [Point(i, i) == Point(i, n) for i in range(n)]


PROGRAMS = [
    a_loop,
    a_loop_on_one_line,
    a_generator_in_a_loop,
    a_generator_in_a_generator,
    a_generator_expression,
    a_lambda_in_a_line,
    a_closed_generator,
    a_generator_that_gets_an_error,
    an_error_before_the_start,
    new_generators_in_a_loop,
    a_recursion,
    a_call_on_several_lines,
    coroutines,
    a_generator_from_before(),
    dataclasses_of_the_module,
]


def counted_by_a_tracer(fn, n) -> tuple[int, int, int]:
    """Return how many frames, steps from line to line, and lines of this module a call has."""
    frames, steps = [], []  # a frame in the list stays alive, so no other one gets its id

    def note(frame, event, argument):
        if event == "line":
            code = frame.f_code
            file = id(code) if code.co_filename == "<string>" else code.co_filename
            steps.append((file, frame.f_lineno))
        return note

    def trace(frame, event, argument):
        if frame.f_globals is not globals():
            return None
        if all(frame is not one for one in frames):
            frames.append(frame)
        return note

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        fn(n)
    finally:
        sys.settrace(before)
    return len(frames), len(steps), len({*steps})


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_frames_and_lines_are_those_of_an_independent_tracer(fn):
    frames, steps, lines = counted_by_a_tracer(fn, 3)
    model = show_journey(fn, 3).model
    for passage in (model.first, model.again):
        assert (passage.count("frames"), passage.count("lines")) == (frames, steps)
        assert int(re.match(r"\d+", passage.ran)[0]) == lines
        words = passage.stop("frame").words
        assert words.startswith(f"{frames} frame") and f": {steps} line" in words


def compiled_step(way):
    import torch

    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)

    def forward(x):
        return torch.relu(x * weight)

    called = torch.compile(forward, backend="eager") if way == "its forward" else forward

    def step(x):
        optimizer.zero_grad()
        loss = (called(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return float(loss)

    return torch.compile(step, backend="eager") if way == "the step" else step


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["nothing", "its forward", "the step"])
def test_frames_of_dynamo_are_no_frames_of_yours_in_a_training_step(way):
    """Dynamo breaks the whole step into several resume functions: they are Dynamo's."""
    torch, dynamo = pytest.importorskip("torch"), pytest.importorskip("torch._dynamo")
    dynamo.reset()
    x, seen = torch.ones(3), []

    def note(frame, event, argument):
        if event == "call" and frame.f_globals is globals():
            seen.append(frame.f_code)

    step = compiled_step(way)
    step(x)
    sys.setprofile(note)
    try:
        step(x)
    finally:
        sys.setprofile(None)
    made = [code for code in seen if code in dynamo.convert_frame.output_codes]
    again = show_journey(step, x).model.again
    assert again.count("frames") == len(seen) - len(made)
    assert again.count("frames of Dynamo's") == len(made)
    assert (len(made), again.count("operators")) == {
        "nothing": (0, 2),
        "its forward": (1, 1),
        "the step": (len(seen), 0),
    }[way]


def test_calls_beyond_a_number_are_not_followed_and_that_is_said(monkeypatch):
    from email.message import Message

    from helpers.capture.frameworks import journey_recorder, journey_sentences, journey_stations

    def fills(n):
        message = Message()
        for number in range(n):
            message[f"name-{number}"] = "value"
        return len(message)

    whole = show_journey(fills, 20).model.first
    monkeypatch.setattr(journey_recorder, "MOST_FOLLOWED", 10)
    shown = show_journey(fills, 20)
    cut = shown.model.first
    assert cut.count("frames of others") == 10 < whole.count("frames of others")
    assert cut.count("lines") == whole.count("lines")
    assert cut.outcome == whole.outcome == ""
    assert journey_sentences.STOPPED.format(10) in shown.model.note
    from_calls = journey_stations.STATIONS_FROM_CALLS
    by_calls = [stop for stop in cut.stops if stop.station in from_calls]
    assert all(stop.words.endswith("not known") for stop in by_calls)
