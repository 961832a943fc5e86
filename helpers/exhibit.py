"""One model and one view of it -> an object that Jupyter, a terminal and a test can all read."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MethodType
from typing import Any

from .model.phrase import describe_interruption
from .safety.arguments import quote_value, real_isinstance, real_type_name
from .safety.dynamo_aside import breaks_graph
from .safety.graph_frames import frames_left_out_of_graphs
from .safety.interrupts import in_users_code
from .safety.restoring import draw, one_thread_at_a_time
from .safety.users_frames import keep_users_frames
from .view import View
from .view.living import living_page
from .view.plain_text import cut_to_screen, spell_out, wrap_text
from .view.station_mark import render_mark_css, render_mark_html

# The last line of a repr that is cut; `{:,}` is the number of all lines.
MORE = 'The .text() of this exhibit has {:,} lines: print it. As a page: its .save("x.html").'
PAGE = ".html"


class Exhibit:
    """A model with its view. `.model` has the facts as data.

    Jupyter gets the same facts as text, as HTML and, from some views, as an anywidget. It shows
    the richest form that it may.

    Parameters
    ----------
    model : record
        A frozen record of `helpers.model`.
    view : View
        Makes the forms of such a model.
    station : int
        The station of the map, 1 to 6, whose mark stands above the HTML and the widget. 0 for none.
    """

    def __init__(self, model, view: View, station: int = 0):
        self.model = model
        self._view = view
        self.station = station

    @breaks_graph
    def __repr__(self) -> str:
        """Return the text form, at most a screen of it; Jupyter stores all of it."""
        return cut_to_screen(self.text(), MORE)

    @breaks_graph
    def text(self) -> str:
        """Return the whole text form, however long."""
        return wrap_text(spell_out(self._view.text(self.model)))

    def to_dict(self) -> dict:
        """Return the model as a dict that JSON can store; `record` names the type of a record."""
        return _to_plain(self.model)

    def save(self, path: str | Path) -> None:
        """Write one HTML file that needs no network; steps and choices work as in Jupyter.

        A file of this name is replaced. ValueError for a name that does not end in .html,
        FileNotFoundError for one in a folder that is missing.
        """
        place = Path(path)
        if place.suffix.lower() != PAGE:
            raise ValueError(f"a page's name must end in {PAGE}, unlike {quote_value(place.name)}")
        if not place.parent.is_dir():
            raise FileNotFoundError(f"{str(place.parent)!r} is not a folder, and save makes none")

        title = getattr(self.model, "title", "Exhibit")
        widget = self._marked_widget()
        widget_state = widget.get_state() if widget else {}
        recorded = self.recorded() if hasattr(type(self), "recorded") else None
        page = living_page(title, self._page(), widget_state, recorded)
        place.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return the forms by their MIME types, and metadata: the pair that IPython asks for.

        IPython passes `include` and `exclude`, MIME types, which an object need not heed.
        """
        if _shows_only_text():
            return {"text/plain": repr(self)}, {}

        forms = {"text/plain": self.text(), "text/html": self._page()}
        widget = self._marked_widget()
        if widget is None:
            return forms, {}

        widget_bundle = widget._repr_mimebundle_()
        if not isinstance(widget_bundle, tuple):  # older ipywidgets return no metadata
            widget_bundle = (widget_bundle, {})
        widget_forms, metadata = widget_bundle
        return {**widget_forms, **forms}, metadata

    def _page(self) -> str:
        """Return the HTML form, below the mark of the station if the exhibit has one."""
        mark = render_mark_html(self.station) if self.station else ""
        return mark + spell_out(self._view.html(self.model))

    def _marked_widget(self):
        """Return the widget with the mark of the station, or None if the view has no widget."""
        widget = self._widget()
        if widget is not None and self.station:
            widget.add_class(f"course-at-{self.station}")
            widget._css = f"{widget._css}\n{render_mark_css(self.station)}"
        return widget

    def _widget(self):
        """Return a new anywidget of the model, or None if the view has no widget."""
        make_widget = getattr(self._view, "widget", None)
        return make_widget(self.model) if make_widget else None


class LiveExhibit(Exhibit):
    """A callable that records its calls, with a view of what it has recorded so far.

    Parameters
    ----------
    source : callable
        Has `model`, a record of its calls so far, and `unit`, what a row of that record is called.
        All other attributes of the source are attributes of the exhibit, too.
    view : View
        Makes the forms of such a model.
    station : int
        The station of the map. 0 for none.
    """

    autograph_info__ = {}  # TensorFlow's AutoGraph rewrites no callable that bears this name

    def __init__(self, source, view: View, station: int = 0):
        self._source = source
        self._view = view
        self.station = station
        self.__doc__ = getattr(source, "__doc__", None)  # as functools.wraps does it

    def __reduce__(self):
        """Return how to make a copy: an ordinary exhibit, because a copy has no source to call."""
        return Exhibit, (self.model, self._view, self.station)

    @property
    def model(self):
        """Return the model as it is after the last call."""
        return self._source.model

    @breaks_graph
    def __call__(self, *args, **kwargs):
        """Call the source, which records the call. If Ctrl-C ends the call, draw the exhibit."""
        try:
            with frames_left_out_of_graphs():
                return self._source(*args, **kwargs)
        except BaseException as error:
            self._show_where_it_ends(error)
            raise

    def _show_where_it_ends(self, error: BaseException) -> None:
        """Leave only the user's frames in the error's traceback; draw the exhibit after Ctrl-C.

        The exhibit is drawn here, because a cell that is interrupted displays no result.
        """
        keep_users_frames(error, of_user=True)
        if isinstance(error, KeyboardInterrupt):
            model = _with_interruption(self.model, self._source.unit)
            draw(Exhibit(model, self._view, self.station))

    def __get__(self, instance, owner=None):
        """Return a method of `instance`, as a function in a class does.

        A source may have `method_of(instance, make_exhibit)`. It returns what is called then, such
        as an exhibit with a record of its own for each instance, or None for an ordinary method.
        """
        if instance is None:  # looked up on the class
            return self
        own_method = None
        if hasattr(type(self._source), "method_of"):
            own_method = self._source.method_of(instance, self._make_exhibit)
        return MethodType(self, instance) if own_method is None else own_method

    def _make_exhibit(self, source) -> "LiveExhibit":
        """Return an exhibit of another source, with the same view and station as this one."""
        return LiveExhibit(source, self._view, self.station)

    def __getattr__(self, name):
        """Return an attribute of the source; Python asks here for what the exhibit has not."""
        return getattr(self._source, name)


class BlockExhibit(Exhibit):
    """A `with` block that records what runs in it. The record stays if the block raises.

    Parameters
    ----------
    source : object
        Has `watching()`, a context manager that records; `model`, what it has recorded so far; and
        `unit`, what a row of the model is called.
    view : View
        Makes the forms of such a model.
    station : int
        The station of the map. 0 for none.
    """

    def __init__(self, source, view: View, station: int = 0):
        self._source = source
        self._view = view
        self.station = station
        self._opened = ExitStack()  # the context managers that `__exit__` closes
        self._is_interrupted = False

    @property
    def model(self):
        """Return the model as it is now; its note says if Ctrl-C ended the block."""
        model = self._source.model
        return _with_interruption(model, self._source.unit) if self._is_interrupted else model

    @breaks_graph
    def __enter__(self):
        """Begin to record; if that fails, close what is open already and raise the error."""
        try:
            with ExitStack() as opened:
                self._interrupts = opened.enter_context(in_users_code())
                opened.enter_context(one_thread_at_a_time())
                opened.enter_context(frames_left_out_of_graphs())
                opened.enter_context(self._source.watching())
                self._opened = opened.pop_all()  # closed by __exit__, not by this block
        except BaseException as error:
            keep_users_frames(error)
            raise
        return self

    @breaks_graph
    def __exit__(self, kind, error, trace) -> None:
        """Stop recording, and draw the exhibit after Ctrl-C.

        A KeyboardInterrupt that a framework has caught in the block is raised here again.
        """
        self._opened.__exit__(kind, error, trace)
        if error is None and self._interrupts.raised:  # Ctrl-C came, but a framework caught it
            error = self._interrupts.raised[0]

        if isinstance(error, KeyboardInterrupt):
            self._is_interrupted = True
            draw(self)
        if error is not None:
            keep_users_frames(error, of_user=True)
            if kind is None:  # otherwise Python raises the block's error again
                _raise_without_frames(error)


def _raise_without_frames(error: BaseException) -> None:
    """Raise an error whose traceback names no frame of this module."""
    try:
        raise error
    except BaseException:
        error.__traceback__ = None  # the `raise` above has put this frame into it
        raise


def _with_interruption(model, unit: str):
    """Return the model with a note that Ctrl-C came, and after how many rows.

    `unit` is what a row is called, such as `call`. A listing has rows, and a ledger entries.
    """
    rows = getattr(model, "rows", None) or getattr(model, "entries", ())
    return replace(model, note=f"{describe_interruption(len(rows), unit)} {model.note}".rstrip())


def model_of(thing: object) -> Any:
    """Return the model of an exhibit; return any other object as it is."""
    return thing.model if real_isinstance(thing, Exhibit) else thing


def _shows_only_text() -> bool:
    """Return whether this runs in an IPython that shows only text, as in a terminal."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if get_ipython else None
    formatter = getattr(shell, "display_formatter", None)
    return list(getattr(formatter, "active_types", ())) == ["text/plain"]


def _to_plain(value: object) -> object:
    """Return a model, or a part of it, as dicts, lists, text, numbers and None.

    Another object in a model, such as a row's value that a user made, becomes the name of its type.
    """
    field_names = getattr(value, "__dataclass_fields__", getattr(value, "_fields", None))
    if field_names is not None:
        fields = {name: _to_plain(getattr(value, name)) for name in field_names}
        return {"record": type(value).__name__, **fields}
    if real_isinstance(value, tuple, list):
        return [_to_plain(item) for item in value]
    if real_isinstance(value, str, bool, int, float, type(None)):
        return value
    return real_type_name(value)
