"""A learner's diagnosis -> whether the seams are right, and whether an exhibit shows the cause."""

from collections import namedtuple
from collections.abc import Callable
from functools import wraps

from helpers.capture.text.value import short_repr
from helpers.exhibit import Exhibit
from helpers.model.phrase import counted
from helpers.model.spine import SPINE
from helpers.safety.arguments import real_isinstance, real_type_name
from helpers.study.check import InvalidAnswer, NotAttempted

NONE = "none"  # also an answer: no seam is at fault
SEAMS = {station.name.lower(): station.name for station in SPINE} | {NONE: NONE}
NOBODY = "nothing intercepts this call at {!r}. What would an exhibit of that seam show here?"
SOMEBODY = "something does intercept this call. What is different where the call goes well?"


class Meant(BaseException):
    """What a judge raises in a block, like Ctrl-C."""


# A symptom arises at `seam` or `or_seam`. A model `shows` it. `wanted` says what it shows.
Evidence = namedtuple("Evidence", "seam shows wanted or_seam", defaults=("",))


def undiagnosed(seam, proof, evidence: tuple[Evidence, ...], elsewhere: dict) -> str | None:
    """Return what is wrong with a diagnosis; `elsewhere`: another seam -> why it is not that."""
    other_names = {one.or_seam: one.seam for one in evidence}
    if because := misnamed(seam, [one.seam for one in evidence], elsewhere, other_names):
        return because
    proofs = _several(proof, "proof")
    if odd := [real_type_name(one) for one in proofs if not real_isinstance(one, Exhibit)]:
        raise InvalidAnswer(f"proof must be an exhibit, or a tuple of exhibits, not {odd[0]}")
    models = [exhibit.model for exhibit in proofs]
    unproved = [one.wanted for one in evidence if not any(map(one.shows, models))]
    return f"no exhibit in proof shows {unproved[0]}" if unproved else None


def misnamed(seam, right: list[str], elsewhere: dict, other_names: dict) -> str | None:
    """Return what is wrong with the seams that are named; `other_names`: one -> the right one."""
    given = [_seam(name) for name in _several(seam, "seam")]
    named = [other_names.get(name, name) for name in given]
    if wrong := [name for name in named if name not in right]:
        nobody = SOMEBODY if wrong[0] == NONE else NOBODY.format(wrong[0])
        return elsewhere.get(wrong[0]) or nobody
    if left := set(right) - set(named):
        more = counted(len(left), "more seam")
        return f"{given[0]!r} is right. Name {more}. If you cure only one, the symptom stays"
    return None


def diagnosed(elsewhere: dict[str, str], *evidence: Evidence) -> Callable:
    """Return a decorator that calls the judge once its first two arguments are right."""

    def around(judge: Callable) -> Callable:
        @wraps(judge)
        def judged(seam, proof, *cure):
            return undiagnosed(seam, proof, evidence, elsewhere) or judge(seam, proof, *cure)

        return judged

    return around


def parts(model, name: str) -> tuple:
    """Return the rows, nodes … of a model, or an empty tuple if it has none."""
    return getattr(model, name, ())


def _seam(name) -> str:
    plain = " ".join(name.lower().split()) if isinstance(name, str) else ""
    if plain not in SEAMS:
        raise InvalidAnswer(f"{short_repr(name)} is not a seam. Use {', '.join(SEAMS.values())}")
    return SEAMS[plain]


def _several(answer, what: str) -> list:
    items = list(answer) if isinstance(answer, (tuple, list, set, frozenset)) else [answer]
    if any(item is ... for item in items):
        raise NotAttempted(what)
    if not items:
        raise InvalidAnswer(f"{what} is empty")
    return items
