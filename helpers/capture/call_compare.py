"""Several calls -> what they pass on their way, as a ledger, or two of them line against line."""

from collections.abc import Mapping
from difflib import SequenceMatcher
from itertools import groupby

from helpers.capture.call_routes import DOORS
from helpers.capture.calls import call_tree
from helpers.capture.words import type_name
from helpers.model.calls import CallTree
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.side_by_side import Pair, SideBySide


def calls_ledger(cases: Mapping[str, object]) -> Ledger:
    """Return which landmarks each case passes, how often, and how many calls it takes.

    `cases`: name -> a function, or (function, *arguments). What differs from the first case has
    the tone `changed`. TypeError if there are no cases, or one cannot be called.
    """
    if not isinstance(cases, Mapping) or not cases:
        raise TypeError("watch_calls needs a dict: name -> function, or (function, *arguments)")
    trees = {name: call_tree(*_called(case)) for name, case in cases.items()}
    doors = [door for door in DOORS if any(tree.count(door) for tree in trees.values())]
    rows = {"route": [tree.route for tree in trees.values()]}
    rows["all calls"] = [str(len(tree.calls)) for tree in trees.values()]
    rows["of them into C"] = [str(sum(c.c for c in tree.calls)) for tree in trees.values()]
    rows |= {door: [_times(tree, door) for tree in trees.values()] for door in doors}
    entries = tuple(
        Entry(row, tuple(Verdict(w, "changed" if w != words[0] else "plain") for w in words))
        for row, words in rows.items()
    )
    return Ledger("What each call passes on its way", "landmark", tuple(trees), entries)


def calls_diff(left: CallTree, right: CallTree) -> SideBySide:
    """Return two trees line against line; what only one of them calls has no partner.

    TypeError if one is no tree.
    """
    for tree in (left, right):
        if not isinstance(tree, CallTree):
            raise TypeError(f"show_call_diff needs two calls of watch_call, not {type_name(tree)}")
    sides = [_lines(tree) for tree in (left, right)]
    names = [[line.strip() for line in side] for side in sides]
    pairs = []
    for same, a, b, c, d in SequenceMatcher(None, *names, autojunk=False).get_opcodes():
        if same == "equal":
            pairs += [_pair(sides, i, c + i - a) for i in range(a, b)]
        else:
            pairs += [Pair(i + 1, sides[0][i], 0, "") for i in range(a, b)]
            pairs += [Pair(0, "", i + 1, sides[1][i]) for i in range(c, d)]
    both = sum(bool(pair.left and pair.right) for pair in pairs)
    note = f"{both} lines are the same; a line without a partner is called on its side only."
    return SideBySide("Two calls, side by side", left.title, right.title, tuple(pairs), note)


def _pair(sides, i: int, j: int) -> Pair:
    return Pair(i + 1, sides[0][i], j + 1, sides[1][j])


def _lines(tree: CallTree) -> list[str]:
    """Return a line per call; neighbours that are the same become one."""
    lines = []
    shown = [(call.depth, f"{'[C] ' * call.c}{call.path}") for call in tree.calls]
    for (depth, words), group in groupby(shown):
        times = len(list(group))
        lines.append(f"{'  ' * depth}{words}{f' ×{times}' if times > 1 else ''}")
    return lines


def _called(case) -> tuple:
    return case if isinstance(case, tuple) else (case,)


def _times(tree: CallTree, door: str) -> str:
    calls = [call for call in tree.calls if call.name == door]
    if not calls:
        return "–"
    return f"×{len(calls)}{', raised' if all(call.raised for call in calls) else ''}"
