"""Chapter 1, exercise 2: find one more kind of holder, the defaults of functions."""

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Case, Raised, find_difference, in_order


class Equal:
    """Equal to everything, but identical to nothing else."""

    __hash__ = None

    def __eq__(self, other):
        return True


@contextmanager
def only_new_objects() -> Iterator[None]:
    """Make the collector list only what the block creates, not what frameworks created."""
    ours = not gc.get_freeze_count()  # otherwise someone else has frozen objects; leave them frozen
    if ours:
        gc.collect(0)  # otherwise a collection soon could change the order
        gc.freeze()
    try:
        yield
    finally:
        if ours:
            gc.unfreeze()


def _reference(obj):
    found = []
    for fn in gc.get_objects():
        if type(fn) is FunctionType:
            names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
            values = fn.__defaults__ or ()
            pairs = zip(names[len(names) - len(values) :], values, strict=True)
            pairs = [*pairs, *(fn.__kwdefaults__ or {}).items()]
            found += [(fn.__qualname__, name) for name, value in pairs if value is obj]
    return found


def _make_functions(wanted, other) -> list:
    def twice(value, call=wanted, factor=other, again=wanted): ...

    def with_locals(value, call=wanted):
        later = again = value
        return later, again

    def decoy(value, call=Equal(), again=[wanted]): ...  # noqa: B006, B008

    def empty(value, call=[]): ...  # noqa: B006 - equal to another empty list, but not identical

    def mixed(one, two, /, three, call=wanted, *rest, must, keyword_other=other, keyword=wanted):
        return rest, must

    @functools.wraps(twice)
    def renamed(value, call=wanted): ...

    renamed.__qualname__ = "renamed"
    return list(locals().values())


def _search(find) -> list:
    with only_new_objects():
        wanted, other = object(), []
        kept = _make_functions(wanted, other)
        found = [_pairs(find(obj)) for obj in (wanted, other, object())]
        del kept
    return found


def _pairs(found) -> list[tuple[str, str]]:
    found = in_order(tried(found), 10_000, "what it returns")
    for thing in found:
        is_pair = isinstance(thing, (tuple, list)) and len(thing) == 2
        if not is_pair or not all(isinstance(text, str) for text in thing):
            pair = "(fn.__qualname__, parameter's name)"
            raise InvalidAnswer(f"each item must be a pair of str, {pair}, not {short_repr(thing)}")
    return sorted({tuple(pair) for pair in found})


def _advise(mine, real) -> str:
    if isinstance(mine, Raised):
        is_none = "NoneType" in str(mine.error)
        return mine.sentence + ". fn.__defaults__ is None where there are none" * is_none
    for found, places in zip(mine, real, strict=True):
        if extra := [pair for pair in found if pair not in places]:
            return f"it names {_place(*extra[0])}, {_say_why_not(*extra[0])}"
        if missed := [pair for pair in places if pair not in found]:
            function, parameter = missed[0]
            asked = _parameter(function, parameter)
            is_keyword = asked is not None and asked.kind is Parameter.KEYWORD_ONLY
            words = ". It is keyword-only, so its default is in fn.__kwdefaults__"
            return f"it misses {_place(function, parameter)}{words * is_keyword}"
    return ""


def _parameter(function: str, name: str) -> Parameter | None:
    """Return a parameter of a test function, or None if it has none of that name."""
    made = [each for each in _make_functions(object(), []) if isinstance(each, FunctionType)]
    functions = {each.__qualname__: each for each in made}
    asked = functions.get(function)
    # wraps makes `signature` look at another function, whose parameters are not its own
    return signature(asked, follow_wrapped=False).parameters.get(name) if asked else None


def _say_why_not(function: str, name: str) -> str:
    """Return what is wrong with an item of the answer, as the test functions show it."""
    if "<locals>" not in function:
        return "but that is the function's __name__. Return its __qualname__"
    asked = _parameter(function, name)
    if asked is None:
        return "but the function has no parameter of that name, only a local variable perhaps"
    if asked.default is Parameter.empty:
        return "which has no default. Defaults belong to the last parameters"
    if isinstance(asked.default, Equal) or asked.default == []:
        return "whose default is not the object, but an object that can equal it"
    return "whose default is not the object"


def _place(function: str, parameter: str) -> str:
    return f"parameter {parameter!r} of the test function {function.rpartition('>.')[2]}()"


@exercise(
    "Which functions are alive right now? gc.get_objects() lists the objects that the "
    "collector tracks, including functions.",
    "A function keeps its defaults in two places: __defaults__ (a tuple or None) and "
    "__kwdefaults__ (a dict or None).",
    "__defaults__ belongs to the LAST parameters. With names = fn.__code__.co_varnames"
    "[:fn.__code__.co_argcount], pair names[len(names) - len(values):] with the values.",
)
def default_finder(find_in_defaults: Callable):
    """You found every default of the test, positional and keyword-only, by identity alone."""
    case = Case("on functions made for the test", _search, _advise)
    return find_difference(find_in_defaults, _reference, [case])
