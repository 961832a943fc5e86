"""Chapter 1, exercise 2: find one more kind of holder, judged on functions made for it."""

from itertools import islice

from helpers.capture.text.error import said
from helpers.study.check import Exercise, tried

MOST = 10_000


class Equal:
    """Equal to everything, and the same as nothing: tells `is` from `==`."""

    def __eq__(self, other):
        return True

    __hash__ = None


def _scene():
    """Return an object, functions that hold it as a default, and the places to be found."""

    def wanted():
        return None

    def first(value, call=wanted):
        return call

    def keyword_only(value, *, call=wanted):
        return call

    def twice(value, call=wanted, factor=2, again=wanted):
        return call

    def decoy(value, call=Equal()):  # noqa: B008 - one instance is what is wanted
        return call

    functions = (first, keyword_only, twice, decoy)
    places = [(first, "call"), (keyword_only, "call"), (twice, "call"), (twice, "again")]
    return wanted, functions, {(fn.__qualname__, name) for fn, name in places}


def _judge_finder(find_in_defaults):
    wanted, functions, places = _scene()
    try:
        found = tried(find_in_defaults(wanted))
    except (RuntimeError, TypeError, ValueError) as error:
        return f"your code raised {said(error)}; if that came from ==, compare with `is` instead"
    try:
        found = list(islice(found, MOST + 1))
    except TypeError:
        return "it must return a list of (function's __qualname__, parameter's name) pairs"
    if len(found) > MOST:
        return f"it gives more than {MOST:,} pairs, which are more than there can be here"
    if not all(type(f) is tuple and len(f) == 2 and {*map(type, f)} == {str} for f in found):
        return "each thing found must be a pair of str: (fn.__qualname__, parameter's name)"
    found = set(found)
    decoys = {place for place in found if "decoy" in place[0]}
    if decoys:
        return "it found a default that is only equal to the object; compare with `is`, not `==`"
    missed, extra = places - found, found - places
    if extra:
        return (
            f"it names {_place(extra)}, which does not hold the object; "
            "defaults belong to the last parameters"
        )
    if missed and all("keyword_only" in place[0] for place in missed):
        return "it misses keyword-only parameters; their defaults are in fn.__kwdefaults__"
    if missed:
        return f"it misses {_place(missed)}"
    return None


def _place(places) -> str:
    function, parameter = min(places)
    return f"parameter {parameter!r} of the test function {function.rpartition('.')[2]}()"


FINDER = Exercise(
    "default_finder",
    _judge_finder,
    "Every default in this process is covered: positional, keyword-only, and only by identity.",
    (
        "Which functions are alive right now? gc.get_objects() lists every object that can hold "
        "references.",
        "A function keeps its defaults in two places: __defaults__ (a tuple or None) and "
        "__kwdefaults__ (a dict or None).",
        "__defaults__ belongs to the LAST parameters: with names = fn.__code__.co_varnames"
        "[:fn.__code__.co_argcount], pair names[len(names) - len(values):] with the values.",
    ),
)
