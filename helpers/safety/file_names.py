"""What somebody gives as the name of a file -> the same as a plain str, or one sentence of refusal.

A plain name can stand for itself alone in any folder on any system: it leads nowhere else.
"""

import re
import unicodedata

LONGEST = 100  # bytes in UTF-8; every file system takes as many
_PLAIN = re.compile(r"[\w.\- ]+")
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_KIND = type.__dict__["__name__"].__get__


def kind(value: object) -> str:
    """Return the name of the real type of an object, shortened."""
    name = _KIND(type(value))[:40]
    return name if name.isprintable() else ascii(name)[1:-1]


def text(value: object, what: str) -> str:
    """Return an exact copy of a text; the methods of a subclass of str are not asked. TypeError."""
    if not issubclass(type(value), str):
        raise TypeError(f"{what} must be text, not {kind(value)}")
    return str.__str__(value)


def shown(name: str) -> str:
    """Return a name in quotes, shortened; what does not print is spelled out."""
    return repr(name) if len(name) <= 40 else f"{name[:39]!r} and {len(name) - 39:,} more"


def plain_name(value: object, what: str = "a name") -> str:
    """Return a name that is plain. TypeError for what is no text, ValueError for one that is not.

    Letters, digits, `_`, `-`, `.` and spaces; no dot in front, no dot or space at the end.
    """
    name = text(value, what)
    must = f"{what}, {shown(name)}, must be a plain name"
    if not name or not _PLAIN.fullmatch(name):
        raise ValueError(f"{must}: letters, digits, '_', '-', '.' and spaces, without a path")
    if name[0] in ". -" or name[-1] in ". ":
        raise ValueError(f"{must}: no dot, '-' or space before it, no dot or space after it")
    if len(name.encode()) > LONGEST:
        raise ValueError(f"{must}: of at most {LONGEST} bytes, and it has {len(name.encode()):,}")
    if _RESERVED.fullmatch(name.partition(".")[0].rstrip()):
        raise ValueError(f"{must}: Windows keeps {name.partition('.')[0]} for a device")
    return name


def plain_names(values, what: str = "a name") -> list[str]:
    """Return plain names of which no two are one on a system that does not tell A from a."""
    names: dict[str, str] = {}
    for name in (plain_name(value, what) for value in values):
        same = unicodedata.normalize("NFKC", name).casefold()
        if same in names:
            raise ValueError(
                f"{what}, {shown(name)}, must differ from {shown(names[same])} in more than case"
            )
        names[same] = name
    return list(names.values())
