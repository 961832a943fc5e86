"""Two answers -> the sentence that says how they part, which still knows the two.

A judge returns words; these can be shown beside each other as well. Where other words are put
around them, `within` keeps what they know.
"""

from dataclasses import astuple

from helpers.model.outcome import Beside


class Parted(str):
    """A sentence with its two answers in `beside`."""

    __slots__ = ("beside",)

    def __new__(cls, beside: Beside):
        """Return the sentence of two answers."""
        b = beside
        words = super().__new__(cls, f"{b.before}yours {b.yours}, {b.who} {b.real}{b.after}")
        words.beside = beside
        return words


def parted(before: str, yours: str, real: str, who: str, after: str = "") -> Parted:
    """Return `<before>yours <yours>, <who> <real><after>`: both with their verb, as in gives 3."""
    return Parted(Beside(before, yours, real, who, after))


def within(before: str, because: str, after: str = "") -> str:
    """Return a reason with words around it."""
    if type(because) is not Parted:
        return f"{before}{because}{after}"
    known = because.beside
    return parted(before + known.before, known.yours, known.real, known.who, known.after + after)


def packed(because: str) -> str | list[str]:
    """Return a reason as what can be told to another process."""
    return list(astuple(because.beside)) if type(because) is Parted else because


def unpacked(told: str | list[str]) -> str:
    """Return the reason that was packed."""
    return told if isinstance(told, str) else parted(*told)
