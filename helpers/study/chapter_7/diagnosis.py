"""A learner's diagnosis -> whether the seams are the right ones, and an exhibit shows the cause.

The judge reads the `.model` of each exhibit, and never asks the broken program itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from helpers.capture.text.value import short_repr
from helpers.exhibit import Exhibit
from helpers.model.phrase import counted
from helpers.model.spine import SPINE
from helpers.safety.arguments import real_isinstance, real_type_name
from helpers.study.engine import (
    Case,
    InvalidAnswer,
    NotAttempted,
    Raised,
    find_difference,
    parts_apart,
)

SEAMS = {station.name.lower(): station.name for station in SPINE}
MOST = 12  # seams or exhibits that are looked at
NOBODY = "at {!r} nobody takes hold of this call: what would an exhibit of that seam show here?"


@dataclass(frozen=True)
class Evidence:
    """What proves that a symptom arises at `seam`: a model of one of `kinds` that `shows` it.

    `shows(model)` returns None, or why this model does not; `wanted` says in words what must be
    seen. `or_seam`: what the seam may be called as well.
    """

    seam: str
    kinds: tuple[type, ...]
    wanted: str
    shows: Callable[[object], str | None]
    or_seam: str = ""


def undiagnosed(
    seam, proof, evidence: tuple[Evidence, ...], elsewhere: dict[str, str] | None = None
) -> str | None:
    """Return what is wrong with a diagnosis; None where seams and proof are right.

    `elsewhere`: another seam -> why it is not that one. InvalidAnswer for what is no
    name of a seam or no exhibit; NotAttempted where either is the stub.
    """
    given = [_seam(name) for name in _several(seam, "seam")]
    right = [one.seam for one in evidence]
    other_names = {one.or_seam: one.seam for one in evidence}
    named = [other_names.get(name, name) for name in given]
    if wrong := [name for name in named if name not in right]:
        return (elsewhere or {}).get(wrong[0]) or NOBODY.format(wrong[0])
    if left := set(right) - set(named):
        more = counted(len(left), "more seam")
        return f"{given[0]!r} is right. Name {more}: a cure at one alone leaves the symptom"
    proofs = _several(proof, "proof")
    if odd := [one for one in proofs if not real_isinstance(one, Exhibit)]:
        raise InvalidAnswer(
            f"proof must be an exhibit, or some in a tuple, not {real_type_name(odd[0])}"
        )
    unproved = (_unproved(one, [proof.model for proof in proofs]) for one in evidence)
    return next(filter(None, unproved), None)


def _seam(name) -> str:
    plain = " ".join(name.lower().split()) if real_isinstance(name, str) else ""
    if plain not in SEAMS:
        raise InvalidAnswer(
            f"seam: {short_repr(name)} is no seam; they are: {', '.join(SEAMS.values())}"
        )
    return SEAMS[plain]


def _unproved(one: Evidence, models: list) -> str | None:
    whys = [one.shows(model) for model in models if real_isinstance(model, *one.kinds)]
    if None in whys:
        return None
    because = f": {whys[0]}" if whys else ""
    return f"no exhibit in proof shows {one.wanted}{because}"


def _several(answer, what: str) -> list:
    """Return an answer's items; one that stands alone is a list of itself."""
    items = (
        list(answer)[:MOST] if real_isinstance(answer, tuple, list, set, frozenset) else [answer]
    )
    if any(item is ... for item in items):
        raise NotAttempted(what)
    if not items:
        raise InvalidAnswer(f"{what} is empty")
    return items


def find_complaint(answer, trials: Mapping[str, Callable[[object], str | None]]) -> str | None:
    """Return the first complaint of some trials: what is tried -> what says what is wrong there."""

    def case(shows: str, trial: Callable) -> Case:
        return Case(shows, lambda made: trial(made) if made is answer else None, _complaint)

    return find_difference(answer, None, (case(*one) for one in trials.items()))


def _complaint(mine, real) -> str:
    return mine.sentence if isinstance(mine, Raised) else mine


def say_first_part(words: Mapping[str, str] | str, raises: str = "") -> Callable:
    """Return the advice of a case that shows a dict: the words for the first entry that differs.

    In them {0} is the answer's value, {1} the right one, {2} the entry; `raises`: the words around
    what the answer raises.
    """

    def say(mine, real) -> str:
        if isinstance(mine, Raised):
            return raises.format(mine) if raises else mine.sentence
        mine, real = parts_apart(mine, real)
        part = next(iter(mine))
        told = words if isinstance(words, str) else words[part]
        return told.format(mine[part], real[part], part)

    return say
