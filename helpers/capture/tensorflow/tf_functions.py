"""What a user passes as a function -> a tf.function, or a TypeError with one clear sentence."""

import inspect
from types import FunctionType, MethodType

from ...model.phrase import clip_text
from ...safety.arguments import find_near_word, quote_value, real_isinstance, static_attribute
from ..cpython.frameworks_of_callables import refuse_other_framework
from ..cpython.objects import find_inherited
from ..text.error import describe_error, suggest_function_of_module
from .trace_recorder import find_recorder

KERAS_TRAINER = "keras.src.backend.tensorflow.trainer"
PYTHON_FUNCTIONS = FunctionType, MethodType
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
LONGEST_MESSAGE = 2_400  # characters


def require_tf_function(fn, options=(), args=()):
    """Return `fn` itself if it is a tf.function, else `tf.function(fn, **options)`.

    `args` are arguments of a planned call. Raise TypeError if there is a tensor of another
    framework among them, or if no tf.function can be made of `fn`.
    """
    refuse_other_framework(fn, args, "watch_traces", "TensorFlow")
    import tensorflow as tf

    recorder = find_recorder(fn)
    if recorder is not None:
        # `fn` is what `watch_traces` returned, which stands for the tf.function that it watches.
        fn = recorder.function
    kinds = tf.types.experimental
    # The class of `fn` may have a `__call__` with the decorator `@tf.function`.
    method = find_inherited(type(fn), "__call__")
    if real_isinstance(method, kinds.PolymorphicFunction):
        fn = method.__get__(fn, type(fn))

    if real_isinstance(fn, kinds.PolymorphicFunction):
        if options:
            raise TypeError("this is already a tf.function; pass the options to tf.function itself")
        return fn
    if real_isinstance(fn, kinds.ConcreteFunction):
        raise TypeError("a ConcreteFunction is one trace and makes no other; pass the tf.function")
    quoted = quote_value(fn)
    # A wrapper around a tf.function, such as one by `functools.wraps`, would be traced as Python,
    # and that would hide the traces of the tf.function in it.
    if real_isinstance(static_attribute(fn, "__wrapped__"), kinds.PolymorphicFunction):
        raise TypeError(f"{quoted} wraps a tf.function; watch that one, its __wrapped__")
    if not callable(fn):
        raise TypeError(
            f"a function is needed, and {quoted} cannot be called{suggest_function_of_module(fn)}"
        )
    return make_tf_function(fn, **dict(options))


def make_tf_function(fn, **options):
    """Return `tf.function(fn, **options)`. Raise TypeError, in one sentence, if that fails."""
    import tensorflow as tf

    if type(fn) is FunctionType and fn.__code__.co_flags & ASYNC:
        only = f"a call of {quote_value(fn)} only makes a coroutine"
        raise TypeError(f"{only}, which TensorFlow cannot trace")
    if real_isinstance(fn, *PYTHON_FUNCTIONS) and fn.__module__ == KERAS_TRAINER:
        loop = "is a loop in Python around its own tf.function, which TensorFlow cannot trace"
        raise TypeError(f"{fn.__name__} of Keras {loop}; use `with watching_traces(): fit(…)`")
    try:
        function = tf.function(fn, **options)
        inspect.signature(function)  # a recorder of the function will need it
    except Exception as error:  # attributes of `fn`, which these read, may raise anything
        raise TypeError(_describe_refusal(fn, options, error)) from None
    return function


def _describe_refusal(fn, options: dict, error: Exception) -> str:
    """Return the sentence on why TensorFlow makes no tf.function of `fn` with these options.

    It ends with a suggestion if an option looks like a misspelt parameter of tf.function.
    """
    import tensorflow as tf

    message = f"tf.function does not accept {quote_value(fn)}"
    if options:
        message += f" with {', '.join(options)}"
    else:
        message += "; wrap it in a def"
    message += f": {describe_error(error)}"

    parameters = inspect.signature(tf.function).parameters
    unknown_options = [name for name in options if name not in parameters]
    suggestions = [find_near_word(name, parameters) for name in unknown_options]
    if any(suggestions):
        message += f"; did you mean {suggestions[0]}=?"
    return clip_text(message, LONGEST_MESSAGE)
