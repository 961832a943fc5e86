"""What a program passes to a verb -> the tf.function that it is, or becomes; or one sentence."""

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
    """Return the tf.function that `fn` is, or `tf.function(fn, **options)`.

    `args` are arguments of a call, if there are any: a tensor of another framework among them is
    refused. TypeError says, in one sentence, why `fn` can be no tf.function.
    """
    refuse_other_framework(fn, args, "watch_traces", "TensorFlow")
    import tensorflow as tf

    recorder = find_recorder(fn)
    if recorder is not None:
        fn = recorder.function
    kinds = tf.types.experimental
    # `fn` may be an object whose class decorates its `__call__`.
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
    if real_isinstance(static_attribute(fn, "__wrapped__"), kinds.PolymorphicFunction):
        raise TypeError(f"{quoted} wraps a tf.function; watch that one, its __wrapped__")
    if not callable(fn):
        raise TypeError(
            f"a function is needed, and {quoted} cannot be called{suggest_function_of_module(fn)}"
        )
    return make_tf_function(fn, **dict(options))


def make_tf_function(fn, **options):
    """Return `tf.function(fn, **options)`. TypeError, in one sentence, if TensorFlow refuses."""
    import tensorflow as tf

    if type(fn) is FunctionType and fn.__code__.co_flags & ASYNC:
        only = f"a call of {quote_value(fn)} only makes a coroutine"
        raise TypeError(f"{only}, which TensorFlow cannot trace")
    if real_isinstance(fn, *PYTHON_FUNCTIONS) and fn.__module__ == KERAS_TRAINER:
        loop = "is a loop in Python around its own tf.function, which TensorFlow cannot trace"
        raise TypeError(f"{fn.__name__} of Keras {loop}; use `with watching_traces(): fit(…)`")
    try:
        function = tf.function(fn, **options)
        inspect.signature(function)
    except Exception as error:  # what `fn` says of itself may raise anything
        raise TypeError(_describe_refusal(fn, options, error)) from None
    return function


def _describe_refusal(fn, options: dict, error: Exception) -> str:
    """Return why TensorFlow makes no tf.function of `fn` with these options."""
    import tensorflow as tf

    attempt = f"with {', '.join(options)}" if options else ""
    message = f"tf.function does not accept {quote_value(fn)}"
    message += f" {attempt}" if attempt else "; wrap it in a def"
    message += f": {describe_error(error)}"

    parameters = inspect.signature(tf.function).parameters
    unknown = [name for name in options if name not in parameters]
    similar = [find_near_word(name, parameters) for name in unknown]
    if any(similar):
        message += f"; did you mean {similar[0]}=?"
    return clip_text(message, LONGEST_MESSAGE)
