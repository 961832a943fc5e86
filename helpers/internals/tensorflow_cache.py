"""The cache of a tf.function: its keys, and the key that serves a call.

A key is a pair (FunctionContext, FunctionType). No look-up here goes through the function's own
dispatch table, which remembers a more general key that it has found.
"""

from contextlib import nullcontext
from dataclasses import dataclass

from . import tensorflow_private


def cached_keys(function) -> dict:
    """Return {(FunctionContext, FunctionType): ConcreteFunction}, the oldest first, as a copy."""
    return dict(function._function_cache._primary)


def type_of(value):
    """Return the TraceType of one value. TypeError if it has none."""
    return tensorflow_private.trace_type.from_value(value)


def signature_of(function):
    """Return the input signature of a tf.function, or None."""
    return (function._variable_creation_config or function).input_signature


def compiles_with_xla(function) -> bool:
    """Return whether XLA compiles the graphs of a tf.function when they run."""
    return bool(function._jit_compile)


def draws_with_seed(function) -> bool:
    """Return whether a trace of a tf.function has a random op with a seed: 0 stands for none."""
    for concrete in cached_keys(function).values():
        for operation in concrete.graph.get_operations():
            attributes = operation.node_def.attr
            if attributes["seed"].i or attributes["seed2"].i:
                return True
    return False


def find_call_key(function, args, kwargs):
    """Return the key that TensorFlow would look up for a call. Raises what binding it raises.

    Mirrors `_maybe_define_function` of polymorphic_function/tracing_compilation.py.
    """
    scopes = tensorflow_private.ScopeType
    has_created = function._created_variables
    return make_key(
        args,
        kwargs,
        function_type=function._function_type,
        default_values=function._default_values,
        is_pure=function._is_pure,
        input_signature=signature_of(function),
        captures=function._function_captures,
        scope=scopes.NO_VARIABLE_CREATION if has_created else scopes.VARIABLE_CREATION,
    )


def make_key(
    args, kwargs, *, function_type, default_values, is_pure, input_signature, captures, scope
):
    """Return the key (FunctionContext, FunctionType) of a call.

    The arguments by name are those that TensorFlow's own `_maybe_define_function` reads from a
    tf.function, in its words.
    """
    types = tensorflow_private.function_types
    with _scratch_graph():
        bound = types.canonicalize_function_inputs(
            args, kwargs, function_type, default_values, is_pure
        )
    bound_args = bound.args
    if input_signature is not None:  # its specs stand for the tensors, whatever their shapes are
        bound_args = (*input_signature, *bound_args[len(input_signature) :])
    call_type, _ = types.make_canonicalized_monomorphic_type(
        bound_args,
        bound.kwargs,
        captures.capture_types if captures else {},
        function_type,
    )
    context = tensorflow_private.function_context.make_function_context(scope)
    return context, call_type


def _scratch_graph():
    """Return a context in which binding a call may make constants.

    While a graph is being built, they would become ops of that graph.
    """
    if tensorflow_private.context.executing_eagerly():
        return nullcontext()
    return tensorflow_private.FuncGraph("scratch").as_default()


@dataclass(frozen=True, eq=False)
class CallLookup:
    """What TensorFlow would look up for a call, and what decides whether it looks at all."""

    #: the key (FunctionContext, FunctionType), or None if TensorFlow cannot make one
    key: tuple | None
    #: what TensorFlow raises for want of a key, or None
    error: Exception | None
    #: whether `tf.config.run_functions_eagerly` is on, so that nothing is looked up
    runs_eagerly: bool
    #: whether the call would run an empty function: see `_has_lost_its_function`
    is_empty: bool
    #: how many keys are in the cache
    key_count: int


def look_up_call(function, args, kwargs) -> CallLookup:
    """Return the key of a call of a tf.function, and what else decides about the call."""
    try:
        key = find_call_key(function, args, kwargs)
        error = None
    except Exception as raised:
        # A frame of the traceback that refers to the error would keep the arguments alive. Python
        # deletes `raised` at the end of this block, so that only the result refers to it.
        return _make_lookup(function, key=None, error=raised)
    return _make_lookup(function, key, error)


def _make_lookup(function, key, error) -> CallLookup:
    """Return the result of `look_up_call` for this key, or this error."""
    return CallLookup(
        key=key,
        error=error,
        runs_eagerly=function._run_functions_eagerly,
        is_empty=_has_lost_its_function(function),
        key_count=len(function._function_cache._primary),
    )


@dataclass(frozen=True, eq=False)
class CacheSearch:
    """What a tf.function's cache has for a key, or what TensorFlow would add to it."""

    #: the keys in the cache, the oldest first
    keys: list
    #: the key that serves the call, as it is in the cache; None if the call would trace
    serving_key: tuple | None = None
    #: whether the serving key is equal to that of the call, and not only more general
    is_equal: bool = False
    #: the FunctionType that a trace would have
    widened_type: object = None
    #: what TensorFlow raises when it makes that type, or None
    widening_error: Exception | None = None


def search_cache(function, key) -> CacheSearch:
    """Return which key of the cache serves a call with this key, or the type of a new trace."""
    keys = list(function._function_cache._primary)
    found = _find_serving_key(function, key)
    if found is not None:
        # An equal key may have another text, such as True for 1: the cache knows the first one.
        stored = next(stored for stored in keys if stored == found)
        return CacheSearch(keys, stored, is_equal=found == key)
    try:
        new_type = _widen_type(function, key)
    except Exception as raised:
        return CacheSearch(keys, widening_error=raised)
    return CacheSearch(keys, widened_type=new_type)


def _has_lost_its_function(function) -> bool:
    """Return whether the next call would run an empty function of TensorFlow's own.

    `_call` of polymorphic_function.py does so when a first trace created a variable and then
    failed: the options that it passes on are None, and stand for `lambda *args, **kwargs: None`.
    """
    return bool(function._created_variables) and function._no_variable_creation_config is None


def _find_serving_key(function, key):
    """Return the key in the cache that serves a call with this key, or None if it would trace.

    The result is equal to the key in the cache, but need not be the same object.
    """
    primary = function._function_cache._primary  # key -> ConcreteFunction
    if key in primary:
        return key
    context, function_type = key
    # A table of our own, filled as TensorFlow fills the function's.
    table = tensorflow_private.TypeDispatchTable()
    for other_context, target in list(primary):
        if other_context == context:
            table.add_target(target)
    target = table.dispatch(function_type)
    return None if target is None else (context, target)


def _widen_type(function, key):
    """Return the FunctionType that a trace for a key would have. Raises what TensorFlow raises.

    With `reduce_retracing` it is the most specific type that covers the keys of the cache, too.
    """
    context, function_type = key
    if not function._reduce_retracing or signature_of(function) is not None:
        return function_type
    return function._function_cache.generalize(context, function_type)
