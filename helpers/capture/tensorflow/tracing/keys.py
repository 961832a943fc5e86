"""A tf.function and arguments -> its cache keys and the key of a call, asked of TensorFlow itself.

Everything here reads: no lookup goes through the function's own tables, because a lookup that
finds a more general key writes that down (`TypeDispatchTable._cache_dispatch`). Follows
tensorflow/python/eager/polymorphic_function/tracing_compilation.py: `_maybe_define_function`.
"""

import threading
from types import FunctionType, ModuleType

from helpers.safety.arguments import is_a, kind_of

MOST_THINGS = 50_000  # in the arguments of a call; TensorFlow takes about 50 µs for each


def sized(args, kwargs) -> None:
    """Raise ValueError if the containers in the arguments hold more than `MOST_THINGS`."""
    total = 0
    for items in _containers(args, kwargs):
        total += len(items)
        if total > MOST_THINGS:
            raise ValueError(
                f"the arguments hold more than {MOST_THINGS:,} things, and tf.function looks at "
                "each of them; give it a tensor, or fewer"
            )


def refused(args, kwargs) -> Exception | None:
    """Return what TensorFlow raises for an array of objects that it makes no tensor of, or None.

    Its key says string, whatever the objects are; only the call asks them.
    """
    import numpy as np
    import tensorflow as tf

    dtype = np.ndarray.dtype.__get__
    for items in _containers(args, kwargs):
        for item in items:
            if is_a(item, np.ndarray) and dtype(item).kind == "O":
                try:
                    tf.convert_to_tensor(item)
                except Exception as error:
                    return error
    return None


def wrapped(args, kwargs) -> str:
    """Say of which modules and functions the key is that of their `__wrapped__`; "" of none.

    TensorFlow asks each for it, and so a lazy module may load, or answer for another.
    """
    found = [
        kind_of(item)
        for items in _containers(args, kwargs)
        for item in items
        if is_a(item, ModuleType, FunctionType) and hasattr(item, "__wrapped__")
    ]
    return f"of {', '.join(dict.fromkeys(found))}, TensorFlow takes the __wrapped__" * bool(found)


def _containers(args, kwargs):
    """Yield the items of each container in the arguments, at any depth, once."""
    waiting, seen = [args, kwargs], set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        kind = next(base for base in (dict, tuple, list) if is_a(value, base))
        items = list(dict.values(value) if kind is dict else kind.__iter__(value))
        yield items
        waiting += [item for item in items if is_a(item, list, tuple, dict)]


def keys(function) -> dict:
    """Return {(FunctionContext, FunctionType): ConcreteFunction}, oldest first, as a copy."""
    # A copy: a trace on another thread may add to it while it is gone through.
    return dict(function._function_cache._primary)


def wanted(function, args, kwargs):
    """Return the key that TensorFlow would look up for a call. Raises what binding it raises."""
    from tensorflow.python.eager.polymorphic_function import function_type_utils as types

    bound = types.canonicalize_function_inputs(
        args, kwargs, function._function_type, function._default_values, function._is_pure
    )
    args, signature = bound.args, _signature(function)
    if signature is not None:
        args = (*signature, *args[len(signature) :])
    captured = function._function_captures.capture_types
    made = types.make_canonicalized_monomorphic_type
    function_type, _ = made(args, bound.kwargs, captured, function._function_type)
    return _context(function), function_type


def held(function, key):
    """Return the key in the cache that serves a call with this key, or None: it would trace."""
    primary = function._function_cache._primary
    if key in primary:
        return key
    from tensorflow.core.function.polymorphism.type_dispatch import TypeDispatchTable

    context, function_type = key
    # A table of our own: TensorFlow would write the answer of `dispatch` into its own one.
    table = TypeDispatchTable()
    for other, target in list(primary):
        if other == context:
            table.add_target(target)
    target = table.dispatch(function_type)
    return None if target is None else (context, target)


def runs_eagerly(function) -> bool:
    """Return whether `tf.config.run_functions_eagerly` is on, so that nothing is looked up."""
    return function._run_functions_eagerly


def _signature(function):
    config = function._variable_creation_config
    return function.input_signature if config is None else config.input_signature


def _context(function):
    from tensorflow.python.eager.polymorphic_function.function_context import make_function_context
    from tensorflow.python.eager.polymorphic_function.tracing_compilation import ScopeType

    created = function._created_variables
    scope = ScopeType.NO_VARIABLE_CREATION if created else ScopeType.VARIABLE_CREATION
    return make_function_context(scope)


class _Listening(threading.local):
    """Who listens on this thread. A trace runs on the thread that called."""

    def __init__(self):
        self.lists = []


_listening = _Listening()


def listeners() -> list[list]:
    """Return the stack of lists that hear of traces on this thread; whoever appends one, pops it.

    Each ConcreteFunction that this thread traces is appended to the last list alone: a trace
    belongs to the innermost call that made it.
    """
    from tensorflow.python.eager.polymorphic_function import transform

    # Once for all threads: it does nothing on a thread where nobody listens, so it may stay.
    if _tell not in transform.CONCRETE_FUNCTION_CALLBACKS:
        transform.CONCRETE_FUNCTION_CALLBACKS.append(_tell)
    return _listening.lists


def _tell(concrete) -> None:
    if _listening.lists:
        _listening.lists[-1].append(concrete)
