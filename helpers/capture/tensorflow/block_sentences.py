"""Facts about a trace in a `with` block -> the name and the sentences of its row."""

from functools import partial
from types import MethodType

from ...model.phrase import format_names
from ...model.trace_records import Cause
from ...safety.users_frames import is_library
from ..cpython.objects import read_callable_name
from .function_owners import SELF, is_of_tensorflow, list_codes
from .keras_trainer import find_step_name, list_models
from .tf_functions import KERAS_TRAINER
from .trace_causes import FIRST

EARLIER = "an earlier one"
NEW = "a new one of its code"
MOST_OWNERS = 3  # names in a sentence


def name_traced_function(python_function, callables: list) -> str:
    """Return the name of a traced function, with that of the method that it wraps, if any.

    `callables` are the wrapped callables of the Python function.
    """
    named = python_function
    partials = [wrapped.func for wrapped in callables if type(wrapped) is partial]
    if partials and is_of_tensorflow(python_function):
        # TensorFlow wraps a partial into a function of its own, whose name says nothing.
        named = partials[-1]
    name = read_callable_name(named)
    methods = [read_callable_name(wrapped) for wrapped in callables if type(wrapped) is MethodType]
    if methods and methods[0] != name:
        return f"{name} ({methods[0]})"
    return name


def describe_other_owners(names: list[str]) -> str:
    """Return why code that was traced before counts as traced first: `names` of its new owners."""
    shown = [name for name in names if name != SELF]
    if not shown:
        return FIRST
    return f"{FIRST}; its code was traced before, with another {format_names(shown, MOST_OWNERS)}"


def describe_new_function(callables: list, module: str) -> tuple[str, tuple[Cause, ...]]:
    """Return who made a new tf.function of code that was traced before, and the cause.

    `callables` are its wrapped callables, and `module` is the name of the module that defines it.
    Only the author of the line that makes the tf.function can make it once, so that a library is
    named. If TensorFlow made it, it is no retrace of the program's: the result is a first trace.
    """
    if module == KERAS_TRAINER:
        step = find_step_name(callables)
        note = f"Keras made a new {step} function of this model"
        models = list_models(callables)
        if any(getattr(model, "compiled", False) is True for model in models):
            note += "; each compile() causes that"
        return note, (Cause(f"{step} function", "object", EARLIER, NEW),)
    if module.startswith("tensorflow."):
        return FIRST, ()

    cause = Cause("tf.function", "object", EARLIER, NEW)
    note = "new tf.function of code traced before"
    if all(is_library(code.co_filename) for code in list_codes(callables)):
        library, _, _ = module.partition(".")
        return f"{note}, made by {library}", (cause,)
    return f"{note}: make the tf.function once", (cause,)
