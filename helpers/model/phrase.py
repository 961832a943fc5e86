"""Short texts that all records use: a number with its noun, a list of names, a clipped text."""

from collections.abc import Iterable


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 graph", "2 graphs" or "1,000 graphs"."""
    ending = "" if number == 1 else "s"
    return f"{number:,} {noun}{ending}"


def describe_interruption(number: int, noun: str) -> str:
    """Return the sentence on a run that Ctrl-C ended after so many steps, calls or events."""
    return f"You interrupted it after {format_count(number, noun)}."


def clip_text(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text; an ellipsis replaces what is cut off."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"


def find_full_stop(text: str) -> str:
    """Return the full stop that a text needs as a sentence, or "" if the text ends already."""
    return "" if text.endswith((".", "!", "?", "…")) else "."


def end_sentence(text: str) -> str:
    """Return a text as a sentence, with a full stop where it needs one."""
    return text + find_full_stop(text)


def format_names(names: Iterable[str], limit: int, longest: int | None = None) -> str:
    """Return the first names and how many names are left out, such as "a, b and 3 more".

    At most `limit` names are shown. With `longest`, each name is cut to so many characters.
    """
    names = list(names)
    shown = names[:limit]
    if longest:
        shown = [clip_text(name, longest) for name in shown]

    text = ", ".join(shown)
    left_out = len(names) - limit
    return f"{text} and {left_out:,} more" if left_out > 0 else text


def find_named(records: Iterable, name: object, field: str = "name"):
    """Return the first record whose attribute `field` equals `name`; KeyError if none does."""
    for record in records:
        if getattr(record, field) == name:
            return record
    raise KeyError(name)
