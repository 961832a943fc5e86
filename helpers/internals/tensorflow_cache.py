"""Look up which trace in the cache of a `tf.function` would serve a call, without calling it.

The cache maps a key to a trace, which TensorFlow calls a ConcreteFunction. A key is a pair
(FunctionContext, FunctionType). The FunctionType has the types of the arguments. A key serves a
call if its FunctionType is equal to that of the call, or more general. The look-ups here do not use
the function's own dispatch table, because the table stores what it has found, and a look-up must
not change the function.
"""

from contextlib import nullcontext
from dataclasses import dataclass

from . import tensorflow_private


def read_cached_keys(function) -> dict:
    """Return {(FunctionContext, FunctionType): ConcreteFunction}, the oldest first, as a copy."""
    return dict(function._function_cache._primary)


def read_trace_type(value):
    """Return the type by which TensorFlow looks up an argument. TypeError if it has none."""
    return tensorflow_private.trace_type.from_value(value)


def read_input_signature(function):
    """Return the input signature of a tf.function: a tuple of TensorSpecs, or None."""
    # After the first call, TensorFlow's options for tracing have the signature, completed.
    return (function._variable_creation_config or function).input_signature


def compiles_with_xla(function) -> bool:
    """Return whether XLA compiles the graphs of a tf.function when they run."""
    return bool(function._jit_compile)


def draws_with_seed(function) -> bool:
    """Return whether a trace of a tf.function has a random op with a seed."""
    for concrete in read_cached_keys(function).values():
        for operation in concrete.graph.get_operations():
            attributes = operation.node_def.attr
            # 0 stands for no seed. An op without the attribute reads as 0, too.
            if attributes["seed"].i or attributes["seed2"].i:
                return True
    return False


def find_call_key(function, args, kwargs):
    """Return the key that TensorFlow would look up for a call of a tf.function.

    An error that TensorFlow raises for the arguments, such as TypeError, is not caught. Mirrors
    `_maybe_define_function` of polymorphic_function/tracing_compilation.py.
    """
    scopes = tensorflow_private.ScopeType
    # A function may create variables in its first trace only. Later traces have another scope in
    # their keys, in which creating a variable is an error.
    has_created = function._created_variables
    return make_key(
        args,
        kwargs,
        function_type=function._function_type,
        default_values=function._default_values,
        is_pure=function._is_pure,
        input_signature=read_input_signature(function),
        captures=function._function_captures,
        scope=scopes.NO_VARIABLE_CREATION if has_created else scopes.VARIABLE_CREATION,
    )


def make_key(
    args, kwargs, *, function_type, default_values, is_pure, input_signature, captures, scope
):
    """Return the key (FunctionContext, FunctionType) of a call with `args` and `kwargs`.

    The other parameters are attributes of the tf.function. They have the names that TensorFlow's
    own `_maybe_define_function` gives them.
    """
    types = tensorflow_private.function_types
    with _scratch_graph():
        bound = types.canonicalize_function_inputs(
            args, kwargs, function_type, default_values, is_pure
        )
    bound_args = bound.args
    if input_signature is not None:
        # The type of the call has the specs of the signature, not the shapes of the tensors.
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
    """Return a block for binding the arguments of a call, which may convert them to constants.

    While TensorFlow builds a graph, the constants would become ops of that graph. So the block has
    a graph of its own then, which is thrown away.
    """
    if tensorflow_private.context.executing_eagerly():
        return nullcontext()
    return tensorflow_private.FuncGraph("scratch").as_default()


@dataclass(frozen=True, eq=False)
class CallLookup:
    """The key that TensorFlow would look up for a call, and what may keep it from looking."""

    #: the key (FunctionContext, FunctionType), or None if TensorFlow cannot make one
    key: tuple | None
    #: the error that TensorFlow raises if it cannot make a key, or None
    error: Exception | None
    #: whether `tf.config.run_functions_eagerly` is on, so that nothing is looked up
    runs_eagerly: bool
    #: whether the call would run an empty function: see `_has_lost_its_function`
    is_empty: bool
    #: how many keys are in the cache
    key_count: int


def look_up_call(function, args, kwargs) -> CallLookup:
    """Return the key that a call of a tf.function would look up, or the error that it would raise.

    The function is not called.
    """
    try:
        key = find_call_key(function, args, kwargs)
    except Exception as error:
        # The frame of this function is in the error's traceback. If a local variable of the frame
        # referred to the error, the two would be a cycle that keeps the arguments alive. Python
        # deletes the name `error` at the end of this block.
        return _make_lookup(function, key=None, error=error)
    return _make_lookup(function, key, error=None)


def _make_lookup(function, key, error) -> CallLookup:
    """Return a CallLookup with this key or this error, and what the function itself says."""
    return CallLookup(
        key=key,
        error=error,
        runs_eagerly=function._run_functions_eagerly,
        is_empty=_has_lost_its_function(function),
        key_count=len(function._function_cache._primary),
    )


@dataclass(frozen=True, eq=False)
class CacheSearch:
    """Which key in a tf.function's cache serves a call; if none does, what a trace would add."""

    #: the keys in the cache, the oldest first
    keys: list
    #: the key that serves the call, as it is in the cache; None if the call would trace
    serving_key: tuple | None = None
    #: whether the serving key is equal to that of the call, and not only more general
    is_equal: bool = False
    #: the FunctionType of the new trace, if no key serves the call
    widened_type: object = None
    #: the error that TensorFlow raises when it makes `widened_type`, or None
    widening_error: Exception | None = None


def search_cache(function, key) -> CacheSearch:
    """Return which key in the cache of a tf.function serves a call with this key.

    If none does, the result has the FunctionType that a new trace would have, or the error that
    TensorFlow raises when it makes that type.
    """
    keys = list(function._function_cache._primary)
    serving_key = _find_serving_key(function, key)
    if serving_key is not None:
        # Equal keys may read differently, as True and 1 do. Show the one that is in the cache.
        stored_key = next(stored for stored in keys if stored == serving_key)
        return CacheSearch(keys, stored_key, is_equal=serving_key == key)
    try:
        new_type = _widen_type(function, key)
    except Exception as error:
        return CacheSearch(keys, widening_error=error)
    return CacheSearch(keys, widened_type=new_type)


def _has_lost_its_function(function) -> bool:
    """Return whether the next call would run an empty function instead of the user's.

    That happens after a first trace that created a variable and then failed. TensorFlow's options
    for further traces are still None then, and `_call` of polymorphic_function.py takes None for
    the options of `lambda *args, **kwargs: None`.
    """
    return bool(function._created_variables) and function._no_variable_creation_config is None


def _find_serving_key(function, key):
    """Return a key equal to that in the cache which serves a call with `key`.

    None if no key of the cache serves the call, so that the call would trace.
    """
    primary = function._function_cache._primary  # key -> ConcreteFunction
    if key in primary:
        return key
    context, function_type = key
    # A dispatch table finds the most specific of the FunctionTypes that cover a type. This one is
    # filled as TensorFlow fills the function's own, with the types of the same context.
    table = tensorflow_private.TypeDispatchTable()
    for cached_context, cached_type in list(primary):
        if cached_context == context:
            table.add_target(cached_type)
    serving_type = table.dispatch(function_type)
    return None if serving_type is None else (context, serving_type)


def _widen_type(function, key):
    """Return the FunctionType that a trace for a key would have.

    With `reduce_retracing`, TensorFlow makes a type that covers both the call and the keys of the
    cache, so that fewer calls trace again. Otherwise, the type is that of the call. An error that
    TensorFlow raises is not caught.
    """
    context, function_type = key
    if not function._reduce_retracing or read_input_signature(function) is not None:
        return function_type
    return function._function_cache.generalize(context, function_type)
