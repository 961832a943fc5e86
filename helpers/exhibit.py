"""Join a model and a view of it to an exhibit, which Jupyter, a terminal and a test can all read.
A *model* is a frozen record with facts, for example the rows of a table. A *view* makes the text
and the HTML form of such a model. A *verb* is a public function, such as `show_bytecode`, that
returns an exhibit.
"""

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
from .safety.interrupts import defer_signal_handlers
from .safety.restoring import one_thread_at_a_time, show_result
from .safety.users_frames import remove_verb_frames
from .view import View
from .view.living import render_live_page
from .view.plain_text import cut_to_screen, escape_invisible, wrap_text
from .view.station_mark import render_mark_css, render_mark_html

# The last line of a repr that is too long for a screen. `{:,}` is how many lines the text has.
MORE = 'The .text() of this exhibit has {:,} lines: print it. As a page: its .save("x.html").'
PAGE = ".html"


class Exhibit:
    """A model with its view. `.model` has the facts as data.

    Jupyter gets the same facts as text, as HTML and, from some views, as an interactive widget. It
    shows the richest form that it supports.

    Parameters
    ----------
    model : record
        A frozen record of `helpers.model`.
    view : View
        Makes the forms of such a model.
    station : int
        One of the places 1 to 6 on the course's map of a call. Its mark is shown above the HTML and
        the widget. 0 for no mark.
    """

    def __init__(self, model, view: View, station: int = 0):
        self.model = model
        self._view = view
        self.station = station

    @breaks_graph  # torch.compile does not translate it
    def __repr__(self) -> str:
        """Return the text form, cut in the middle if it is longer than a screen."""
        return cut_to_screen(self.text(), MORE)

    @breaks_graph  # torch.compile does not translate it
    def text(self) -> str:
        """Return the whole text form, however long, with long lines wrapped."""
        # A terminal would obey control characters. `escape_invisible` replaces them by codes.
        return wrap_text(escape_invisible(self._view.text(self.model)))

    def to_dict(self) -> dict:
        """Return the model as a dict that JSON can store.

        A record becomes a dict of its fields. The key "record" has the name of its type.
        """
        return _to_plain(self.model)

    def save(self, path: str | Path) -> None:
        """Write one HTML file that needs no network; steps and choices work as in Jupyter.

        A file of this name is replaced. ValueError for a name that does not end in .html,
        FileNotFoundError for one in a folder that is missing.
        """
        page_path = Path(path)
        if page_path.suffix.lower() != PAGE:
            name = quote_value(page_path.name)
            raise ValueError(f"a page's name must end in {PAGE}, unlike {name}")
        folder = page_path.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"{str(folder)!r} is not a folder, and save makes none")

        title = getattr(self.model, "title", "Exhibit")
        widget = self._marked_widget()
        widget_state = widget.get_state() if widget else {}
        # A page has no Python. If a widget runs code, the class of the exhibit has a method
        # `recorded`, which returns what the code gave. The page shows that.
        recorded = self.recorded() if hasattr(type(self), "recorded") else None
        page = render_live_page(title, self._page(), widget_state, recorded)
        page_path.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")

    def _repr_mimebundle_(self, include=None, exclude=None):
        """Return ({MIME type: form of the exhibit}, metadata), as IPython asks of an object.

        IPython also passes the MIME types to include and to exclude. An object may ignore them.
        """
        if _shows_only_text():  # a terminal: the cut form is enough
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
        """Return the HTML form, with the mark of the station above it if the exhibit has one."""
        mark = render_mark_html(self.station) if self.station else ""
        return mark + escape_invisible(self._view.html(self.model))

    def _marked_widget(self):
        """Return a new widget with the mark of the station, or None if the view has no widget.

        A station is one of the places on the course's map of a call; 0 is none.
        """
        widget = self._widget()
        if widget is not None and self.station:
            # The style sheet draws the mark on each element of this class.
            widget.add_class(f"course-at-{self.station}")
            widget._css = f"{widget._css}\n{render_mark_css(self.station)}"
        return widget

    def _widget(self):
        """Return a new anywidget of the model, or None if the view has no widget."""
        make_widget = getattr(self._view, "widget", None)
        return make_widget(self.model) if make_widget else None


class LiveExhibit(Exhibit):
    """An exhibit that can be called: it records its calls, and shows what it has recorded so far.

    Parameters
    ----------
    source : callable
        Makes and records the calls. Its attribute `model` is the record of the calls so far, and
        `unit` is what a row of the record is called, such as "call". All its other attributes can
        be read from the exhibit, too.
    view : View
        Makes the forms of such a model.
    station : int
        The station of the map, as in `Exhibit`.
    """

    autograph_info__ = {}  # TensorFlow's AutoGraph does not rewrite a callable with this attribute

    def __init__(self, source, view: View, station: int = 0):
        self._source = source
        self._view = view
        self.station = station
        self.__doc__ = getattr(source, "__doc__", None)  # as functools.wraps does

    def __reduce__(self):
        """Return how `copy` and `pickle` copy this: as an ordinary exhibit, not as a callable."""
        return Exhibit, (self.model, self._view, self.station)

    @property
    def model(self):
        """Return the model as it is after the last call."""
        return self._source.model

    @breaks_graph  # torch.compile does not translate it
    def __call__(self, *args, **kwargs):
        """Call the source, which records the call. If Ctrl-C ends the call, show the exhibit."""
        try:
            # TensorFlow must not note this package's frames as the place where an op was made.
            with frames_left_out_of_graphs():
                return self._source(*args, **kwargs)
        except BaseException as error:
            self._handle_error(error)
            raise

    def _handle_error(self, error: BaseException) -> None:
        """Leave only the user's frames in the error's traceback. After Ctrl-C, show the exhibit.

        It is shown here, because Jupyter displays no result of a cell that was interrupted.
        """
        remove_verb_frames(error, of_user=True)
        if isinstance(error, KeyboardInterrupt):
            model = _with_interruption(self.model, self._source.unit)
            show_result(Exhibit(model, self._view, self.station))

    def __get__(self, instance, owner=None):
        """Return what `instance.name` is, if the exhibit is the attribute `name` of a class.

        As for a function in a class, it is a method: the call passes `instance` first. A source can
        decide otherwise with `method_of(instance, make_exhibit)`, which returns what to call, such
        as a further exhibit that records only the calls of this instance, or None for a method.
        """
        if instance is None:  # read from the class itself, as in `Class.name`
            return self
        own_method = None
        if hasattr(type(self._source), "method_of"):
            own_method = self._source.method_of(instance, self._make_exhibit)
        return MethodType(self, instance) if own_method is None else own_method

    def _make_exhibit(self, source) -> "LiveExhibit":
        """Return a live exhibit of another source, with the same view and station as this one."""
        return LiveExhibit(source, self._view, self.station)

    def __getattr__(self, name):
        """Return an attribute of the source. Python calls this if the exhibit does not have it."""
        return getattr(self._source, name)


class BlockExhibit(Exhibit):
    """An exhibit for a `with` statement: it records what runs in the block.

    The record can be read during the block and after it, also if the block raises an error.

    Parameters
    ----------
    source : object
        Makes the record. Its method `watching()` returns a context manager that records. `model` is
        the record so far, and `unit` is what a row of the record is called, such as "call".
    view : View
        Makes the forms of such a model.
    station : int
        The station of the map, as in `Exhibit`.
    """

    def __init__(self, source, view: View, station: int = 0):
        self._source = source
        self._view = view
        self.station = station
        self._opened = ExitStack()  # the context managers that `__enter__` opened
        self._is_interrupted = False

    @property
    def model(self):
        """Return the model as it is now. Its note says so if Ctrl-C ended the block."""
        model = self._source.model
        return _with_interruption(model, self._source.unit) if self._is_interrupted else model

    @breaks_graph  # torch.compile does not translate it
    def __enter__(self):
        """Begin to record. If that fails, undo what was done so far, and raise the error."""
        try:
            with ExitStack() as opened:
                # Notes each Ctrl-C in the block, also one that a framework catches.
                self._interrupts = opened.enter_context(defer_signal_handlers())
                opened.enter_context(one_thread_at_a_time())
                # TensorFlow must not note this package's frames as the place where an op was made.
                opened.enter_context(frames_left_out_of_graphs())
                opened.enter_context(self._source.watching())
                # Nothing has failed: keep all of them open. `__exit__` closes them.
                self._opened = opened.pop_all()
        except BaseException as error:
            remove_verb_frames(error)
            raise
        return self

    @breaks_graph  # torch.compile does not translate it
    def __exit__(self, kind, error, trace) -> None:
        """Stop recording. After Ctrl-C, show the exhibit.

        A KeyboardInterrupt that a framework has caught in the block is raised here again. `error`
        is what the block raised, None for nothing.
        """
        self._opened.__exit__(kind, error, trace)
        if error is None and self._interrupts.raised:  # Ctrl-C came, but a framework caught it
            error = self._interrupts.raised[0]

        if isinstance(error, KeyboardInterrupt):
            self._is_interrupted = True
            show_result(self)
        if error is not None:
            remove_verb_frames(error, of_user=True)
            has_block_raised = kind is not None  # then Python itself raises the error again
            if not has_block_raised:
                _raise_without_frames(error)


def _raise_without_frames(error: BaseException) -> None:
    """Raise an error with a traceback in which no frame of this module is."""
    try:
        raise error
    except BaseException:
        error.__traceback__ = None  # the `raise` above has put this frame into it
        raise


def _with_interruption(model, unit: str):
    """Return a copy of the model, whose note begins with a sentence that Ctrl-C ended the record.

    The sentence says after how many rows. `unit` is what a row is called, such as "call".
    """
    # A `Listing` has `rows`, a `Ledger` has `entries`.
    rows = getattr(model, "rows", None) or getattr(model, "entries", ())
    return replace(model, note=f"{describe_interruption(len(rows), unit)} {model.note}".rstrip())


def model_of(thing: object) -> Any:
    """Return the model of an exhibit; return any other object as it is."""
    return thing.model if real_isinstance(thing, Exhibit) else thing


def _shows_only_text() -> bool:
    """Return whether this runs in an IPython that shows only text, such as one in a terminal."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if get_ipython else None
    formatter = getattr(shell, "display_formatter", None)
    return list(getattr(formatter, "active_types", ())) == ["text/plain"]


def _to_plain(value: object) -> object:
    """Return a model, or a value in it, as dicts, lists, text, numbers and None.

    An object of any other type, such as a value that a user put into a table, becomes the name of
    its type.
    """
    # The names of the fields of a dataclass or of a named tuple, None for any other value.
    field_names = getattr(value, "__dataclass_fields__", getattr(value, "_fields", None))
    if field_names is not None:
        fields = {name: _to_plain(getattr(value, name)) for name in field_names}
        return {"record": type(value).__name__, **fields}
    if real_isinstance(value, tuple, list):
        return [_to_plain(item) for item in value]
    if real_isinstance(value, str, bool, int, float, type(None)):
        return value
    return real_type_name(value)
