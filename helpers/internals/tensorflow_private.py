"""The names that TensorFlow keeps to itself, looked up by this one module.

TensorFlow may move or drop any of them in any release. It is imported at the first look-up.
"""

import gc
import pkgutil
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from threading import get_ident
from types import CodeType

from ..safety import restoring
from ..safety.restoring import patched

_FUNCTION = "tensorflow.python.eager.polymorphic_function"
PLACES = {
    "context": "tensorflow.python.eager.context",
    "execute": "tensorflow.python.eager.execute",
    "doors": "tensorflow.python.pywrap_tfe",
    "op_callbacks": "tensorflow.python.framework.op_callbacks",
    "op_def_registry": "tensorflow.python.framework.op_def_registry",
    "random_seed": "tensorflow.python.framework.random_seed",
    "stateful_random_ops": "tensorflow.python.ops.stateful_random_ops",
    "framework_ops": "tensorflow.python.framework.ops",
    "SymbolicTensor": "tensorflow.python.framework.ops:SymbolicTensor",
    "polymorphic_function": f"{_FUNCTION}.polymorphic_function",
    "Function": f"{_FUNCTION}.polymorphic_function:Function",
    "FuncGraph": "tensorflow.python.framework.func_graph:FuncGraph",
    "TypeDispatchTable": "tensorflow.core.function.polymorphism.type_dispatch:TypeDispatchTable",
    "trace_type": "tensorflow.core.function.trace_type",
    "function_types": f"{_FUNCTION}.function_type_utils",
    "function_context": f"{_FUNCTION}.function_context",
    "TfMethodTarget": f"{_FUNCTION}.tf_method_target:TfMethodTarget",
    "ScopeType": f"{_FUNCTION}.tracing_compilation:ScopeType",
    "transform": f"{_FUNCTION}.transform",
    "tracing_compilation": f"{_FUNCTION}.tracing_compilation",
}
FAST, SLOW = "TFE_Py_FastPathExecute", "TFE_Py_Execute"
SLOW_CANCELABLE = "TFE_Py_ExecuteCancelable"
DOORS = FAST, SLOW
QUIET = ("Identity", "NoOp", "Const")  # ops of a graph that say nothing of what it computes


def __getattr__(name: str):
    """Return the module or object behind a name of `PLACES`."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no name {name!r}; add its place to PLACES")
    return pkgutil.resolve_name(PLACES[name])


# ------------------------------------------------------------------ the cache of a tf.function
# No look-up goes through the function's own tables: one that finds a more general key notes it.


def cached_keys(function) -> dict:
    """Return {(FunctionContext, FunctionType): ConcreteFunction}, oldest first, as a copy."""
    return dict(function._function_cache._primary)


def type_of(value):
    """Return the TraceType of one value. TypeError if it has none."""
    return __getattr__("trace_type").from_value(value)


def count_keys(function) -> int:
    """Return how many keys are in the cache."""
    return len(function._function_cache._primary)


def signature_of(function):
    """Return the input signature of a tf.function, or None."""
    return (function._variable_creation_config or function).input_signature


def lost_its_function(function) -> bool:
    """Return whether the next call would run an empty function of TensorFlow's own.

    `_call` of polymorphic_function.py does so when a first trace created a variable and then
    failed: the options that it passes on are None, and stand for `lambda *args, **kwargs: None`.
    """
    return bool(function._created_variables) and function._no_variable_creation_config is None


def compiles_with_xla(function) -> bool:
    """Return whether XLA compiles the graphs of a tf.function when they run."""
    return bool(function._jit_compile)


def wanted_key(function, args, kwargs):
    """Return the key that TensorFlow would look up for a call. Raises what binding it raises.

    Mirrors `_maybe_define_function` of polymorphic_function/tracing_compilation.py.
    """
    scopes = __getattr__("ScopeType")
    has_created = function._created_variables
    return _make_key(
        args,
        kwargs,
        function_type=function._function_type,
        default_values=function._default_values,
        is_pure=function._is_pure,
        input_signature=signature_of(function),
        captures=function._function_captures,
        scope=scopes.NO_VARIABLE_CREATION if has_created else scopes.VARIABLE_CREATION,
    )


def _make_key(
    args, kwargs, *, function_type, default_values, is_pure, input_signature, captures, scope
):
    """Return the key (FunctionContext, FunctionType) of a call.

    The arguments by name are those that TensorFlow's own `_maybe_define_function` reads from a
    tf.function, in its words.
    """
    types = __getattr__("function_types")
    with _scratch_graph():
        bound = types.canonicalize_function_inputs(
            args, kwargs, function_type, default_values, is_pure
        )
    bound_args = bound.args
    if input_signature is not None:
        bound_args = (*input_signature, *bound_args[len(input_signature) :])
    call_type, _ = types.make_canonicalized_monomorphic_type(
        bound_args,
        bound.kwargs,
        captures.capture_types if captures else {},
        function_type,
    )
    context = __getattr__("function_context").make_function_context(scope)
    return context, call_type


def _scratch_graph():
    """Return a context in which binding a call may make constants.

    While a graph is being built, they would become ops of that graph.
    """
    if __getattr__("context").executing_eagerly():
        return nullcontext()
    return __getattr__("FuncGraph")("scratch").as_default()


@dataclass(frozen=True, eq=False)
class CallLookup:
    """What TensorFlow would look up for a call, and what decides whether it looks at all."""

    #: the key (FunctionContext, FunctionType), or None if TensorFlow cannot make one
    key: tuple | None
    #: what TensorFlow raises for want of a key, or None
    error: Exception | None
    #: whether `tf.config.run_functions_eagerly` is on, so that nothing is looked up
    runs_eagerly: bool
    #: whether the call would run an empty function: see `lost_its_function`
    is_empty: bool
    #: how many keys are in the cache
    key_count: int


def look_up_call(function, args, kwargs) -> CallLookup:
    """Return the key of a call of a tf.function, and what else decides about the call."""
    try:
        key = wanted_key(function, args, kwargs)
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
        runs_eagerly=runs_eagerly(function),
        is_empty=lost_its_function(function),
        key_count=count_keys(function),
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
    found = serving_key(function, key)
    if found is not None:
        # An equal key may have another text, such as True for 1: the cache knows the first one.
        stored = next(stored for stored in keys if stored == found)
        return CacheSearch(keys, stored, is_equal=found == key)
    try:
        new_type = widened_type(function, key)
    except Exception as raised:
        return CacheSearch(keys, widening_error=raised)
    return CacheSearch(keys, widened_type=new_type)


@dataclass(frozen=True, eq=False)
class EndedTrace:
    """A trace that has ended, with a result or an error."""

    #: the Python function that was traced
    python_function: object
    #: the key of the trace
    key: tuple
    #: the keys that its function had when the trace began, the oldest first
    earlier_keys: list
    #: what the trace raised, or None
    error: BaseException | None
    #: the time when the trace began, as the reader of `reporting_traces` counts it
    began: int
    #: whether the trace began while the same function was being traced in the same thread
    in_itself: bool


@contextmanager
def reporting_traces(on_trace, read_time) -> Iterator[None]:
    """Call `on_trace` with an EndedTrace after each trace in the block, of any function.

    `read_time` is called without arguments when a trace begins. TensorFlow calls both in the thread
    that traces.
    """
    module = __getattr__("tracing_compilation")
    name = "_maybe_define_function"
    original = getattr(module, name)
    # The look-ups that have begun: the thread and the cache of each.
    running = []

    def define_and_report(args, kwargs, options):
        cache = options.function_cache
        # An empty tuple stands for the keys of a function that is traced without a cache.
        keys = () if cache is None else cache._primary
        earlier_count = len(keys)
        began = read_time()
        lookup = get_ident(), cache
        in_itself = cache is not None and lookup in running
        running.append(lookup)

        failure = None
        try:
            return original(args, kwargs, options)
        except BaseException as error:
            failure = error
            raise
        finally:
            running.remove(lookup)
            if failure or len(keys) > earlier_count:
                with suppress(Exception):  # what raises here has ended the trace as `failure`
                    trace = EndedTrace(
                        options.python_function,
                        _key_of_options(args, kwargs, options),
                        list(keys)[:earlier_count],
                        failure,
                        began,
                        in_itself,
                    )
                    on_trace(trace)

    with patched(module, **{name: define_and_report}):
        yield


def _key_of_options(args, kwargs, options):
    """Return the key of a call from TensorFlow's TracingOptions."""
    return _make_key(
        args,
        kwargs,
        function_type=options.polymorphic_type,
        default_values=options.default_values,
        is_pure=options.is_pure,
        input_signature=options.input_signature,
        captures=options.function_captures,
        scope=options.scope_type,
    )


def serving_key(function, key):
    """Return the key in the cache that serves a call with this key, or None: it would trace."""
    primary = function._function_cache._primary
    if key in primary:
        return key
    context, function_type = key
    table = __getattr__("TypeDispatchTable")()
    for other, target in list(primary):
        if other == context:
            table.add_target(target)
    target = table.dispatch(function_type)
    return None if target is None else (context, target)


def widened_type(function, key):
    """Return the FunctionType that a trace for a key would have. Raises what TensorFlow raises.

    With `reduce_retracing` it is the most specific type that covers the keys of the cache, too.
    """
    context, function_type = key
    if not function._reduce_retracing or signature_of(function) is not None:
        return function_type
    return function._function_cache.generalize(context, function_type)


def owner_of(method):
    """Return the object of a method; TensorFlow puts another in its place, that refers to it."""
    owner = method.__self__
    return owner.target if type(owner) is __getattr__("TfMethodTarget") else owner


def runs_eagerly(function) -> bool:
    """Return whether `tf.config.run_functions_eagerly` is on, so that nothing is looked up."""
    return function._run_functions_eagerly


def all_traces(function) -> list:
    """Return the ConcreteFunctions of a tf.function."""
    return function._list_all_concrete_functions()


def traced_functions() -> list:
    """Return the tf.functions in memory that have a trace.

    Some of them may be garbage in a cycle: a collection is for the program to make.
    """
    kind = __getattr__("Function")
    found = [one for one in gc.get_objects() if type(one) is kind]
    return [one for one in found if cached_keys(one)]


@contextmanager
def hearing_traces() -> Iterator[list]:
    """Give the list of the ConcreteFunctions that this thread traces in the block."""
    callbacks, heard = __getattr__("transform").CONCRETE_FUNCTION_CALLBACKS, []
    thread = get_ident()

    def hear(concrete) -> None:
        if get_ident() == thread:
            heard.append(concrete)

    callbacks.append(hear)
    try:
        yield heard
    finally:
        callbacks[:] = [one for one in callbacks if one is not hear]  # the program may have, too


@contextmanager
def retraces_counted_apart() -> Iterator[None]:
    """Count the traces of the block apart from the program's: after five TensorFlow warns.

    It counts by the code of the Python function, so that a new tf.function counts as the old one.
    """
    home, name = __getattr__("polymorphic_function"), "_frequent_tracing_detector_manager"
    with patched(home, **{name: type(getattr(home, name))()}):
        yield


# ------------------------------------------------------------------ random numbers


class RandomUse:
    """Whether a block draws from what the program shares, or by an eager op with a seed of its own.

    Such an op keeps its place in the stream in C++, where nobody can set it.
    """

    def __init__(self):
        self.drawn, self.has_own_seed = False, False


@contextmanager
def random_numbers_apart() -> Iterator[RandomUse]:
    """Draw other op seeds in the block than the program will draw after it.

    The seed of the context and the global generator are afterwards as before. A kernel keeps what
    it has drawn for its seeds, so that to set the generator of op seeds back is not enough.
    """
    context, use = __getattr__("context").context(), RandomUse()
    seeds = __getattr__("random_seed")
    real = seeds.get_seed

    def noting(op_seed):
        # Of a graph, the kernel is that of the function that is traced.
        use.has_own_seed |= op_seed is not None and context.executing_eagerly()
        return real(op_seed)

    before = context._seed, getattr(context, "_rng", None)
    apart = before[1] and random.Random(repr(before[1].getstate()))
    started = apart and apart.getstate()
    if apart:
        context._rng = apart
    try:
        with patched(seeds, get_seed=noting), _global_generator_kept(use):
            yield use
    finally:
        rng = getattr(context, "_rng", None)
        use.drawn |= rng is not apart or bool(apart) and rng.getstate() != started
        if before[1] or rng is not None:
            context._seed, context._rng = before


@contextmanager
def _global_generator_kept(use: RandomUse) -> Iterator[None]:
    home = __getattr__("stateful_random_ops")
    generator = home.global_generator
    state = None if generator is None else generator_state(generator)
    try:
        yield
    finally:
        use.drawn |= home.global_generator is not generator
        home.global_generator = generator
        if state is not None and generator_state(generator) != state:
            use.drawn = True
            restore_generator(generator, state)


def generator_state(generator) -> tuple[int, ...] | None:
    """Return the state of a tf.random.Generator; None if it cannot be read, as in a graph."""
    with suppress(Exception):
        return tuple(generator.state.numpy().tolist())
    return None


def restore_generator(generator, state: tuple[int, ...]) -> None:
    """Set the state of a tf.random.Generator to one that was read."""
    generator.state.assign(state)


def draws_with_seed(function) -> bool:
    """Return whether a trace of a tf.function has a random op with a seed."""
    graphs = [concrete.graph for concrete in cached_keys(function).values()]
    nodes = (operation.node_def for graph in graphs for operation in graph.get_operations())
    return any(node.attr[name].i for node in nodes for name in ("seed", "seed2"))


AUTOGRAPH_FILE = "__autograph_generated_file"  # begins the name of the file of AutoGraph's copies
_COPY = re.compile(r"outer_factory\.<locals>\.inner_factory\.<locals>\.tf__\w+")


def code_before_autograph(code: CodeType) -> CodeType | None:
    """Return the code of the function that AutoGraph's copy was written from; None of no copy.

    A copy is one function of a generated file (tensorflow/python/autograph/pyct/transpiler.py).
    """
    if AUTOGRAPH_FILE not in code.co_filename or not _COPY.fullmatch(code.co_qualname):
        return None
    api = restoring.module("tensorflow.python.autograph.impl.api")
    cache = getattr(getattr(api, "_TRANSPILER", None), "_cache", None)
    for original, factories in list(getattr(cache, "_cache", {}).items()):
        files = {getattr(factory.module, "__file__", "") for factory in factories.values()}
        if code.co_filename in files and type(original) is CodeType:
            return original
    return None


# ------------------------------------------------------------------ ops and graphs


def graph_ops(name: str) -> tuple[str, ...]:
    """Return the ops inside a graph that TensorFlow runs under this name; () if it is an op."""
    try:
        definition = __getattr__("context").context().get_function_def(name)
    except Exception:  # it is not a function
        return ()
    return tuple(node.op for node in definition.node_def if node.op not in QUIET)


def tensor_number(tensor) -> object:
    """Return the number by which TensorFlow tells tensors apart, or the object's id."""
    return tensor._id if type(tensor._id) is int else id(tensor)


def graphs_being_built() -> list:
    """Return TensorFlow's stack of default graphs of this thread, where ops do not run now."""
    eager = __getattr__("context").context()._thread_local_data.is_eager
    return [] if eager else list(__getattr__("framework_ops")._default_graph_stack.stack)


def _runs_eagerly_by_setting() -> list[str]:
    state = restoring.module(f"{_FUNCTION}.eager_function_run")
    debug = restoring.module("tensorflow.python.data.ops.debug_mode")
    found = ["run_functions_eagerly"] * bool(getattr(state, "RUN_FUNCTIONS_EAGERLY", False))
    return found + ["tf.data's debug mode"] * bool(getattr(debug, "DEBUG_MODE", False))


def _placing() -> list[str]:
    context = __getattr__("context").context()
    device = context._thread_local_data.device_name
    strategies = restoring.module("tensorflow.python.distribute.distribute_lib")
    found = [f"tf.device {device}"] * bool(device)
    if strategies is not None and strategies.has_strategy():
        found.append(type(strategies.get_strategy()).__name__)
    names = {
        "_soft_device_placement": "soft placement",
        "_log_device_placement": "logged placement",
    }
    for name, words in names.items():
        value = getattr(context, name, None)
        if value is not None and not (name.startswith("_log") and value is False):
            found.append(f"{words} {'on' if value else 'off'}")
    return found


def _dispatchers() -> list:
    dispatch = restoring.module("tensorflow.python.util.dispatch")
    found = [type(one) for one in getattr(dispatch, "_GLOBAL_DISPATCHERS", ())]
    for targets in getattr(dispatch, "_TYPE_BASED_DISPATCH_SIGNATURES", {}).values():
        found += targets
    others = (one for one in found if str(one.__module__).partition(".")[0] not in OWN_PACKAGES)
    return list(dict.fromkeys(others))


def _tapes() -> list[str]:
    doors = __getattr__("doors")
    return ["a tape records"] * (not doors.TFE_Py_TapeSetIsEmpty())


def _keras_scopes() -> list[str]:
    found = []
    for name in ("symbolic_scope", "stateless_scope"):
        home = restoring.module(f"keras.src.backend.common.{name}")
        found += [name.replace("_", " ")] * bool(home and getattr(home, f"in_{name}")())
    state = restoring.module("keras.src.backend.common.global_state")
    policy = state.get_global_attribute("dtype_policy") if state else None
    name = getattr(policy, "name", "float32")  # which is set with the first layer
    return found + [f"dtype policy {name}"] * (name != "float32")


OWN_PACKAGES = ("tensorflow", "keras", "tf_keras")
# What changes how TensorFlow runs a call -> what reads which of it is on in this thread.
MODES = {
    "tf.functions turned off": _runs_eagerly_by_setting,
    "TensorFlow placement": _placing,
    "TensorFlow dispatchers": _dispatchers,
    "gradient tapes": _tapes,
    "Keras scopes": _keras_scopes,
}


@contextmanager
def op_callback(callback) -> Iterator[None]:
    """Have TensorFlow report each op of this thread to `callback` in the block."""
    op_callbacks = __getattr__("op_callbacks")
    op_callbacks.add_op_callback(callback)
    try:
        yield
    finally:
        # Removing one that is gone raises, and would hide what the block raised.
        if any(callback is one for one in __getattr__("context").context().op_callbacks):
            op_callbacks.remove_op_callback(callback)


@contextmanager
def run_metadata() -> Iterator[object]:
    """Collect metadata of runs in the block; the block gets what returns it, as a RunMetadata."""
    context = __getattr__("context")
    context.enable_run_metadata()
    try:
        yield context.export_run_metadata
    finally:
        context.disable_run_metadata()
