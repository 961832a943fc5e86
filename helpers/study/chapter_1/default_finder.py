"""Chapter 1, exercise 2: find one more kind of holder, the defaults of functions."""

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_attempt, require_items
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.observations import Raised


class EqualToAll:
    """Equal to everything, but identical to nothing else."""

    __hash__ = None

    def __eq__(self, other):
        return True


@contextmanager
def only_new_objects() -> Iterator[None]:
    """Make the collector list only what the block creates, not what frameworks created."""
    # Whoever has frozen objects must find them frozen afterwards, and unfreeze() frees all of them.
    freezes = not gc.get_freeze_count()
    if freezes:
        gc.collect(0)  # otherwise a collection soon could change the order
        gc.freeze()  # `gc.get_objects()` leaves out frozen objects
    try:
        yield
    finally:
        if freezes:
            gc.unfreeze()


def _find_in_defaults(obj) -> list[tuple[str, str]]:
    """Return the right answer: (function, parameter) of each default that is the object."""
    found = []
    for fn in gc.get_objects():
        if type(fn) is not FunctionType:
            continue
        for name, value in _list_defaults(fn):
            if value is obj:
                found.append((fn.__qualname__, name))
    return found


def _list_defaults(fn: FunctionType) -> list[tuple[str, object]]:
    """Return (parameter, default value) of each parameter that has a default."""
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    values = fn.__defaults__ or ()
    last_names = names[len(names) - len(values) :]
    keyword_defaults = fn.__kwdefaults__ or {}
    return [*zip(last_names, values, strict=True), *keyword_defaults.items()]


def _make_functions(wanted, other) -> list:
    """Return functions with defaults, and the two objects. Each function is easy to judge wrongly.

    `wanted` is the object whose holders are searched, `other` another object that is a default.
    """

    def twice(value, call=wanted, factor=other, again=wanted): ...

    def with_locals(value, call=wanted):
        later = again = value
        return later, again

    def decoy(value, call=EqualToAll(), again=[wanted]): ...  # noqa: B006, B008

    def empty(value, call=[]): ...  # noqa: B006 - equal to another empty list, but not identical

    def mixed(one, two, /, three, call=wanted, *rest, must, keyword_other=other, keyword=wanted):
        return rest, must

    @functools.wraps(twice)
    def renamed(value, call=wanted): ...

    renamed.__qualname__ = "renamed"  # wraps has copied the name of `twice`
    return list(locals().values())


def _run_finder(find: Callable) -> list[list[tuple[str, str]]]:
    """Return what an answer finds for three objects: two that are defaults, and one that is not."""
    with only_new_objects():
        wanted = object()
        other = []
        functions = _make_functions(wanted, other)
        found = [_require_pairs(find(obj)) for obj in (wanted, other, object())]
        del functions  # until here they had to be alive, so that the collector lists them
    return found


def _require_pairs(answer) -> list[tuple[str, str]]:
    """Return an answer's pairs, sorted and each one once; InvalidAnswer for anything else."""
    items = require_items(require_attempt(answer), limit=10_000, what="what it returns")
    for item in items:
        is_pair = isinstance(item, (tuple, list)) and len(item) == 2
        if not is_pair or not all(isinstance(text, str) for text in item):
            pair = "(fn.__qualname__, parameter's name)"
            raise InvalidAnswer(f"each item must be a pair of str, {pair}, not {short_repr(item)}")
    return sorted({tuple(item) for item in items})


def _advise_on_defaults(mine, real) -> str:
    """Return which default an answer misses or names wrongly, and what is special about it.

    `mine` and `real` are what `_run_finder` returned for the answer and the reference, or Raised.
    """
    if isinstance(mine, Raised):
        if "NoneType" in str(mine.error):
            return f"{mine.sentence}. fn.__defaults__ is None where there are none"
        return mine.sentence

    for found, places in zip(mine, real, strict=True):
        extra = [pair for pair in found if pair not in places]
        if extra:
            function, name = extra[0]
            return f"it names {_write_place(function, name)}, {_say_why_not(function, name)}"

        missed = [pair for pair in places if pair not in found]
        if missed:
            function, name = missed[0]
            sentence = f"it misses {_write_place(function, name)}"
            parameter = _find_parameter(function, name)
            if parameter is not None and parameter.kind is Parameter.KEYWORD_ONLY:
                return f"{sentence}. It is keyword-only, so its default is in fn.__kwdefaults__"
            return sentence
    return ""


def _find_parameter(function: str, name: str) -> Parameter | None:
    """Return a parameter of a test function, or None if it has none of that name."""
    for fn in _make_functions(object(), []):
        if isinstance(fn, FunctionType) and fn.__qualname__ == function:
            # wraps makes `signature` look at another function, whose parameters are not its own
            return signature(fn, follow_wrapped=False).parameters.get(name)
    return None


def _say_why_not(function: str, name: str) -> str:
    """Return why a pair that the answer names is wrong, as the end of a sentence."""
    if "<locals>" not in function:
        return "but that is the function's __name__. Return its __qualname__"
    parameter = _find_parameter(function, name)
    if parameter is None:
        return "but the function has no parameter of that name, only a local variable perhaps"
    if parameter.default is Parameter.empty:
        return "which has no default. Defaults belong to the last parameters"
    if isinstance(parameter.default, EqualToAll) or parameter.default == []:
        return "whose default is not the object, but an object that can equal it"
    return "whose default is not the object"


def _write_place(function: str, parameter: str) -> str:
    """Return a parameter in words; `function` is a qualname such as "f.<locals>.twice"."""
    _, _, name = function.rpartition(">.")
    return f"parameter {parameter!r} of the test function {name}()"


DEFAULT_FINDER_HINTS = (
    "Which functions are alive right now? gc.get_objects() lists the objects that the "
    "collector tracks, including functions.",
    "A function keeps its defaults in two places: __defaults__ (a tuple or None) and "
    "__kwdefaults__ (a dict or None).",
    "__defaults__ belongs to the LAST parameters. With names = fn.__code__.co_varnames"
    "[:fn.__code__.co_argcount], pair names[len(names) - len(values):] with the values.",
)


@exercise(*DEFAULT_FINDER_HINTS)
def default_finder(find_in_defaults: Callable):
    """You found every default of the test, positional and keyword-only, by identity alone."""
    case = JudgedCase("on functions made for the test", _run_finder, _advise_on_defaults)
    return find_difference(find_in_defaults, _find_in_defaults, [case])
