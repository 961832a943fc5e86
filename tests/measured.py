"""A cell whose numbers are measured -> the words of its outputs, which must be the stored ones.

A cell with the tag `numbers-vary` is compared like any other, in text and in HTML, after its
numbers, the lengths of its bars, and the words that replace a number are masked. So its stored
output comes from its source, whatever the machine was doing. Each run of `pytest --nbval` does so.
"""

import re

TAG = "numbers-vary"
NUMBER = re.compile(r"(?<![\w.])(?:1/)?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?:×|\s?%)?(?![\w])")
# What helpers/model/noise.py says in place of a number, or with one.
IN_WORDS = re.compile(r"(?:too noisy to compare|about as long)(?! with each other)|about N")
RANGE = re.compile(r"N to N")
BAR = re.compile("█+")
DRAWN_BAR = re.compile(r"(?<=width:calc\()\d+(?=\*)")  # the same in HTML
RULE = re.compile("-{2,}")  # below the headings of a table, as wide as its cells
PIECE = re.compile(r"<[^>]*>|[^<]+")
STYLE = re.compile(r' style="[^"]*"')
SPOKEN = re.compile(r'(?<= aria-label=")[^"]*')
PLACED = re.compile(r"<(?:td|th)\b|<\w+ data-measured=")  # its look depends on the numbers
TICK = re.compile(r'<(\w+) data-measured="tick"[^>]*>[^<]*</\1>')  # how many there are, too
ROWS = re.compile(r"(<tr\b(?:(?!</tr>).)*</tr>\s*)\1+", re.DOTALL)


def mask(shown: str) -> str:
    """Return what an output shows, without what differs from run to run.

    Parameters
    ----------
    shown
        The text or the HTML of an output.

    Returns
    -------
    str
        N for a number and for the words that replace one; one row of those that are then equal.
        All other words, and in HTML all other tags, are kept.
    """
    return mask_html(shown) if shown.lstrip().startswith("<") else mask_text(shown)


def mask_text(shown: str) -> str:
    """Return a text without its numbers, and without how its words are set in lines."""
    lines = [" ".join(mask_words(line).split()) for line in shown.splitlines()]
    once = [line for line, before in zip(lines, [None, *lines], strict=False) if line != before]
    # The end of a note is set in lines that depend on the length of its numbers.
    return " ".join(once)


def mask_words(shown: str) -> str:
    """Return words without numbers and what replaces them."""
    without = NUMBER.sub("N", shown)
    for rule in (IN_WORDS, RANGE, BAR):
        without = rule.sub("N", without)
    return RULE.sub("-", without)


def mask_html(shown: str) -> str:
    """Return HTML without the numbers in its words, and without what depends on them."""
    pieces = PIECE.findall(TICK.sub("", shown))
    masked = "".join(_mask_tag(piece) if piece[0] == "<" else _mask_run(piece) for piece in pieces)
    return ROWS.sub(r"\1", masked)


def _mask_tag(tag: str) -> str:
    tag = SPOKEN.sub(lambda found: mask_words(found[0]), tag)
    return STYLE.sub("", tag) if PLACED.match(tag) else DRAWN_BAR.sub("N", tag)


def _mask_run(words: str) -> str:
    """Return the words between two tags, with one blank where there are several."""
    return re.sub(r"\s+", " ", mask_words(words))


def pytest_collection_modifyitems(items):
    """Let nbval compare the words of the cells with this tag."""
    for item in items:
        if hasattr(item, "cell") and TAG in item.cell.metadata.get("tags", ()):
            item.sanitize = _mask_after(item.sanitize)


def _mask_after(sanitize):
    """Return nbval's method, followed by the mask."""

    def sanitize_and_mask(shown):
        sanitized = sanitize(shown)
        return mask(sanitized) if isinstance(sanitized, str) else sanitized

    return sanitize_and_mask
