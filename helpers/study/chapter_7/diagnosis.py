"""A learner's diagnosis of a program -> whether it is right, or a sentence on what is wrong. A
diagnosis has two parts. The *seams* are the places at which something intercepts a call: name,
frame, cache key and so on, the *stations* of the course's map. The *proof* are exhibits, of which
one has to show the cause at each right seam.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from helpers.capture.text.value import short_repr
from helpers.exhibit import Exhibit
from helpers.model.phrase import format_count
from helpers.model.spine import SPINE
from helpers.safety.arguments import real_isinstance, real_type_name
from helpers.study.answers import InvalidAnswer, NotAttempted

NONE = "none"  # also an answer: no seam is at fault
#: A seam in small letters -> its name as the course writes it.
SEAMS = {station.name.lower(): station.name for station in SPINE} | {NONE: NONE}
# Sentences for a wrong seam of which an exercise says nothing special.
NOBODY = "nothing intercepts this call at {!r}. What would an exhibit of that seam show here?"
SOMEBODY = "something does intercept this call. What is different where the call goes well?"


@dataclass(frozen=True)
class Evidence:
    """A right seam of an exercise, and how to tell that an exhibit proves it."""

    #: The seam at which the symptom arises.
    seam: str
    #: Accepts the model of an exhibit, and returns whether the model shows the cause.
    shows: Callable[[object], bool]
    #: What such an exhibit shows, for the sentence "no exhibit in proof shows …".
    wanted: str
    #: Another seam that is accepted in place of `seam`, or "".
    or_seam: str = ""


def judge_diagnosis(
    seam, proof, evidence: tuple[Evidence, ...], advice_by_seam: dict[str, str]
) -> str | None:
    """Return a sentence on what is wrong with a diagnosis, or None if it is right.

    Parameters
    ----------
    seam
        The learner's answer: the name of a seam, or several names.
    proof
        The learner's answer: an exhibit, or several exhibits.
    evidence
        The right seams, with what an exhibit must show of each.
    advice_by_seam
        A wrong seam -> the sentence on why the program is not wrong there.
    """
    reason = judge_seams(
        seam,
        right_seams=[entry.seam for entry in evidence],
        advice_by_seam=advice_by_seam,
        # An `or_seam` of "" does no harm, because no answer is "".
        right_by_equal_seam={entry.or_seam: entry.seam for entry in evidence},
    )
    if reason:
        return reason

    models = [exhibit.model for exhibit in _require_exhibits(proof)]
    for entry in evidence:
        if not any(entry.shows(model) for model in models):
            return f"no exhibit in proof shows {entry.wanted}"
    return None


def _require_exhibits(proof) -> list[Exhibit]:
    """Return the exhibits of a proof as a list. Raise InvalidAnswer if anything else is in it."""
    exhibits = _list_items(proof, "proof")
    for exhibit in exhibits:
        if not real_isinstance(exhibit, Exhibit):
            kind = real_type_name(exhibit)
            raise InvalidAnswer(f"proof must be an exhibit, or a tuple of exhibits, not {kind}")
    return exhibits


def judge_seams(
    seam,
    right_seams: list[str],
    advice_by_seam: dict[str, str],
    right_by_equal_seam: dict[str, str],
) -> str | None:
    """Return a sentence on what is wrong with the seams that a learner names, or None.

    Parameters
    ----------
    seam
        The learner's answer: the name of a seam, or several names.
    right_seams
        All seams that the learner must name.
    advice_by_seam
        A wrong seam -> the sentence on why the program is not wrong there.
    right_by_equal_seam
        A seam that is accepted, too -> the seam of `right_seams` in whose place it is accepted.
    """
    answers = [_require_seam(name) for name in _list_items(seam, "seam")]
    seams = [right_by_equal_seam.get(name, name) for name in answers]
    for name in seams:
        if name not in right_seams:
            general_advice = SOMEBODY if name == NONE else NOBODY.format(name)
            return advice_by_seam.get(name) or general_advice

    missing = set(right_seams) - set(seams)
    if missing:
        more = format_count(len(missing), "more seam")
        return f"{answers[0]!r} is right. Name {more}. If you cure only one, the symptom stays"
    return None


def diagnosed(advice_by_seam: dict[str, str], *evidence: Evidence) -> Callable:
    """Return a decorator for the judge of an exercise that asks for a seam, a proof and a cure.

    A *judge* is a function that returns what is wrong with an answer, or None. The decorator judges
    seam and proof, and calls the judge for the cure only if both are right. `advice_by_seam` and
    `evidence` are those of `judge_diagnosis`.
    """

    def add_diagnosis(judge: Callable) -> Callable:
        # `wraps` keeps the judge's docstring and parameters, which the exercise shows.
        @wraps(judge)
        def judge_all(seam, proof, *cure):
            reason = judge_diagnosis(seam, proof, evidence, advice_by_seam)
            return reason or judge(seam, proof, *cure)

        return judge_all

    return add_diagnosis


def read_parts(model, name: str) -> tuple:
    """Return the attribute `name` of an exhibit's model, such as its rows, or () if it has none."""
    return getattr(model, name, ())


def _require_seam(name) -> str:
    """Return the name of a seam as the course writes it: "cache key" for " Cache  key".

    Raise InvalidAnswer if there is no such seam.
    """
    plain = " ".join(name.lower().split()) if isinstance(name, str) else ""
    if plain not in SEAMS:
        raise InvalidAnswer(f"{short_repr(name)} is not a seam. Use {', '.join(SEAMS.values())}")
    return SEAMS[plain]


def _list_items(answer, what: str) -> list:
    """Return an answer as a list: the items of a collection, or the answer itself as one item.

    Raise NotAttempted if `...` is among them, which stands for an answer that is still to be
    written, and InvalidAnswer for an empty collection. `what` names the answer in these errors.
    """
    is_collection = isinstance(answer, (tuple, list, set, frozenset))
    items = list(answer) if is_collection else [answer]
    if any(item is ... for item in items):
        raise NotAttempted(what)
    if not items:
        raise InvalidAnswer(f"{what} is empty")
    return items
