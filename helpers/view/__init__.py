"""Model -> text, HTML and SVG. Nothing here has ever seen a live object."""

from collections.abc import Callable
from typing import NamedTuple


class View(NamedTuple):
    """One view: what makes text, HTML and, where there is one, a widget of a model."""

    text: Callable[..., str]
    html: Callable[..., str]
    widget: Callable | None = None
