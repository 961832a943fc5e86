"""Several calls -> what they pass on their way, as a ledger, or two of them line against line."""

from difflib import SequenceMatcher
from itertools import groupby

from helpers.capture.frameworks.call_landmarks import DOORS
from helpers.capture.frameworks.call_tree import MOST_CALLS, call_tree
from helpers.model.calls import CallTree
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.side_by_side import Pair, SideBySide
from helpers.safety import progress
from helpers.safety.arguments import is_a, kind_of, parts, printable, table

MARKS = (("changed", "not as in the first column"),)
CASES = "name -> function, or (function, *arguments)"
MOST_CASES, MOST_LINES, DEEPEST, LONGEST = 200, 1_000, 40, 160
FEW = 5  # cases that are named in a note


def calls_ledger(cases: dict[str, object]) -> Ledger:
    """Return which landmarks each case passes, how often, and how many calls it takes.

    `cases`: name -> a function, or (function, *arguments). What differs from the first case has
    the tone `changed`. TypeError if there are no cases, or one cannot be called.
    """
    pairs = table(cases, "watch_calls", CASES, MOST_CASES)
    names = tuple(printable(name) for name, _ in pairs)
    trees = [
        call_tree(*_called(name, case))
        for name, (_, case) in progress.counted("watching call", zip(names, pairs, strict=True))
    ]
    doors = [door for door in DOORS if any(tree.count(door) for tree in trees)]
    rows = {"route": [tree.route for tree in trees]}
    if any(tree.outcome and tree.route != "refused" for tree in trees):
        rows["raised"] = [tree.outcome.partition(":")[0] or "–" for tree in trees]
    rows["all calls"] = [str(len(tree.calls)) for tree in trees]
    rows["of them into C"] = [str(sum(c.c for c in tree.calls)) for tree in trees]
    rows |= {door: [_times(tree, door) for tree in trees] for door in doors}
    entries = tuple(
        Entry(row, tuple(Verdict(w, "changed" if w != words[0] else "plain") for w in words))
        for row, words in rows.items()
    )
    cut = [name for name, tree in zip(names, trees, strict=True) if tree.calls and tree.note]
    them = ", ".join(cut[:FEW]) + f" and {len(cut) - FEW} more" * (len(cut) > FEW)
    note = f"Of {them} only the first {MOST_CALLS:,} calls are counted." if cut else ""
    title = "What each call passes on its way"
    return Ledger(title, "landmark", names, entries, note, marks=MARKS)


def calls_diff(left: CallTree, right: CallTree) -> SideBySide:
    """Return two trees line against line; what only one of them calls has no partner.

    TypeError if one is no tree.
    """
    for tree in (left, right):
        if not is_a(tree, CallTree):
            raise TypeError(f"show_call_diff needs two calls of watch_call, not {kind_of(tree)}")
    whole = [_lines(tree) for tree in (left, right)]
    sides = [lines[:MOST_LINES] for lines in whole]
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
    if max(map(len, whole)) > MOST_LINES:
        counts = " and ".join(f"{len(lines):,}" for lines in whole)
        note += (
            f" Compared are the first {MOST_LINES:,} lines of each side, of {counts}; "
            "watch a smaller part of the call to see the rest."
        )
    titles = "Two calls, side by side", left.title, right.title
    return SideBySide(*titles, tuple(pairs), note, folds=True)


def _pair(sides, i: int, j: int) -> Pair:
    return Pair(i + 1, sides[0][i], j + 1, sides[1][j])


def _lines(tree: CallTree) -> list[str]:
    """Return a line per call; neighbours that are the same become one."""
    lines = []
    shown = [(call.depth, f"{'[C] ' * call.c}{call.path}") for call in tree.calls]
    for (depth, words), group in groupby(shown):
        times = len(list(group))
        blanks = "  " * min(depth, DEEPEST)
        lines.append(f"{blanks}{printable(words, LONGEST)}{f' ×{times}' if times > 1 else ''}")
    return lines


def _called(name: str, case) -> tuple:
    fn, *args = parts(case)
    if not callable(fn):
        needed = f"the case '{name}' must be a function, or (function, *arguments)"
        raise TypeError(f"{needed}, not {kind_of(fn)}")
    return fn, *args


def _times(tree: CallTree, door: str) -> str:
    calls = [call for call in tree.calls if call.name == door]
    if not calls:
        return "–"
    return f"×{len(calls)}{', raised' if all(call.raised for call in calls) else ''}"
