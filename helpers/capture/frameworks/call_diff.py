"""Compare two trees of calls line by line, like `diff`. A CallTree is what `watch_call` records: it
has the calls inside one call, depth first, each with its depth and its name.
"""

from difflib import SequenceMatcher
from itertools import groupby

from ...model.call_records import CallTree
from ...model.side_by_side import Pair, SideBySide
from ...safety.arguments import printable, real_isinstance, real_type_name

MOST_LINES = 1_000  # of each side
DEEPEST = 40  # levels of calls that are indented
LONGEST = 160  # characters of a line


def build_call_diff(left: CallTree, right: CallTree) -> SideBySide:
    """Return two trees of `watch_call` side by side, line by line.

    TypeError says that one of the two is something else.
    """
    for tree in (left, right):
        if not real_isinstance(tree, CallTree):
            type_name = real_type_name(tree)
            raise TypeError(f"show_call_diff needs two calls of watch_call, not {type_name}")

    left_lines = _list_lines(left)
    right_lines = _list_lines(right)
    pairs = _pair_lines(left_lines[:MOST_LINES], right_lines[:MOST_LINES])
    same_count = sum(bool(pair.left and pair.right) for pair in pairs)
    note = f"{same_count} lines are the same. A line without a partner was called only on its side."
    if max(len(left_lines), len(right_lines)) > MOST_LINES:
        note += f" Only the first {MOST_LINES:,} lines of each side are compared."
    return SideBySide(
        "Two calls, side by side",
        left.title,
        right.title,
        tuple(pairs),
        note,
        folds=True,
    )


def _pair_lines(left_lines: list[str], right_lines: list[str]) -> list[Pair]:
    """Return the lines of both sides in pairs, each line with its number from 1.

    Equal lines form a pair. A line that is only on one side has the number 0 and "" as its partner.
    Lines are compared without their indent, because the same call may be deeper on one side.
    """
    left_calls = [line.strip() for line in left_lines]
    right_calls = [line.strip() for line in right_lines]
    # Without autojunk=False, difflib would ignore lines that are frequent in a long list.
    matcher = SequenceMatcher(None, left_calls, right_calls, autojunk=False)
    left_numbered = list(enumerate(left_lines, start=1))
    right_numbered = list(enumerate(right_lines, start=1))

    pairs = []
    for tag, left_start, left_end, right_start, right_end in matcher.get_opcodes():
        left_part = left_numbered[left_start:left_end]
        right_part = right_numbered[right_start:right_end]
        if tag == "equal":
            for left_line, right_line in zip(left_part, right_part, strict=True):
                pairs.append(Pair(*left_line, *right_line))
        else:  # "replace", "delete" or "insert"; one of the two parts may be empty
            pairs += [Pair(*left_line, 0, "") for left_line in left_part]
            pairs += [Pair(0, "", *right_line) for right_line in right_part]
    return pairs


def _list_lines(tree: CallTree) -> list[str]:
    """Return a line for each call of a tree, indented by its depth.

    Equal calls that follow each other at the same depth are one line, such as `torch.add ×3`.
    """
    labels = []
    for call in tree.calls:
        language = "[C] " if call.c else ""
        labels.append((call.depth, f"{language}{call.path}"))

    lines = []
    for (depth, label), group in groupby(labels):
        count = len(list(group))
        indent = "  " * min(depth, DEEPEST)
        times = f" ×{count}" if count > 1 else ""
        lines.append(f"{indent}{printable(label, LONGEST)}{times}")
    return lines
