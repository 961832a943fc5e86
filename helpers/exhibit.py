"""One model and one view of it -> an object that Jupyter, a terminal and a test can all read."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MethodType
from typing import Any

from .model.phrase import interrupted
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

MORE = 'The .text() of this exhibit has {:,} lines: print it. As a page: its .save("x.html").'
PAGE = ".html"


class Exhibit:
    """A model with its view. `.model` holds the same facts as data.

    A view may also offer `widget(model)`, an anywidget for stepping. Jupyter then gets three
    forms of the same facts and shows the richest that it may: widget, HTML, text. All but the text
    show the mark of the `station` of the spine at which the exhibit looks; 0 is none.
    """

    def __init__(self, model, view: View, station: int = 0):
        self.model, self._view, self.station = model, view, station

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
        return _plain(self.model)

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
        recorded = self.recorded() if hasattr(type(self), "recorded") else None
        widget, title = self._marked_widget(), getattr(self.model, "title", "Exhibit")
        page = living_page(title, self._page(), widget.get_state() if widget else {}, recorded)
        place.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")

    def _repr_mimebundle_(self, include=None, exclude=None):
        if _only_text():
            return {"text/plain": repr(self)}, {}
        data, metadata = {"text/plain": self.text(), "text/html": self._page()}, {}
        if (widget := self._marked_widget()) is not None:
            bundle = widget._repr_mimebundle_()
            shown, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
            data = {**shown, **data}
        return data, metadata

    def _page(self) -> str:
        above = render_mark_html(self.station) if self.station else ""
        return above + spell_out(self._view.html(self.model))

    def _marked_widget(self):
        widget = self._widget()
        if widget is not None and self.station:
            widget.add_class(f"course-at-{self.station}")
            widget._css = f"{widget._css}\n{render_mark_css(self.station)}"
        return widget

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

    def __reduce__(self):
        return Exhibit, (self.model, self._view, self.station)  # a copy has no source to call

    @property
    def model(self):
        """Return the model as it is after the last call."""
        return self._source.model

    @breaks_graph
    def __call__(self, *args, **kwargs):
        """Call the source; the model is another one then. If Ctrl-C ends the call, it is drawn."""
        try:
            with frames_left_out_of_graphs():
                return self._source(*args, **kwargs)
        except BaseException as error:
            self._show_where_it_ends(error)
            raise

    def _show_where_it_ends(self, error: BaseException) -> None:
        keep_users_frames(error, of_user=True)
        if isinstance(error, KeyboardInterrupt):
            model = _with_interruption(self.model, self._source.unit)
            draw(Exhibit(model, self._view, self.station))

    def __get__(self, instance, owner=None):
        # bound to an instance as a function is: in a class it is a method
        if instance is None:
            return self
        if not hasattr(type(self._source), "method_of"):
            return MethodType(self, instance)
        own = self._source.method_of(instance, self._around)
        return MethodType(self, instance) if own is None else own

    def _around(self, source) -> "LiveExhibit":
        return LiveExhibit(source, self._view, self.station)

    def __getattr__(self, name):
        return getattr(self._source, name)


class BlockExhibit(Exhibit):
    """What a `with` block is watched by: `.model` has what was seen so far, also when it raised."""

    def __init__(self, source, view: View, station: int = 0):
        self._source, self._view, self.station, self._open = source, view, station, ExitStack()
        self._is_interrupted = False

    @property
    def model(self):
        """Return the model as it is now; its note says if Ctrl-C ended the block."""
        model = self._source.model
        return _with_interruption(model, self._source.unit) if self._is_interrupted else model

    @breaks_graph
    def __enter__(self):
        try:
            with ExitStack() as opened:
                self._interrupts = opened.enter_context(in_users_code())
                opened.enter_context(one_thread_at_a_time())
                opened.enter_context(frames_left_out_of_graphs())
                opened.enter_context(self._source.watching())
                self._open = opened.pop_all()
        except BaseException as error:
            keep_users_frames(error)
            raise
        return self

    @breaks_graph
    def __exit__(self, kind, error, trace) -> None:
        self._open.__exit__(kind, error, trace)
        if error is None and self._interrupts.raised:
            error = self._interrupts.raised[0]
        if isinstance(error, KeyboardInterrupt):
            self._is_interrupted = True
            draw(self)
        if error is not None:
            keep_users_frames(error, of_user=True)
            if kind is None:
                _raise_unchanged(error)


def _raise_unchanged(error: BaseException) -> None:
    """Raise an error without a frame of ours in its traceback."""
    try:
        raise error
    except BaseException:
        error.__traceback__ = None
        raise


def _with_interruption(model, unit: str):
    """Return a model whose note begins with the words that Ctrl-C came, and after how much."""
    rows = getattr(model, "rows", None) or getattr(model, "entries", ())
    return replace(model, note=f"{interrupted(len(rows), unit)} {model.note}".rstrip())


def model_of(thing: object) -> Any:
    """Return the model of an exhibit, and all else as it is."""
    return thing.model if real_isinstance(thing, Exhibit) else thing


def _only_text() -> bool:
    """Return whether IPython shows nothing but text here, as in a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    shown = getattr(getattr(shell, "display_formatter", None), "active_types", ())
    return list(shown) == ["text/plain"]


def _plain(value: object) -> object:
    """Return a model, or a part of it, as dicts, lists, text, numbers and None."""
    names = getattr(value, "__dataclass_fields__", getattr(value, "_fields", None))
    if names is not None:
        parts = {name: _plain(getattr(value, name)) for name in names}
        return {"record": type(value).__name__, **parts}
    if real_isinstance(value, tuple, list):
        return [_plain(item) for item in value]
    known = real_isinstance(value, str, bool, int, float, type(None))
    return value if known else real_type_name(value)
