"""One model and one view of it -> an object that Jupyter, a terminal and a test can all read."""

from typing import Protocol


class View(Protocol):
    """What an exhibit needs of a view; the modules of `helpers.view` are all of this kind."""

    @staticmethod
    def text(model) -> str:
        """Return the form that teaches alone: plain text, no colour, no markup."""

    @staticmethod
    def html(model) -> str:
        """Return the form for a page: escaped, and readable with styles and scripts stripped."""


class Exhibit:
    """A model with its view. `.model` holds the same facts as data.

    A view may also offer `widget(model)`, an anywidget for stepping. Jupyter then gets three
    forms of the same facts and shows the richest that it may: widget, HTML, text.
    """

    def __init__(self, model, view: View):
        self.model = model
        self._view = view

    def __repr__(self) -> str:
        return self._view.text(self.model)

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"text/plain": repr(self), "text/html": self._view.html(self.model)}
        metadata = {}
        widget = getattr(self._view, "widget", None)
        if widget is not None:
            bundle = widget(self.model)._repr_mimebundle_()
            shown, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            data = {**shown, **data}
        return data, metadata
