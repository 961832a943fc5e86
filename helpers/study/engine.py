"""A learner's answer and the reference, run on the same cases -> the first difference, in words."""

import ast
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import islice

from helpers.capture.text.error import error_message
from helpers.capture.text.value import short_repr
from helpers.study.check import (
    InvalidAnswer,
    NotAttempted,
    describe_difference,
    prefix_reason,
    tried,
    where_raised,
)

NEAR = 1e-5  # how far results may differ, relative to the right one, or to 1 if that is smaller
KINDS = "biufc"  # of arrays of numbers
MOST_SHOWN = 300  # characters of a result


class Lazy:
    """A framework that is imported when you use one of its names."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str):
        return getattr(import_module(self._name), name)


np, tf, torch = map(Lazy, ("numpy", "tensorflow", "torch"))


# One thing to try: `run(answer)` returns what is observed, as plain data. `shows` describes the
# case and begins the message. `advice` is added to a difference, or `advice(mine, real)` returns
# text instead of the two results, or nothing if they suffice.
Case = namedtuple("Case", "shows run advice", defaults=("",))


def make_cases(run: Callable, rows: Iterable[tuple], advice="") -> list[Case]:
    """Return a case per row: its description, and the arguments of `run` before the answer."""
    return [Case(shows, partial(run, *given), advice) for shows, *given in rows]


class RaisedByCheck(BaseException):
    """An error that a judge raises inside a learner's block, like that of Ctrl-C."""


@dataclass(frozen=True)
class Raised:
    """An observation: the case raised this kind of error. Message and line do not matter."""

    kind: type[BaseException]
    error: BaseException = field(compare=False, repr=False)

    def __str__(self):
        return f"raises {error_message(self.error)}{where_raised(self.error)}"

    @property
    def sentence(self) -> str:
        """Return the message for an answer if there is nothing else to say."""
        return f"your code raised{str(self)[6:]}"


def observe(run: Callable, answer) -> object:
    """Return what a case shows of an answer. An Exception is an observation, too."""
    try:
        return tried(run(answer))
    except (NotAttempted, InvalidAnswer):
        raise
    except Exception as error:
        return Raised(type(error), error)


def same_result(mine, real, near: float = NEAR) -> bool:
    """Return whether two results agree: numbers and arrays of any library nearly, others by ==.

    It raises nothing. An answer can return anything, and what cannot be compared does not agree.

    Args:
        mine: What the answer gave.
        real: What the reference gave. Its type decides how the two are compared.
        near: How far numbers may differ, relative to the right one, or to 1 if that is smaller.

    Example:
        >>> same_result([1, None], (1.0000001, None)), same_result(None, [1.0])
        (True, False)
    """
    try:
        return _agree(mine, real, near)
    except Exception:  # from a method of the learner's object, such as its keys, items or ==
        return False


def _agree(mine, real, near: float) -> bool:
    if isinstance(real, Mapping):
        same_keys = isinstance(mine, Mapping) and mine.keys() == real.keys()
        return same_keys and all(_agree(mine[key], real[key], near) for key in real)
    if isinstance(real, list | tuple):
        same_length = isinstance(mine, list | tuple) and len(mine) == len(real)
        return same_length and all(map(partial(_agree, near=near), mine, real))
    if isinstance(real, bool):
        return type(mine).__name__ in ("bool", "bool_") and bool(mine) is real
    if isinstance(real, str | bytes | type | Raised | None):
        return type(plain_text(mine)) is type(real) and mine == real
    array, right = numbers(mine), numbers(real)
    if right is None:
        return _are_equal(mine, real)
    if array is None or array.shape != right.shape:
        return False
    return bool(np.allclose(array, right, near, near, equal_nan=True))


def _are_equal(mine, real) -> bool:
    """Return whether `mine == real`, of all their items if == gives an answer for each."""
    if mine is real:
        return True
    if isinstance(mine, Raised):
        return False
    if hasattr(real, "equals"):  # a data frame, in which nan equals nan
        return bool(real.equals(mine))
    if hasattr(real, "to_list"):  # a ragged tensor
        return _agree(mine.to_list(), real.to_list(), NEAR)
    answer = mine == real
    if isinstance(answer, bool):
        return answer
    shapes = [getattr(each, "shape", None) for each in (mine, real)]
    return shapes[0] == shapes[1] and bool(np.all(np.asarray(answer)))


def numbers(value):
    """Return a number, array or tensor of any library as a numpy array, else None."""
    try:
        array = np.asarray(_dense(value) if hasattr(value, "detach") else value)
        if array.dtype.name.startswith(("bfloat", "float8")):
            array = array.astype(np.float64)
        if array.dtype.kind not in KINDS:
            return None
        return array.astype(np.result_type(array, np.float64))
    except Exception:  # a learner's object may raise anything
        return None


def _dense(tensor):
    """Return torch's tensor in the form that numpy reads: on the CPU, of a dtype that numpy has."""
    tensor = tensor.detach().cpu().to_dense().resolve_conj().resolve_neg()
    return tensor.double() if tensor.dtype == torch.bfloat16 else tensor


def find_difference(
    answer,
    reference,
    cases: Iterable[Case],
    who: str = "the reference",
    same: Callable[[object, object], bool] = same_result,
) -> str | None:
    """Return the first case in which an answer and the reference differ, in words, or None."""
    for case in cases:
        mine, real = observe(case.run, answer), observe(case.run, reference)
        if not same(mine, real):
            made = callable(case.advice) and case.advice(mine, real)
            words = made or _say_both(mine, real, who, "" if callable(case.advice) else case.advice)
            return prefix_reason(f"{case.shows}: ", words)
    return None


def _say_both(mine, real, who: str, advice: str | None) -> str:
    pair = parts_apart(mine, real)
    both = [str(one) if isinstance(one, Raised) else f"gives {describe(one)}" for one in pair]
    place = item_most_apart(*pair) if hasattr(pair[1], "shape") else None
    if place is not None:
        both = [f"gives {numbers(one)[place]:.9g} at {[*place]}" for one in pair]
    return describe_difference("", *both, who, f"; {advice}" if advice else "")


def item_most_apart(mine, real) -> tuple | None:
    """Return the place at which two arrays of one shape differ most, or None for all else."""
    array, right = numbers(mine), numbers(real)
    if array is None or right is None or array.shape != right.shape or not array.shape:
        return None
    far = np.abs(array - right) / np.maximum(1, np.abs(right))
    far = np.where(
        np.isclose(array, right, 0, 0, equal_nan=True), 0, np.nan_to_num(far, nan=np.inf)
    )
    return tuple(map(int, np.unravel_index(far.argmax(), far.shape))) if far.any() else None


def parts_apart(mine, real) -> tuple:
    """Return the entries in which two dicts differ, and other results as they are."""
    if type(mine) is not dict or type(real) is not dict:
        return mine, real
    keys = [key for key in real if key not in mine or not same_result(mine[key], real[key])]
    keys = keys or [key for key in mine if key not in real]
    return tuple({key: seen[key] for key in keys if key in seen} for seen in (mine, real))


def advise_by_part(advice: Mapping[str, str], who: str = "the reference") -> Callable:
    """Return advice for a case that shows a dict: that of the first entry that differs."""

    def say(mine, real):
        if type(mine) is not dict or type(real) is not dict:
            return None
        words = next((advice[key] for key in parts_apart(mine, real)[1] if key in advice), "")
        return _say_both(mine, real, who, words)

    return say


def say_first_part(who: str = "the reference", advice: str = "") -> Callable:
    """Return advice for a case that shows a dict: the first entry that differs, in both."""

    def say(mine, real):
        if type(mine) is not dict or type(real) is not dict:
            return None
        mine, real = parts_apart(mine, real)
        part = next(iter({**real, **mine}))
        return prefix_reason(f"{part}: ", _say_both(mine.get(part), real.get(part), who, advice))

    return say


def describe(seen) -> str:
    """Return plain data in full if it is short, else its `short_repr`."""
    with suppress(Exception):  # raised unless the text contains only literals
        words = repr(seen)
        if len(words) <= MOST_SHOWN and ast.literal_eval(words) == seen:
            return words
    return short_repr(seen)


def check_guess(
    guess,
    truth: Mapping[str, object],
    why: Mapping[str, str] | Callable[[str, object], str],
    among: Sequence = (),
    plain: Callable = lambda value: value,
) -> str | None:
    """Return what is wrong with a guess per name, and why, or None if nothing is wrong.

    `truth`: name -> the result of running it. `among`: the possible guesses, normalised by `plain`.
    """
    guess = {name: plain(value) for name, value in by_name(guess, truth).items()}
    for name, value in guess.items():
        if among and not any(type(value) is type(one) and value == one for one in among):
            choices = ", ".join(map(repr, among))
            return f"the guess for {name} must be one of {choices}, not {short_repr(value)}"
    for name, value in guess.items():
        if not same_result(value, truth[name]):
            reason = why(name, value) if callable(why) else why[name]
            return f"{name} is {short_repr(truth[name])}, not {short_repr(value)}: {reason}"
    return None


def by_name(answer, names: Iterable[str], what: str = "the guess") -> dict:
    """Return an answer that has a value for each name, else raise InvalidAnswer."""
    names = list(names)
    must = f"{what} must be a dict with the keys {', '.join(names)}"
    if not isinstance(answer, Mapping):
        raise InvalidAnswer(f"{must}, not {short_repr(answer)}")
    given = dict(islice(answer.items(), len(names) + 1))
    if missing := [name for name in names if name not in given]:
        raise InvalidAnswer(f"{must}. {missing[0]!r} is missing")
    if extra := [name for name in given if name not in names]:
        raise InvalidAnswer(f"{must}. {short_repr(extra[0])} is not one of them")
    parts_tried(given)
    return {name: plain_text(given[name]) for name in names}


def plain_text(value):
    """Return any kind of text, such as numpy's or an enum's, as a plain str, all else as is."""
    return str.__str__(value) if isinstance(value, str) else value


def parts_tried(given: Mapping) -> None:
    """Raise NotAttempted with the names of the parts that are still `...`, if there are any."""
    left = [str(name) for name, value in given.items() if value is ...]
    if left:
        raise NotAttempted(", ".join(left) if len(left) < len(given) else "")


def in_order(answer, most: int, what: str = "the answer") -> list:
    """Return the items of a list, tuple, array, tensor …, else raise InvalidAnswer."""
    if isinstance(answer, (str, bytes, Mapping)) or not hasattr(type(answer), "__iter__"):
        raise InvalidAnswer(f"{what} must be a list, not {short_repr(answer)}")
    items = list(islice(iter(answer), most + 1))
    if len(items) > most:
        raise InvalidAnswer(f"{what} has more than {most:,} items, too many to be right")
    return items
