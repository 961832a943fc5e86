"""Model -> text, HTML and SVG. Nothing here has ever seen a live object."""

from collections.abc import Callable
from typing import NamedTuple


class View(NamedTuple):
    """One view: what makes text, HTML and, where there is one, a widget of a model."""

    text: Callable[..., str]
    """Returns the text form of a model, which teaches on its own."""
    html: Callable[..., str]
    """Returns the HTML form, which adds colour but no fact."""
    widget: Callable | None = None
    """Returns an anywidget for what can be clicked; None for views without one."""
