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
    """Return all lines of two texts as rows, in the order of the right text.

    Parameters
    ----------
    left, right : list of str
        The lines of both texts.
    origin : dict
        Number of a right line -> number of the left line from which it was made. Both count from 1.
        A right line without an origin is not in the dict.

    Returns
    -------
    tuple of Pair
        A left line is in one row with each right line that was made from it. A left line from which
        none was made has a row of its own, in the order of the left text.
    """
    rows = []
    last_shown = 0  # the left lines up to this number have been shown
    for right_number, right_line in enumerate(right, 1):
        left_number = origin.get(right_number, 0)
        has_origin = 1 <= left_number <= len(left)
        if not has_origin:
            rows.append(Pair(0, "", right_number, right_line))
            continue

        # First the left lines before the origin that have not been shown.
        rows += _pair_left_alone(left, range(last_shown + 1, left_number))
        is_repeated = left_number <= last_shown
        left_line = left[left_number - 1]
        rows.append(Pair(left_number, left_line, right_number, right_line, again=is_repeated))
        last_shown = max(last_shown, left_number)
    rows += _pair_left_alone(left, range(last_shown + 1, len(left) + 1))
    return tuple(rows)


def _pair_left_alone(left: list[str], numbers: range) -> list[Pair]:
    """Return a row for each left line with one of these numbers, without a right line."""
    return [Pair(number, left[number - 1], 0, "") for number in numbers]
