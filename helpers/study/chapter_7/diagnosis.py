"""A learner's diagnosis -> whether the seams are the right ones, and an exhibit shows the cause.

The judge reads the `.model` of each exhibit, and never asks the broken program itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

from helpers.capture.text.value import brief
from helpers.exhibit import Exhibit
from helpers.model.phrase import counted
from helpers.model.spine import SPINE
from helpers.safety.arguments import is_a, kind_of
from helpers.study.check import Unfit, Untried

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

    `elsewhere`: another seam -> why it is not that one. Unfit for what is no name of a seam or no
    exhibit; Untried where either is the stub.
    """
    return _misnamed(_names(seam), evidence, elsewhere or {}) or _unproved(_models(proof), evidence)


def _names(seam) -> list[str]:
    given = _several(seam, "seam")
    odd = [name for name in given if not is_a(name, str) or _plain(name) not in SEAMS]
    if odd:
        raise Unfit(f"seam: {brief(odd[0])} is no seam; they are: {', '.join(SEAMS.values())}")
    return [SEAMS[_plain(name)] for name in given]


def _plain(name: str) -> str:
    return " ".join(str.__str__(name).lower().split())


def _misnamed(given: list[str], evidence, elsewhere) -> str | None:
    right = [one.seam for one in evidence]
    other_names = {one.or_seam: one.seam for one in evidence}
    named = [other_names.get(name, name) for name in given]
    for name in named:
        if name not in right:
            return elsewhere.get(name) or NOBODY.format(name)
    if left := [name for name in right if name not in named]:
        more = counted(len(left), "more seam")
        return f"{given[0]!r} is right. Name {more}: a cure at one alone leaves the symptom"
    return None


def _models(proof) -> list:
    given = _several(proof, "proof")
    if odd := [one for one in given if not is_a(one, Exhibit)]:
        raise Unfit(f"proof must be an exhibit, or some in a tuple, not {kind_of(odd[0])}")
    return [one.model for one in given]


def _unproved(models: list, evidence) -> str | None:
    for one in evidence:
        fitting = [model for model in models if is_a(model, *one.kinds)]
        whys = [one.shows(model) for model in fitting]
        if None not in whys:
            because = f": {whys[0]}" if whys else ""
            return f"no exhibit in proof shows {one.wanted}{because}"
    return None


def _several(answer, what: str) -> list:
    """Return an answer's items; one that stands alone is a list of itself."""
    items = list(answer)[:MOST] if is_a(answer, tuple, list, set, frozenset) else [answer]
    if any(item is ... for item in items):
        raise Untried(what)
    if not items:
        raise Unfit(f"{what} is empty")
    return items
