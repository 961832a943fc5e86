"""What there is to do in a workshop -> its days: where each ends, and where its breaks stand.

A day has as few breaks as it can. Where there is a choice they stand between chapters, and then so
that the sittings are alike. None parts a chapter's opening from what follows it, or its recap from
what comes before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

PAUSE, LUNCH = "Pause", "Lunch"
MINUTES = {PAUSE: 15, LUNCH: 60}
SITTING = 75  # minutes between two breaks, at most, but for one long section or exercise
HALF = 240  # minutes of a day without lunch
LUNCH_FROM, LUNCH_TO = 120, 195  # minutes of a longer day: its first break between is lunch
OPENING = "What it is about"  # before a chapter's first section
RECAP = "Recap"


@dataclass(frozen=True)
class Row:
    """Something to do: its minutes, where it stands, and what it is.

    `worth` is 0 for what is always done; else the exercise is taken in the order of its worth,
    the smallest first.
    """

    minutes: int
    chapter: str
    what: str
    worth: tuple = ()


class Plan(NamedTuple):
    """A day so far: its minutes, breaks inside a chapter, how uneven its sittings are; its rows."""

    minutes: int
    inside: int
    uneven: int
    rows: tuple[Row, ...]

    @property
    def fed(self) -> bool:
        """Tell whether lunch is over."""
        return any(row.what == LUNCH for row in self.rows)


def in_days(rows: list[Row], count: int, most: int) -> list[list[Row]] | None:
    """Return the rows with their breaks, day by day; None if `count` days are too few."""
    found, rest = [], _blocks(rows)
    while rest and len(found) < count:
        plan, done = _longest(rest, most)
        if not done:
            return None
        found.append(list(plan.rows))
        rest = rest[done:]
    return None if rest else found


def _blocks(rows: list[Row]) -> list[list[Row]]:
    """Return the rows in pieces that no break parts."""
    found = []
    for row in rows:
        if found and (row.what == RECAP or found[-1][-1].what == OPENING):
            found[-1].append(row)
        else:
            found.append([row])
    return found


def _longest(blocks: list[list[Row]], most: int) -> tuple[Plan, int]:
    """Return the best plan of a day that has the most of these blocks, and how many it has."""
    best = {0: [Plan(0, 0, 0, ())]}  # blocks done -> the best plans, one with lunch and one without
    for end in range(1, len(blocks) + 1):
        plans = [plan for plan in _ending(best, blocks, end, most) if plan.minutes <= most]
        kinds = ([p for p in plans if p.fed == fed] for fed in (False, True))
        if not plans:
            break
        best[end] = [min(kind, key=_costs) for kind in kinds if kind]
    last = max(best)
    return min(best[last], key=_costs), last


def _costs(plan: Plan) -> tuple[int, int, int]:
    return plan[:3]


def _ending(best, blocks, end: int, most: int) -> Iterator[Plan]:
    """Yield the plans in which a sitting ends after this many blocks."""
    sitting: list[Row] = []
    for begin in reversed(range(end)):
        sitting = blocks[begin] + sitting
        minutes = sum(row.minutes for row in sitting)
        if minutes > SITTING and begin < end - 1:
            return
        for before in best[begin]:
            for rest in _breaks(before, most) if begin else [()]:
                now = before.minutes + sum(row.minutes for row in rest) + minutes
                same = begin and blocks[begin - 1][-1].chapter == sitting[0].chapter
                costs = before.inside + bool(same), before.uneven + minutes**2
                yield Plan(now, *costs, (*before.rows, *rest, *sitting))


def _breaks(before: Plan, most: int) -> Iterator[tuple[Row, ...]]:
    """Yield the breaks that may come now: in the middle of a day it may be lunch or a pause."""
    hungry = most > HALF and not before.fed
    if not hungry or before.minutes < LUNCH_TO:
        yield (Row(MINUTES[PAUSE], "", PAUSE),)
    if hungry and before.minutes >= LUNCH_FROM:
        yield (Row(MINUTES[LUNCH], "", LUNCH),)
