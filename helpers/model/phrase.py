"""Numbers, names and long words -> the same few words everywhere."""

from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """Return "1 graph", "2 graphs", "1,000 graphs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def interrupted(number: int, noun: str) -> str:
    """Return the sentence on a run that Ctrl-C ended after so many steps, calls or events."""
    return f"You interrupted it after {counted(number, noun)}."


def clipped(words: str, most: int) -> str:
    """Return words of at most `most` characters; an ellipsis replaces what is cut off."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def stop(words: str) -> str:
    """Return the full stop that a sentence of these words needs; an ellipsis needs none."""
    return "" if words.endswith((".", "!", "?", "…")) else "."


def ended(words: str) -> str:
    """Return words as a sentence, with a full stop where it needs one."""
    return words + stop(words)


def listed(names: Iterable[str], most: int, longest: int | None = None) -> str:
    """Return "a, b and 3 more": the first `most` names, clipped to `longest`, and the rest."""
    names = list(names)
    rest = len(names) - most
    shown = [clipped(name, longest or len(name)) for name in names[:most]]
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")


def find_named(records: Iterable, name: object, field: str = "name"):
    """Return the first record whose `field` is `name`; KeyError for none."""
    for record in records:
        if getattr(record, field) == name:
            return record
    raise KeyError(name)
