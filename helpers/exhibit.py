"""One model and one view of it -> an object that Jupyter, a terminal and a test can all read."""

from types import MethodType

from helpers.safety.arguments import real_isinstance
from helpers.view import View
from helpers.view import spine_view as spine
from helpers.view.markup import visible, wrapped


class Exhibit:
    """A model with its view. `.model` holds the same facts as data.

    A view may also offer `widget(model)`, an anywidget for stepping. Jupyter then gets three
    forms of the same facts and shows the richest that it may: widget, HTML, text. All but the text
    bear the mark of the `station` of the spine at which the exhibit looks; 0 is none.
    """

    def __init__(self, model, view: View, station: int = 0):
        self.model, self._view, self.station = model, view, station

    def __repr__(self) -> str:
        return wrapped(visible(self._view.text(self.model)))

    def _repr_mimebundle_(self, include=None, exclude=None):
        page = visible(self._view.html(self.model))
        above = spine.mark_html(self.station) if self.station else ""
        data, metadata = {"text/plain": repr(self), "text/html": above + page}, {}
        if (widget := self._widget()) is not None:
            if self.station:
                widget.add_class(f"course-at-{self.station}")
                widget._css = f"{widget._css}\n{spine.mark_css(self.station)}"
            bundle = widget._repr_mimebundle_()
            shown, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            data = {**shown, **data}
        return data, metadata

    def _widget(self):
        """Return what Jupyter may show in place of the page; None without one."""
        make = getattr(self._view, "widget", None)
        return make(self.model) if make else None


class LiveExhibit(Exhibit):
    """A source that is called like a function, with a view of its model as it is now.

    `source` has a `model` that grows with its calls; all its other attributes are at hand here.
    """

    autograph_info__ = {}  # TensorFlow's AutoGraph rewrites no callable that bears this name

    def __init__(self, source, view: View, station: int = 0):
        self._source, self._view, self.station = source, view, station
        self.__doc__ = getattr(source, "__doc__", None)

    @property
    def model(self):
        """Return the model as it is after the last call."""
        return self._source.model

    def __call__(self, *args, **kwargs):
        """Call the source; the model is another one then."""
        return self._source(*args, **kwargs)

    def __get__(self, instance, owner=None):
        # bound to an instance as a function is: what stands in a class is a method
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name):
        if name in ("_source", "_view"):  # not there yet, as while copying
            raise AttributeError(name)
        return getattr(self._source, name)


def model_of(thing):
    """Return the model of an exhibit, and all else as it is."""
    return thing.model if real_isinstance(thing, Exhibit) else thing
