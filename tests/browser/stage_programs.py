"""Small programs, each of which shows a stage something of another kind."""

import contextlib

from helpers.capture.cpython.frame_timeline import record_frames
from helpers.capture.cpython.stack_run import record_stack_run
from helpers.capture.references.name_timeline import record_names
from helpers.mini import vm

HOSTILE = "<img src=x onerror=\"document.title='owned'\"></script><script>document.title='owned'"


def expression(x, y):
    z = [x, y * 2]
    return abs(x - y) + len(z)


def loop(n):
    total = 0
    for i in range(n):
        if i % 2:
            continue
        total = total + i * i
        print(i, total)
    return total


def caught(items, i):
    try:
        return 100 + items[i]
    except IndexError as error:
        return str(error)


def squares(n):
    for i in range(n):
        yield i * i


def consume(n):
    found = 0
    for square in squares(n):
        found += square
    return found


def shared(n):
    def grow():
        nonlocal n
        n += 1
        return n

    with contextlib.suppress(KeyError):
        grow()
    return {key: [value, f"{value!r}"] for key, value in zip("ab", [grow(), grow()], strict=True)}


def wide(argument_with_a_long_name, another_argument_with_a_long_name, hostile=HOSTILE):
    the_result = (argument_with_a_long_name, another_argument_with_a_long_name, hostile, "a" * 90)
    return the_result, {"a key that is long": the_result}, "x" * 200, list(range(1000)), hostile


def names():
    def op():
        return "old"

    alias = op
    op = len
    print(alias(), op("new"))


MODELS = {
    "expression": lambda: record_stack_run(expression, 3, 10),
    "loop": lambda: record_stack_run(loop, 3),
    "caught": lambda: record_stack_run(caught, [], 0),
    "generator": lambda: record_stack_run(consume, 2),
    "shared": lambda: record_stack_run(shared, 3),
    "machine": lambda: record_stack_run(vm.Machine().run, caught, [], 0),
    "wide": lambda: record_stack_run(wide, "b" * 90, {HOSTILE: HOSTILE}),
    "frames": lambda: record_frames(consume, 2),
    "names": lambda: record_names(names),
}
