"""The verbs: what a capture records, in a view. The front door makes one when asked for it.

A verb's signature and words are those of its capture; what does more stands in `composed`.
"""

import functools
import inspect
from importlib import import_module

from .. import INSTRUMENTS, VERBS
from ..exhibit import BlockExhibit, Exhibit, LiveExhibit, model_of
from ..safety import PACKAGE
from ..safety.restoring import preserves_interpreter_state

__all__ = list(INSTRUMENTS)
LIVE = ("watch_recompiles", "watch_traces")  # they return what is to be called
OF_ONE_CALL = """
    watch_breaks watch_call watch_compile watch_frames watch_hooked watch_names watch_ops
    watch_rewriting watch_stack
"""  # the error of that call is raised when it is drawn; of other verbs it is a result
OF_EXHIBITS = ("show_call_diff", "show_graph_diff", "show_op_graph")  # they compare models


def __getattr__(name: str):
    """Return the verb of this name; its capture and its view are imported now."""
    if name not in VERBS:
        if name in __all__:
            return getattr(import_module(PACKAGE), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    capture, view, station = VERBS[name]
    record, drawn = _load(f"capture.{capture}"), _load(f"view.{view}")
    block = name.startswith("watching_")
    kind = LiveExhibit if name in LIVE else BlockExhibit if block else Exhibit
    signature = inspect.signature(record)

    def verb(*args, **kwargs):
        if name in OF_EXHIBITS:
            args, kwargs = map(model_of, args), {key: model_of(kwargs[key]) for key in kwargs}
        return kind(record(*args, **kwargs), drawn, station)

    functools.update_wrapper(verb, record)
    verb.__name__ = verb.__qualname__ = name
    if name in LIVE:
        verb.how_to_call = f"it returns what to call: {name}(fn)(…)"
    verb.__signature__ = signature.replace(return_annotation=kind)
    verb.__annotations__ = {**verb.__annotations__, "return": kind}
    results = () if name in OF_ONE_CALL.split() else Exception
    found = globals()[name] = preserves_interpreter_state(verb, results)
    return found


def _load(path: str):
    module, _, name = f"{PACKAGE}.{path}".rpartition(".")
    return getattr(import_module(module), name)
