"""Addresses as they stand in a notebook -> those of the book's pages and pictures."""

import re
from pathlib import Path

_LINK = re.compile(r"""(?P<before>\b(?:href|src)=")(?P<path>[^":#]+)(?P<rest>(?:#[^"]*)?")""")


def rewritten(page: str) -> str:
    """Return HTML whose links to notebooks lead to their pages; `#cell-id=…` stays as it is."""
    return _LINK.sub(lambda found: found["before"] + address(found["path"]) + found["rest"], page)


def address(path: str) -> str:
    """Return where a file beside the notebooks stands in the book."""
    if path.endswith(".ipynb"):
        return path.removesuffix(".ipynb") + ".html"
    if path.startswith("images/"):
        return f"images/{picture(Path(path).relative_to('images'))}"
    return path


def picture(inside: Path) -> str:
    """Return the name of a picture in the book's one folder of pictures."""
    return "-".join(inside.parts)
