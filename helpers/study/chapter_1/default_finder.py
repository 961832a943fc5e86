"""Chapter 1, exercise 2: find one more kind of holder, judged on functions made for it."""

from collections.abc import Callable
from inspect import Parameter, signature

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.study.answers import in_order
from helpers.study.chapter_1.scattered_defaults import Scattered
from helpers.study.chapter_1.stand_ins import Sour, stand_in
from helpers.study.check import Exercise, tried
from helpers.study.new_objects import only_new_objects

MOST = 10_000
PAIR = "(fn.__qualname__, parameter's name)"
IS = "compare with `is`, not `==`"


def _judge_finder(find_in_defaults: Callable):
    with only_new_objects():

        def eldest(value, call=None):  # the first function that the collector lists
            return value

        for wanted, other in ((Sour(), stand_in("other")), (stand_in("op"), [])):
            scattered = Scattered(wanted, other, eldest)
            because = (
                _parted(find_in_defaults, wanted, scattered)
                or _parted(find_in_defaults, other, scattered)
                or _parted(find_in_defaults, stand_in("held by nobody"), scattered)
            )
            if because:
                return because
    wanted = stand_in("op")
    return _parted(find_in_defaults, wanted, Scattered(wanted, stand_in("other"), eldest))


def _parted(find_in_defaults, wanted, scattered) -> str | None:
    """Return where the pairs that are found part from those that there are, if they do."""
    try:
        found = in_order(tried(find_in_defaults(wanted)), MOST, "what it returns")
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        if scattered.compared(wanted):
            return f"your code raised {said(error)}, and it compares by ==; {IS}"
        raise
    if odd := [brief(thing) for thing in found if not _is_pair(thing)]:
        return f"each item must be a pair of str, {PAIR}, not {odd[0]}"
    found, places = set(map(tuple, found)), scattered.places(wanted)
    if found != places and scattered.compared(wanted):
        return f"it finds defaults that are only equal to the object; {IS}"
    if extra := found - places:
        return _too_much(min(extra), scattered)
    return _too_little(places - found)


def _is_pair(thing) -> bool:
    return (
        issubclass(type(thing), (tuple, list))
        and len(thing) == 2
        and all(issubclass(type(text), str) for text in thing)
    )


def _too_much(place, scattered) -> str:
    function, parameter = place
    ours = scattered.named(function)
    if ours is None:
        return (
            f"it names {brief(function)}, and no function of the test has this __qualname__"
            if not scattered.plainly_named(function)
            else f"it names {function!r}, which is a __name__; give the function's __qualname__"
        )
    if parameter not in ours.__code__.co_varnames[: _parameters(ours)]:
        return f"it names {parameter!r}, which is no parameter of the test function {_short(ours)}"
    default = signature(ours).parameters[parameter].default
    if default is Parameter.empty:
        named = parameter in ours.__code__.co_varnames[ours.__code__.co_argcount :]
        whose = (
            "__kwdefaults__ names those that do" if named else "they belong to the last parameters"
        )
        return f"it names {_place(place)}, which has no default; {whose}"
    return f"it names {_place(place)}, whose default is {brief(default)}, not the object"


def _parameters(function) -> int:
    return function.__code__.co_argcount + function.__code__.co_kwonlyargcount


def _too_little(missed) -> str | None:
    if missed and all(parameter.startswith("keyword") for _, parameter in missed):
        return "it misses keyword-only parameters; their defaults are in fn.__kwdefaults__"
    return f"it misses {_place(min(missed))}" if missed else None


def _place(place) -> str:
    function, parameter = place
    return f"parameter {parameter!r} of the test function {function.rpartition('>.')[2]}()"


def _short(function) -> str:
    return f"{function.__qualname__.rpartition('>.')[2]}()"


DEFAULT_FINDER = Exercise(
    "default_finder",
    _judge_finder,
    "Every default of the test was found, positional and keyword-only, by identity alone.",
    (
        "Which functions are alive right now? gc.get_objects() lists the objects that the "
        "collector tracks, functions among them.",
        "A function keeps its defaults in two places: __defaults__ (a tuple or None) and "
        "__kwdefaults__ (a dict or None).",
        "__defaults__ belongs to the LAST parameters: with names = fn.__code__.co_varnames"
        "[:fn.__code__.co_argcount], pair names[len(names) - len(values):] with the values.",
    ),
)
