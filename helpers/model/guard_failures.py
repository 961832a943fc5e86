"""Write lines such as `entry 1: L['n'] is 3 (guard: it equals 2)`: which of Dynamo's guards failed.

A compiled function has cache entries. Each entry has guards: conditions on a call. If a guard of
each entry fails for a call, Dynamo compiles again. A guard looks at a *source*, which is a text
such as `L['n']` for the argument n. What the guard checks is a text such as `it equals 2`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .guard_records import Guard

MOST_FAILURES = 8  # lines
# The path to an inner nn.Module in a source: all but `.bias` in `L['self']._modules['fc'].bias`.
OF_MODULE = re.compile(r".*\._modules\['[^']*'\]")
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
    """Return lines that say why each cache entry refuses a call.

    Parameters
    ----------
    failures
        For each cache entry a list of the guards that failed. The first is the one that torch
        checked first. An entry that accepts the call has an empty list.

    Returns
    -------
    tuple of str
        Guards share a line if they look at the same value, or at the same attribute of several
        inner modules. A guard is followed by the line of the program for which Dynamo took the
        guard, if torch knows that line and the text before does not name it already.
    """
    # "entries 0, 2" -> the sentences on the failures that these entries have in common
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
            lines += sentences  # the number of a single entry says nothing

    hidden_count = len(lines) - MOST_FAILURES
    if hidden_count > 0:  # one line replaces the rest
        lines[MOST_FAILURES:] = [f"and {hidden_count:,} more"]
    return tuple(lines)


def _group_alike(failures: Sequence[Sequence[Failure]]) -> list[list[Failure]]:
    """Return the failures in groups that share a line, the lowest cache entry first.

    The first failure of each entry comes before all others, because torch checks it first.
    """
    first_failures = [entry_failures[0] for entry_failures in failures if entry_failures]
    other_failures = []
    for entry_failures in failures:
        other_failures += entry_failures[1:]

    # (source without the path of a module, value, checks) -> the failures that share a line
    groups: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in [*first_failures, *other_failures]:
        # `.training` of several inner modules shares a line.
        source_in_module = OF_MODULE.sub("", failure.source)
        # A guard with a value looks at one source. Different checks of one value share a line.
        # Without a value or a source, the guard compares several sources, and only equal checks
        # share a line.
        is_of_one_source = failure.value and source_in_module
        checks = "" if is_of_one_source else failure.checks
        groups.setdefault((source_in_module, failure.value, checks), []).append(failure)
    return sorted(groups.values(), key=lambda group: min(failure.entry for failure in group))


def _describe_group(group: list[Failure], last_place: str) -> tuple[str, str]:
    """Return the sentence on failures that share a line, and the place that it names last.

    A place is a text on a line of the program, as `_collect_checks` returns it. `last_place` is
    the place that the sentence before named last, or "". The sentence does not name it again.
    """
    # The sentence names only the source of the first failure. It counts the other sources, which
    # are the same attribute of other inner modules.
    source = group[0].source
    value = group[0].value
    checks_by_place = _collect_checks([failure for failure in group if failure.source == source])

    parts = []
    for place, checks_by_entry in checks_by_place.items():
        shown_place = "" if place == last_place else place
        parts.append(f"{_join_checks(checks_by_entry)}{shown_place}")
    checks = "; ".join(parts)

    if value and source:
        sentence = f"{source} is {value} (guard: {checks})"
    elif value:
        sentence = f"{value} (guard: {checks})"
    elif source:
        sentence = f"{source}: {checks}"
    else:
        sentence = checks

    other_count = len({failure.source for failure in group}) - 1
    if other_count:
        modules = "modules" if other_count > 1 else "module"
        sentence += f"; alike in {other_count} more inner {modules}"
    *_, final_place = checks_by_place
    return sentence, final_place or last_place


def _collect_checks(failures: list[Failure]) -> dict[str, dict[int, list[str]]]:
    """Return {place: {number of a cache entry: what its guards check}}, without repetitions.

    A place is a text such as ", added at `x + 1` (train.py:45)". It is "" if torch does not know
    the line for which Dynamo took the guard.
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
    """Return numbers of cache entries as text: `entry 2`, `entries 0, 2`, `entries 0 to 5`."""
    ordered = sorted(numbers)
    if len(ordered) == 1:
        return f"entry {ordered[0]}"
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"entries {ordered[0]} to {ordered[-1]}"
    return f"entries {', '.join(map(str, ordered))}"


def _join_checks(checks_by_entry: dict[int, list[str]]) -> str:
    """Return what the guards of several cache entries check, as one phrase.

    `checks_by_entry` maps the number of an entry to what its guards check. All checks of an entry
    must hold, and a call needs only one of the entries. So the phrase has `and` between checks of
    an entry, and `or` between entries. If every entry only checks for a value, the values are
    joined: `it equals 0 or 1`, `it equals 0 to 7`.
    """
    conditions = []  # one for each entry, without repetitions
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
    # If the first value is no number, the expected values begin with 0, and differ from `values`.
    first = int(values[0]) if values[0].isdecimal() else 0
    expected_values = [str(first + index) for index in range(len(values))]
    if len(values) > 2 and values == expected_values:
        return f"{first} to {values[-1]}"
    return " or ".join(values)
