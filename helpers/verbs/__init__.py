"""The verbs: what a capture records, in a view. `helpers` makes one when it is asked for.

A verb's signature and words are those of its capture; what does more stands in `composed`.
"""

import functools
import inspect
from importlib import import_module

from helpers import VERBS
from helpers.exhibit import Exhibit, LiveExhibit, model_of
from helpers.safety.restoring import preserves_interpreter_state

LIVE = ("watch_recompiles", "watch_traces")  # they return what is to be called
OF_EXHIBITS = ("show_call_diff", "show_graph_diff", "show_op_graph")  # they compare models


def __getattr__(name: str):
    """Return the verb of this name; its capture and its view are imported now."""
    if name not in VERBS:
        raise AttributeError(f"module 'helpers.verbs' has no attribute {name!r}")
    capture, view, station = VERBS[name]
    record, drawn = _load(f"capture.{capture}"), _load(f"view.{view}")
    kind = LiveExhibit if name in LIVE else Exhibit
    signature = inspect.signature(record)

    def verb(*args, **kwargs):
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        if name in OF_EXHIBITS:
            args, kwargs = map(model_of, args), {key: model_of(kwargs[key]) for key in kwargs}
        return kind(record(*args, **kwargs), drawn, station)

    functools.update_wrapper(verb, record)
    verb.__name__ = verb.__qualname__ = name
    found = globals()[name] = preserves_interpreter_state(verb)
    return found


def _load(path: str):
    module, _, name = f"helpers.{path}".rpartition(".")
    return getattr(import_module(module), name)
