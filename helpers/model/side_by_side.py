"""Two listings of code, line against line -> a side by side, ready to be drawn or asserted on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """One row. A number is 0 where that side has no line; `again` says that it stood there before.

    `left` and `right` are line numbers from 1, with the text of the line beside each.
    """

    left: int
    left_text: str
    right: int
    right_text: str
    again: bool = False


@dataclass(frozen=True)
class SideBySide:
    """Rows in the order of the right side; no line of either side is left out.

    `folds`: what matters is where the sides differ, so a view may fold long runs of equal lines.
    """

    title: str
    left_title: str
    right_title: str
    pairs: tuple[Pair, ...]
    note: str = ""
    folds: bool = False

    def right_of(self, left: int) -> tuple[str, ...]:
        """Return the lines on the right that came from this line (number) on the left."""
        return tuple(pair.right_text for pair in self.pairs if pair.left == left and pair.right)

    def made_up(self) -> tuple[str, ...]:
        """Return the lines on the right that came from no line on the left."""
        return tuple(pair.right_text for pair in self.pairs if pair.right and not pair.left)


def align(left: list[str], right: list[str], origin: dict[int, int]) -> tuple[Pair, ...]:
    """Return the rows of two lists of lines. `origin`: line number right -> line number left.

    Lines on the left that nothing came from stand before the first later line that something did.
    """
    rows, shown = [], 0
    for number, line in enumerate(right, 1):
        source = origin.get(number, 0)
        if not 1 <= source <= len(left):
            rows.append(Pair(0, "", number, line))
            continue
        rows += [Pair(n, left[n - 1], 0, "") for n in range(shown + 1, source)]
        rows.append(Pair(source, left[source - 1], number, line, again=source <= shown))
        shown = max(shown, source)
    rows += [Pair(n, left[n - 1], 0, "") for n in range(shown + 1, len(left) + 1)]
    return tuple(rows)
