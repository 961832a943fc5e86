"""Records of two texts side by side, such as a source and what a tool made of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """One row: a line of the left text, a line of the right text, or both.

    Attributes
    ----------
    left : int
        The number of the left line, 0 for no line.
    left_text : str
        The left line.
    right : int
        The number of the right line, 0 for no line.
    right_text : str
        The right line.
    again : bool
        Whether an earlier row has shown the left line already.
    """

    left: int
    left_text: str
    right: int
    right_text: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All lines of two texts, in the order of the right text.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    left_title : str
        The heading above the left text.
    right_title : str
        The heading above the right text.
    pairs : tuple of Pair
        The rows.
    note : str
        What else a reader must know.
    folds : bool
        Whether a view folds lines that are the same, because only the differences matter.
    """

    title: str
    left_title: str
    right_title: str
    pairs: tuple[Pair, ...]
    note: str = ""
    folds: bool = False


def align_lines(left: list[str], right: list[str], origin: dict[int, int]) -> tuple[Pair, ...]:
    """Return the rows of two texts.

    Parameters
    ----------
    left, right : list of str
        The lines of both texts.
    origin : dict
        For the number of a right line the number of the left line from which it comes. Both count
        from 1.

    Returns
    -------
    tuple of Pair
        All lines. A left line stands beside the right line that comes from it, or above the next
        such line if no right line comes from it.
    """
    rows = []
    last_shown = 0  # the greatest number of a left line so far
    for number, line in enumerate(right, 1):
        source = origin.get(number, 0)
        has_origin = 1 <= source <= len(left)
        if not has_origin:
            rows.append(Pair(0, "", number, line))
            continue

        rows += _pair_left_alone(left, range(last_shown + 1, source))
        rows.append(Pair(source, left[source - 1], number, line, again=source <= last_shown))
        last_shown = max(last_shown, source)
    rows += _pair_left_alone(left, range(last_shown + 1, len(left) + 1))
    return tuple(rows)


def _pair_left_alone(left: list[str], numbers: range) -> list[Pair]:
    """Return rows of the left lines with these numbers, with nothing beside them."""
    return [Pair(number, left[number - 1], 0, "") for number in numbers]
