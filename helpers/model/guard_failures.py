"""Guards that a call failed, and lines that say why each cache entry refuses the call."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .guard_records import Guard

MOST_FAILURES = 8  # lines
OF_MODULE = re.compile(r".*\._modules\['[^']*'\]")  # the path to an inner module
EQUALS = "it equals "


@dataclass(frozen=True)
class Failure(Guard):
    """A guard that a call failed.

    Attributes
    ----------
    value : str
        What the guard looked at, such as `3`, `of type float` or `of length 1`.
    place : str
        The file and the number of `line`, such as `train.py:45`.
    """

    value: str = ""
    place: str = ""

    def __str__(self) -> str:
        """Return the failure as a ledger writes it."""
        return explain_failures([(self,)])[0]


def explain_failures(failures: Sequence[Sequence[Failure]]) -> tuple[str, ...]:
    """Return in lines why each cache entry refuses a call.

    Parameters
    ----------
    failures
        For each cache entry the guards that failed, first the one that torch found first. An entry
        that accepts the call has none.

    Returns
    -------
    tuple of str
        Entries whose guards look at the same value, or at alike values of several inner modules,
        share a line. A guard is followed by the line of the program for which Dynamo took the
        guard, if torch knows that line and the guard before does not name it already.
    """
    sentences_by_entries: dict[str, list[str]] = {}
    last_place = ""
    for group in _group_alike(failures):
        sentence, last_place = _describe_group(group, last_place)
        entries = _format_entries({failure.entry for failure in group})
        sentences_by_entries.setdefault(entries, []).append(sentence)

    lines = []
    for entries, sentences in sentences_by_entries.items():
        if len(failures) > 1:
            lines.append(f"{entries}: {'; '.join(sentences)}")
        else:
            lines += sentences  # a single entry needs no name

    more = len(lines) - MOST_FAILURES
    if more > 0:
        lines[MOST_FAILURES:] = [f"and {more:,} more"]
    return tuple(lines)


def _group_alike(failures: Sequence[Sequence[Failure]]) -> list[list[Failure]]:
    """Return the failures in groups that share a line, the lowest cache entry first.

    The first failure of each entry comes before all others, because torch checks it first.
    """
    first_failures = [of_entry[0] for of_entry in failures if of_entry]
    other_failures = [failure for of_entry in failures for failure in of_entry[1:]]

    groups: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in [*first_failures, *other_failures]:
        # Inner modules are alike in what follows the path to them, such as `.training`.
        source_in_module = OF_MODULE.sub("", failure.source)
        # Different checks of one value share a line. Without a value or a source, the guard
        # compares several sources, and only equal checks share a line.
        is_of_one_source = failure.value and source_in_module
        checks = "" if is_of_one_source else failure.checks
        groups.setdefault((source_in_module, failure.value, checks), []).append(failure)
    return sorted(groups.values(), key=lambda group: min(failure.entry for failure in group))


def _describe_group(group: list[Failure], last_place: str) -> tuple[str, str]:
    """Return the sentence on failures that share a line, and the place that it names last.

    A place is a line of the program, as `_collect_checks` returns it. `last_place` is the one that
    the sentence before named last, or "". It is not named again.
    """
    # The sentence names the source of the first failure, and counts the alike ones.
    source = group[0].source
    value = group[0].value
    checks_by_place = _collect_checks([failure for failure in group if failure.source == source])

    parts = []
    for place, checks_by_entry in checks_by_place.items():
        shown_place = "" if place == last_place else place
        parts.append(f"{_join_checks(checks_by_entry)}{shown_place}")
    checks = "; ".join(parts)

    if value:
        sentence = (
            f"{source} is {value} (guard: {checks})" if source else f"{value} (guard: {checks})"
        )
    else:
        sentence = f"{source}: {checks}" if source else checks

    others = len({failure.source for failure in group}) - 1
    if others:
        modules = "modules" if others > 1 else "module"
        sentence += f"; alike in {others} more inner {modules}"
    *_, place = checks_by_place  # the last one
    return sentence, place or last_place


def _collect_checks(failures: list[Failure]) -> dict[str, dict[int, list[str]]]:
    """Return by place, and then by cache entry, what had to hold, without repetitions.

    A place is a text such as `, added at `x + 1` (train.py:45)`, or "" if torch knows none.
    """
    checks_by_place: dict[str, dict[int, list[str]]] = {}
    for failure in failures:
        place = ""
        if failure.line:
            file = f" ({failure.place})" if failure.place else ""
            place = f", added at `{failure.line}`{file}"
        checks = checks_by_place.setdefault(place, {}).setdefault(failure.entry, [])
        if failure.checks not in checks:
            checks.append(failure.checks)
    return checks_by_place


def _format_entries(numbers: Iterable[int]) -> str:
    """Return the cache entries of these numbers: `entry 2`, `entries 0, 2`, `entries 0 to 5`."""
    ordered = sorted(numbers)
    if len(ordered) == 1:
        return f"entry {ordered[0]}"
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"entries {ordered[0]} to {ordered[-1]}"
    return f"entries {', '.join(map(str, ordered))}"


def _join_checks(checks_by_entry: dict[int, list[str]]) -> str:
    """Return what the guards of several cache entries check, as one phrase.

    All checks of an entry must hold, and the call needs only one of the entries. So the phrase has
    `and` between checks of an entry, and `or` between entries. If every entry only checks for a
    value, the values are joined: `it equals 0 or 1`, `it equals 0 to 7`.
    """
    conditions = []  # one for each entry
    for checks in checks_by_entry.values():
        condition = " and ".join(checks)
        if condition not in conditions:
            conditions.append(condition)

    are_values = all(
        condition.startswith(EQUALS) and " and " not in condition for condition in conditions
    )
    if not are_values:
        return " or ".join(conditions)
    return EQUALS + _join_values([condition.removeprefix(EQUALS) for condition in conditions])


def _join_values(values: list[str]) -> str:
    """Return values such as `0 or 1`; three or more whole numbers in a row as `0 to 7`."""
    # If the first value is no number, the row below begins with 0 and is not like the values.
    first = int(values[0]) if values[0].isdecimal() else 0
    in_a_row = [str(first + index) for index in range(len(values))]
    if len(values) > 2 and values == in_a_row:
        return f"{first} to {values[-1]}"
    return " or ".join(values)
