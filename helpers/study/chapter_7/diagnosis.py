"""A learner's diagnosis -> whether the seams are right, and whether an exhibit shows the cause.

A seam is one of the stations at which something can intercept a call: name, frame, cache key …
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
NOBODY = "nothing intercepts this call at {!r}. What would an exhibit of that seam show here?"
SOMEBODY = "something does intercept this call. What is different where the call goes well?"


@dataclass(frozen=True)
class Evidence:
    """What proves one seam of a diagnosis."""

    #: The seam at which the symptom arises.
    seam: str
    #: Whether a model of an exhibit shows it.
    shows: Callable[[object], bool]
    #: What such an exhibit shows, in words.
    wanted: str
    #: Another seam that is right, too; "" for none.
    or_seam: str = ""


def judge_diagnosis(
    seam, proof, evidence: tuple[Evidence, ...], advice_by_seam: dict[str, str]
) -> str | None:
    """Return what is wrong with a diagnosis, or None.

    Parameters
    ----------
    seam
        The learner's answer: the name of a seam, or several names.
    proof
        The learner's answer: an exhibit, or several exhibits.
    evidence
        The right seams, with what an exhibit must show of each.
    advice_by_seam
        For a wrong seam the sentence on why the program is not wrong there.
    """
    reason = judge_seams(
        seam,
        right_seams=[entry.seam for entry in evidence],
        advice_by_seam=advice_by_seam,
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
    """Return the exhibits of a proof, else raise InvalidAnswer."""
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
    """Return what is wrong with the seams that a learner names, or None.

    Parameters
    ----------
    seam
        The learner's answer: the name of a seam, or several names.
    right_seams
        All seams that the learner must name.
    advice_by_seam
        For a wrong seam the sentence on why the program is not wrong there.
    right_by_equal_seam
        For a seam that is accepted too, the seam of `right_seams` for which it counts.
    """
    answers = [_require_seam(name) for name in _list_items(seam, "seam")]
    seams = [right_by_equal_seam.get(name, name) for name in answers]
    for name in seams:
        if name not in right_seams:
            general = SOMEBODY if name == NONE else NOBODY.format(name)
            return advice_by_seam.get(name) or general

    missing = set(right_seams) - set(seams)
    if missing:
        more = format_count(len(missing), "more seam")
        return f"{answers[0]!r} is right. Name {more}. If you cure only one, the symptom stays"
    return None


def diagnosed(advice_by_seam: dict[str, str], *evidence: Evidence) -> Callable:
    """Return a decorator for the judge of an exercise that asks for a seam, a proof and a cure.

    The judge runs only if the seam and the proof are right. `advice_by_seam` and `evidence` are
    those of `judge_diagnosis`.
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
    """Return the seam of this name, however it is spaced, else raise InvalidAnswer."""
    plain = " ".join(name.lower().split()) if isinstance(name, str) else ""
    if plain not in SEAMS:
        raise InvalidAnswer(f"{short_repr(name)} is not a seam. Use {', '.join(SEAMS.values())}")
    return SEAMS[plain]


def _list_items(answer, what: str) -> list:
    """Return the items of an answer, which may be one thing or several of them.

    NotAttempted for a stub, and InvalidAnswer for an empty collection; `what` names the answer.
    """
    is_collection = isinstance(answer, (tuple, list, set, frozenset))
    items = list(answer) if is_collection else [answer]
    if any(item is ... for item in items):
        raise NotAttempted(what)
    if not items:
        raise InvalidAnswer(f"{what} is empty")
    return items
