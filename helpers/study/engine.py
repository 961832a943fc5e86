"""Compare a learner's answer with a reference solution, case by case, and describe the difference.
A *case* runs the answer once and the reference once, with the same arguments. The message is about
the first case whose results differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from helpers.capture.text.value import short_repr
from helpers.study.answers import require_named_values
from helpers.study.observations import Raised, observe
from helpers.study.sameness import as_numbers, find_farthest_item, is_same_result
from helpers.study.sentences import describe_difference, describe_result, prefix_reason

#: `advice(own_result, right_result)` gets the two results of a case that differ. It returns a
#: sentence to show for this mistake, or None if it has nothing to say.
Advice = Callable[[object, object], str | None]


@dataclass(frozen=True)
class JudgedCase:
    """One thing to try with the learner's answer and with the reference."""

    #: The beginning of the message, such as "for 3 and 1".
    shows: str
    #: `run(answer)` runs an answer, or the reference, and returns the result to compare.
    run: Callable
    #: A text is added to the message, after the two results. A function returns the message that
    #: replaces the two results, or None to show them.
    advice: str | Advice = ""


def make_cases(run: Callable, rows: Iterable[tuple], advice: str | Advice = "") -> list[JudgedCase]:
    """Return a case for each row, which is a tuple (description, *arguments of `run`).

    A case calls `run(*arguments, answer)`, once with the learner's answer and once with the
    reference.
    """
    cases = []
    for description, *arguments in rows:
        cases.append(JudgedCase(description, partial(run, *arguments), advice))
    return cases


def find_difference(
    answer,
    reference,
    cases: Iterable[JudgedCase],
    who: str = "the reference",
    same: Callable[[object, object], bool] = is_same_result,
) -> str | None:
    """Return a message on the first case in which an answer and the reference differ, or None.

    An error that the answer or the reference raises is a result, too.

    Parameters
    ----------
    answer
        The learner's answer. The `run` of each case is called with it.
    reference
        The right answer. The `run` of each case is also called with it.
    cases
        The cases, in the order in which they are tried.
    who
        What the message calls the reference.
    same
        `same(own_result, right_result)` returns whether two results agree.
    """
    for case in cases:
        own_result = observe(case.run, answer)
        right_result = observe(case.run, reference)
        if not same(own_result, right_result):
            reason = _advise_on_case(case.advice, own_result, right_result, who)
            return prefix_reason(f"{case.shows}: ", reason)
    return None


def _advise_on_case(advice: str | Advice, own_result, right_result, who: str) -> str:
    """Return the message on two results that differ. `advice` is as in `JudgedCase`."""
    if not callable(advice):
        return _describe_both(own_result, right_result, who, advice)
    return advice(own_result, right_result) or _describe_both(own_result, right_result, who, "")


def _describe_both(own_result, right_result, who: str, advice: str | None) -> str:
    """Return "yours gives 2, <who> gives 4; <advice>" for the two results of a case.

    If the results are dicts, only the entries that differ are shown. If they are arrays, only the
    item that differs most is shown.
    """
    own_part, right_part = select_differing_entries(own_result, right_result)
    index = None  # of one item of two arrays
    if hasattr(right_part, "shape"):
        index = find_farthest_item(own_part, right_part)

    after = f"; {advice}" if advice else ""
    own_text = _describe_observation(own_part, index)
    right_text = _describe_observation(right_part, index)
    return describe_difference("", own_text, right_text, who, after)


def _describe_observation(value, index: tuple | None) -> str:
    """Return a result with a verb: "gives 3", "gives 3.5 at [0, 1]" or "raises ValueError: …".

    `value` may be `observations.Raised`, which stands for an error. `index` is the place of the
    item to show if `value` is an array, else None.
    """
    if index is not None:
        return f"gives {as_numbers(value)[index]:.9g} at {list(index)}"
    if isinstance(value, Raised):
        return str(value)
    return f"gives {describe_result(value)}"


def select_differing_entries(own_result, right_result) -> tuple:
    """Return (own part, right part): of two dicts, only the entries that differ.

    The own part is from `own_result`, and the right part from `right_result`. An entry that one
    dict lacks is in the other part only. If the results are not both dicts, return them unchanged.
    """
    if type(own_result) is not dict or type(right_result) is not dict:
        return own_result, right_result

    keys = []
    for key in right_result:
        if key not in own_result or not is_same_result(own_result[key], right_result[key]):
            keys.append(key)
    if not keys:  # all entries of the reference agree, so the answer has further ones
        keys = [key for key in own_result if key not in right_result]
    own_part = {key: own_result[key] for key in keys if key in own_result}
    right_part = {key: right_result[key] for key in keys if key in right_result}
    return own_part, right_part


def advise_by_part(advice: Mapping[str, str], who: str = "the reference") -> Advice:
    """Return the advice function for a case whose results are dicts.

    `advice` is key -> text. The function returns a message with both results, and with the text of
    the first key whose entries differ. `who` is what the message calls the reference.
    """

    def advise(own_result, right_result):
        """Return the message; None if the results are not both dicts."""
        if type(own_result) is not dict or type(right_result) is not dict:
            return None
        _, right_part = select_differing_entries(own_result, right_result)
        text = next((advice[key] for key in right_part if key in advice), "")
        return _describe_both(own_result, right_result, who, text)

    return advise


def advise_on_first_part(who: str = "the reference", advice: str = "") -> Advice:
    """Return the advice function for a case whose results are dicts.

    The function returns a message on only the first entry that differs, which begins with its key
    and ends with the text `advice`. `who` is what the message calls the reference.
    """

    def advise(own_result, right_result):
        """Return the message; None if the results are not both dicts."""
        if type(own_result) is not dict or type(right_result) is not dict:
            return None
        own_part, right_part = select_differing_entries(own_result, right_result)
        # The first key of the reference. If all its entries agree, the first key that only the
        # answer has.
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
    """Judge a guess for each of some names. Return a sentence on the first wrong one, or None.

    Parameters
    ----------
    guess
        The learner's answer, name -> value.
    truth
        Name -> the right value, which was measured.
    why
        Name -> the reason of the right value. Or `why(name, value)` returns the reason, given the
        learner's wrong value.
    among
        The values that a learner may choose from; empty if any value is possible.
    plain
        `plain(value)` returns the learner's value in the form that is compared.

    Raises
    ------
    InvalidAnswer, NotAttempted
        The guess is not a dict with these names, or has stubs.
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
    """Return whether a value is equal to a choice of the same type. So 1 is not True."""
    return any(type(value) is type(choice) and value == choice for choice in choices)
