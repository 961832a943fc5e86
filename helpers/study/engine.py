"""A learner's answer and the reference, run on the same cases -> the first difference, in words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from helpers.capture.text.value import short_repr
from helpers.study.answers import require_named_values
from helpers.study.observations import Raised, observe
from helpers.study.sameness import as_numbers, find_farthest_item, is_same_result
from helpers.study.sentences import describe_difference, describe_result, prefix_reason

#: A function of the answer's result and the reference's. It returns a sentence, or nothing.
Advice = Callable[[object, object], str | None]


@dataclass(frozen=True)
class JudgedCase:
    """One thing to try with an answer and with the reference."""

    #: The case in words, which begin the message.
    shows: str
    #: `run(answer)` returns what is observed, as plain data.
    run: Callable
    #: Text that is added to a difference. Or `advice(mine, real)` returns text instead of the two
    #: results, or nothing if they suffice.
    advice: str | Advice = ""


def make_cases(run: Callable, rows: Iterable[tuple], advice: str | Advice = "") -> list[JudgedCase]:
    """Return a case for each row: a description, and then the arguments of `run`.

    A case calls `run(*arguments, answer)`, once with the learner's answer and once with the
    reference.
    """
    return [JudgedCase(shows, partial(run, *arguments), advice) for shows, *arguments in rows]


def find_difference(
    answer,
    reference,
    cases: Iterable[JudgedCase],
    who: str = "the reference",
    same: Callable[[object, object], bool] = is_same_result,
) -> str | None:
    """Return the first case in which an answer and the reference differ, in words, or None.

    Parameters
    ----------
    answer, reference
        What each case's `run` is called with.
    cases
        The cases, in the order in which they are tried.
    who
        What the message calls the reference.
    same
        `same(mine, real)` returns whether two results agree.
    """
    for case in cases:
        mine = observe(case.run, answer)
        real = observe(case.run, reference)
        if not same(mine, real):
            reason = _advise_on_case(case.advice, mine, real, who)
            return prefix_reason(f"{case.shows}: ", reason)
    return None


def _advise_on_case(advice: str | Advice, mine, real, who: str) -> str:
    """Return the sentence on two results that differ, by a case's `advice`."""
    if not callable(advice):
        return _describe_both(mine, real, who, advice)
    return advice(mine, real) or _describe_both(mine, real, who, "")


def _describe_both(mine, real, who: str, advice: str | None) -> str:
    """Return a sentence with both results, and the advice if there is any.

    Of two dicts, it has the entries that differ; of two arrays, the item that differs most.
    """
    own_part, right_part = find_parts_apart(mine, real)
    place = None
    if hasattr(right_part, "shape"):
        place = find_farthest_item(own_part, right_part)

    after = f"; {advice}" if advice else ""
    own_text = _describe_observation(own_part, place)
    right_text = _describe_observation(right_part, place)
    return describe_difference("", own_text, right_text, who, after)


def _describe_observation(value, place: tuple | None) -> str:
    """Return a result in words, with its verb. Of an array, `place` is the index of one item."""
    if place is not None:
        return f"gives {as_numbers(value)[place]:.9g} at {list(place)}"
    if isinstance(value, Raised):
        return str(value)
    return f"gives {describe_result(value)}"


def find_parts_apart(mine, real) -> tuple:
    """Return the entries of two dicts that differ: of the answer's, and of the reference's.

    Results that are not both dicts are returned as they are.
    """
    if type(mine) is not dict or type(real) is not dict:
        return mine, real

    keys = []
    for key in real:
        if key not in mine or not is_same_result(mine[key], real[key]):
            keys.append(key)
    if not keys:  # all of the reference's entries agree, so the answer has more of them
        keys = [key for key in mine if key not in real]
    own_part = {key: mine[key] for key in keys if key in mine}
    right_part = {key: real[key] for key in keys if key in real}
    return own_part, right_part


def advise_by_part(advice: Mapping[str, str], who: str = "the reference") -> Advice:
    """Return the advice of a case whose results are dicts.

    It describes both results with a text of `advice`: that of the first entry that differs and has
    one.
    """

    def advise(mine, real):
        if type(mine) is not dict or type(real) is not dict:
            return None
        _, right_part = find_parts_apart(mine, real)
        text = next((advice[key] for key in right_part if key in advice), "")
        return _describe_both(mine, real, who, text)

    return advise


def advise_on_first_part(who: str = "the reference", advice: str = "") -> Advice:
    """Return the advice of a case whose results are dicts.

    It describes only the first entry that differs, with the text `advice` after it.
    """

    def advise(mine, real):
        if type(mine) is not dict or type(real) is not dict:
            return None
        own_part, right_part = find_parts_apart(mine, real)
        # The reference's order first. Its part is empty if the answer only has more entries.
        key = next(iter({**right_part, **own_part}))
        sentence = _describe_both(own_part.get(key), right_part.get(key), who, advice)
        return prefix_reason(f"{key}: ", sentence)

    return advise


def judge_guess(
    guess,
    truth: Mapping[str, object],
    why: Mapping[str, str] | Callable[[str, object], str],
    among: Sequence = (),
    plain: Callable = lambda value: value,
) -> str | None:
    """Return what is wrong with a guess per name, and why, or None if nothing is wrong.

    Parameters
    ----------
    guess
        The learner's answer, name -> value.
    truth
        Name -> the result of running it.
    why
        Name -> its reason, or a function of the name and the wrong value that returns it.
    among
        The possible values; empty if all are.
    plain
        What normalises a value before it is compared.
    """
    values = {}
    for name, value in require_named_values(guess, truth).items():
        values[name] = plain(value)

    for name, value in values.items():
        if among and not _is_among(value, among):
            choices = ", ".join(map(repr, among))
            return f"the guess for {name} must be one of {choices}, not {short_repr(value)}"

    for name, value in values.items():
        if not is_same_result(value, truth[name]):
            reason = why(name, value) if callable(why) else why[name]
            return f"{name} is {short_repr(truth[name])}, not {short_repr(value)}: {reason}"
    return None


def _is_among(value, choices: Sequence) -> bool:
    """Return whether a value is one of the choices, of the same type: 1 is not True."""
    return any(type(value) is type(choice) and value == choice for choice in choices)
