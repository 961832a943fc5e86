"""Facts about a trace in a `with` block -> the name and the sentences of its row. The block is that
of `with watching_traces():`, which shows each trace of any tf.function. The *wrapped callables* of
a tf.function are the functions, methods, partials and tf.functions inside it, the outermost first.
For `tf.function(model.step)` they include the method `model.step`.
"""

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
    """Return the name under which a reader knows a traced function.

    If the function wraps a method of another name, the method follows in brackets, as in
    "one_step_on_data (train_step)". `callables` are the wrapped callables of the function.
    """
    named_function = python_function
    partial_targets = [wrapped.func for wrapped in callables if type(wrapped) is partial]
    if partial_targets and is_of_tensorflow(python_function):
        # TensorFlow wraps a partial into a function of TensorFlow, and a reader does not know the
        # name of that. The innermost partial contains the function that the reader wrote.
        named_function = partial_targets[-1]
    name = read_callable_name(named_function)
    method_names = [
        read_callable_name(wrapped) for wrapped in callables if type(wrapped) is MethodType
    ]
    if method_names and method_names[0] != name:
        return f"{name} ({method_names[0]})"
    return name


def describe_other_owners(names: list[str]) -> str:
    """Return the sentence on a first trace of a tf.function whose code was traced before.

    An *owner* is an object to which a tf.function belongs: the `self` of a method, a value on which
    a closure closes, an argument of a partial. `names` are those of the owners that differ from the
    earlier tf.function's. A different `self` alone is not worth a remark: each object of a class
    has its own tf.function.
    """
    remarkable = [name for name in names if name != SELF]
    if not remarkable:
        return FIRST
    others = format_names(remarkable, MOST_OWNERS)
    return f"{FIRST}; its code was traced before, with another {others}"


def describe_new_function(callables: list, module: str) -> tuple[str, tuple[Cause, ...]]:
    """Return the sentence and the causes for a new tf.function of code that was traced before.

    `callables` are the wrapped callables of the new tf.function, and `module` is the name of the
    module that defines the tf.function. The sentence names who made the new tf.function, because
    only that author can change the line and make it once.
    """
    if module == KERAS_TRAINER:
        step = find_step_name(callables)
        note = f"Keras made a new {step} function of this model"
        models = list_models(callables)
        # `compile()` of a Keras model drops its functions, so the next `fit` makes new ones.
        if any(getattr(model, "compiled", False) is True for model in models):
            note += "; each compile() causes that"
        return note, (Cause(f"{step} function", "object", EARLIER, NEW),)
    if module.startswith("tensorflow."):
        # The program can do nothing about what TensorFlow makes. It is no retrace of the program.
        return FIRST, ()

    cause = Cause("tf.function", "object", EARLIER, NEW)
    note = "new tf.function of code traced before"
    if all(is_library(code.co_filename) for code in list_codes(callables)):
        # No code of the program is traced, so a library makes its own tf.function again and again.
        library, _, _ = module.partition(".")
        return f"{note}, made by {library}", (cause,)
    return f"{note}: make the tf.function once", (cause,)
