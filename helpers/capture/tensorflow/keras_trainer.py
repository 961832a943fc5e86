"""A function that Keras's trainer has made -> the step that it runs ("train"), and the model.

`make_train_function` and the functions beside it (keras/src/backend/tensorflow/trainer.py) wrap a
method of the model into a tf.function. The functions here accept what `list_wrapped_callables`
returns of such a tf.function.
"""

from contextlib import suppress
from types import FunctionType, MethodType

from ..cpython.objects import read_callable_name


def find_step_name(callables: list) -> str:
    """Return "train", "test" or "predict": the step that a function of Keras's trainer runs.

    `callables` are the functions and methods that the function wraps.
    """
    for wrapped in callables:
        if type(wrapped) is MethodType:  # such as `train_step` of the model
            step, _, _ = read_callable_name(wrapped).partition("_")
            return step
    return "predict"  # Keras wraps no method for this step, but a function that closes on the model


def list_models(callables: list) -> list:
    """Return the models whose steps run.

    These are the objects of the methods among the wrapped `callables`, and what the functions among
    them close on under the name `self`.
    """
    models = [wrapped.__self__ for wrapped in callables if type(wrapped) is MethodType]
    for wrapped in callables:
        if type(wrapped) is FunctionType and "self" in wrapped.__code__.co_freevars:
            index = wrapped.__code__.co_freevars.index("self")
            with suppress(ValueError):  # a cell without contents
                models.append(wrapped.__closure__[index].cell_contents)
    return models
