"""The program whose frames a learner's callback meets, and what comes of it.

Some of its functions run other code, some are replaced, some go on; one raises.
"""

from helpers.capture.text.error import said

# ruff: noqa: D103 - the functions say what they are by their names


def double(n):
    return n + n


def square(n):
    return n * n


def slow(n):
    return n - 1


def fail(n):
    raise KeyError(n)


def nothing():
    return "nothing"


def joined(a, b="b"):
    return f"{a}{b}"


def turned(a, b):
    return f"{b}{a}"


def idle():
    return "idle"


def _twin():
    def twin(n):
        return n + 100

    return twin


def _other_twin():
    def twin(n):
        return n + 200

    return twin


TWIN, OTHER_TWIN = _twin(), _other_twin()
WATCHED = (double, slow, fail, nothing, joined, idle, TWIN, OTHER_TWIN)
SLOW = slow.__code__


def codes() -> dict:
    """Return which code runs which other code."""
    return {double.__code__: square.__code__, joined.__code__: turned.__code__}


def of_another() -> tuple[dict, dict]:
    """Return codes and stand-ins that another callback is given."""
    return {idle.__code__: nothing.__code__}, {idle.__code__: lambda: "busy"}


def stand_ins(ran: list) -> dict:
    """Return which code is replaced by what; `ran` is told of each run of the first."""

    def stand_in(n):
        ran.append(n)
        return f"for {n}"

    return {
        slow.__code__: stand_in,
        TWIN.__code__: lambda n: None,
        nothing.__code__: lambda: "something",
    }


def run() -> list:
    """Return what the watched functions give, the last one as the exception that it raises."""
    results = [double(3), slow(3), double(5), TWIN(1), OTHER_TWIN(1)]
    results += [nothing(), idle(), joined("a"), joined(1, 2)]
    try:
        fail(7)
    except KeyError as error:
        results.append(said(error))
    return results


EXPECTED = [9, "for 3", 25, None, 201, "something", "idle", "ba", "21", "KeyError: 7"]
SEEN = [
    *(("double", (3,)), ("slow", (3,)), ("double", (5,)), ("twin", (1,)), ("twin", (1,))),
    *(("nothing", ()), ("idle", ()), ("joined", ("a", "b")), ("joined", (1, 2)), ("fail", (7,))),
]
