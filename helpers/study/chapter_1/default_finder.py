"""Chapter 1, exercise 2: find the functions that have an object as a default value. The answer is a
function of an object. It returns a pair (function's __qualname__, parameter's name) for each
default, of any living function, that is this object.
"""

import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_items, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference
from helpers.study.observations import Raised


class EqualToAll:
    """An object that is equal to everything. An answer that compares with `==` finds it wrongly."""

    __hash__ = None

    def __eq__(self, other):
        return True


@contextmanager
def only_new_objects() -> Iterator[None]:
    """Let `gc.get_objects()` list only objects that are created inside a `with` block.

    Without this, it would list the many objects of loaded frameworks as well. `gc.freeze()` hides
    those that exist.
    """
    # `gc.unfreeze()` releases all frozen objects. If the program has frozen some itself, they must
    # stay frozen, so then nothing is done.
    freezes = not gc.get_freeze_count()
    if freezes:
        gc.collect(0)  # a collection that is due soon would change the order of the list
        gc.freeze()
    try:
        yield
    finally:
        if freezes:
            gc.unfreeze()


def _find_in_defaults(obj) -> list[tuple[str, str]]:
    """Be the reference answer: return (function, parameter) of each default that is `obj`."""
    pairs = []
    for fn in gc.get_objects():
        if type(fn) is not FunctionType:
            continue
        for name, value in _list_defaults(fn):
            if value is obj:
                pairs.append((fn.__qualname__, name))
    return pairs


def _list_defaults(fn: FunctionType) -> list[tuple[str, object]]:
    """Return (parameter, default value) of each parameter that has a default."""
    names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
    values = fn.__defaults__ or ()  # of the last parameters
    last_names = names[len(names) - len(values) :]
    keyword_defaults = fn.__kwdefaults__ or {}
    return [*zip(last_names, values, strict=True), *keyword_defaults.items()]


def _make_functions(wanted, other) -> list:
    """Return a list of test functions, and of the two arguments.

    Each function has a default, or a local variable, that a careless answer judges wrongly.
    `wanted` is the object whose functions are searched, and `other` is another object.
    """

    # Two defaults of one function are the object, with a third one between them.
    def twice(value, call=wanted, factor=other, again=wanted): ...

    # `co_varnames` has the names of locals after those of the parameters.
    def with_locals(value, call=wanted):
        later = again = value
        return later, again

    # Equal to the object, or a list that contains it.
    def decoy(value, call=EqualToAll(), again=[wanted]): ...  # noqa: B006, B008

    def empty(value, call=[]): ...  # noqa: B006 - equal to another empty list, but not identical

    # All kinds of parameters. The keyword-only defaults are in `__kwdefaults__`.
    def mixed(one, two, /, three, call=wanted, *rest, must, keyword_other=other, keyword=wanted):
        return rest, must

    # `__wrapped__` leads to another function, whose defaults are not those of this one.
    @functools.wraps(twice)
    def renamed(value, call=wanted): ...

    renamed.__qualname__ = "renamed"  # wraps has copied the name of `twice`
    return list(locals().values())  # the functions above, and the two arguments


def _run_finder(find: Callable) -> list[list[tuple[str, str]]]:
    """Return the pairs that an answer finds for each of three objects.

    The first two are defaults of the test functions, the third is not.
    """
    with only_new_objects():
        wanted = object()
        other = []
        functions = _make_functions(wanted, other)
        pairs_by_object = [_require_pairs(find(obj)) for obj in (wanted, other, object())]
        del functions  # they had to live until here, so that `gc.get_objects()` lists them
    return pairs_by_object


def _require_pairs(answer) -> list[tuple[str, str]]:
    """Return the pairs of str that an answer returned, sorted and without duplicates.

    InvalidAnswer if it returned anything else.
    """
    items = require_items(require_no_stub(answer), limit=10_000, what="what it returns")
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

    for own_pairs, right_pairs in zip(mine, real, strict=True):
        extra = [pair for pair in own_pairs if pair not in right_pairs]
        if extra:
            function, name = extra[0]
            reason = _describe_wrong_pair(function, name)
            return f"it names {_describe_parameter(function, name)}, {reason}"

        missed = [pair for pair in right_pairs if pair not in own_pairs]
        if missed:
            function, name = missed[0]
            sentence = f"it misses {_describe_parameter(function, name)}"
            parameter = _find_parameter(function, name)
            if parameter is not None and parameter.kind is Parameter.KEYWORD_ONLY:
                return f"{sentence}. It is keyword-only, so its default is in fn.__kwdefaults__"
            return sentence
    return ""


def _find_parameter(function: str, name: str) -> Parameter | None:
    """Return the Parameter `name` of the test function with this qualname, or None."""
    for fn in _make_functions(object(), []):
        if isinstance(fn, FunctionType) and fn.__qualname__ == function:
            # Without this option, `signature` shows the parameters of the function in
            # `__wrapped__`.
            return signature(fn, follow_wrapped=False).parameters.get(name)
    return None


def _describe_wrong_pair(function: str, name: str) -> str:
    """Return why the pair (function, name) of an answer is wrong, as the end of a sentence."""
    if "<locals>" not in function:
        return "but that is the function's __name__. Return its __qualname__"
    parameter = _find_parameter(function, name)
    if parameter is None:
        return "but the function has no parameter of that name, only a local variable perhaps"
    if parameter.default is Parameter.empty:
        return "which has no default. Defaults belong to the last parameters"
    # The answer compares with `==` instead of `is`.
    if isinstance(parameter.default, EqualToAll) or parameter.default == []:
        return "whose default is not the object, but an object that can equal it"
    return "whose default is not the object"


def _describe_parameter(function: str, parameter: str) -> str:
    """Return a phrase for a parameter; `function` is a qualname such as "f.<locals>.twice"."""
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
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass.
    case = JudgedCase("on functions made for the test", _run_finder, _advise_on_defaults)
    return find_difference(find_in_defaults, _find_in_defaults, [case])
