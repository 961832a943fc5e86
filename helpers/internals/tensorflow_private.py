"""The names that TensorFlow keeps to itself, looked up by this one module.

TensorFlow may move or drop any of them in any release. It is imported at the first look-up. What
needs several of them has its own module: `tensorflow_cache`, `tensorflow_traces` and
`tensorflow_random`.
"""

import pkgutil
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

from ..safety import restoring

_FUNCTION = "tensorflow.python.eager.polymorphic_function"
PLACES = {
    "context": "tensorflow.python.eager.context",
    "execute": "tensorflow.python.eager.execute",
    "pywrap_tfe": "tensorflow.python.pywrap_tfe",
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
# The functions of pywrap_tfe by which Python runs an op.
FAST = "TFE_Py_FastPathExecute"
SLOW = "TFE_Py_Execute"
SLOW_CANCELABLE = "TFE_Py_ExecuteCancelable"
ENTRY_POINTS = FAST, SLOW
QUIET = ("Identity", "NoOp", "Const")  # ops of a graph that say nothing of what it computes


def __getattr__(name: str):
    """Return the module or object behind a name of `PLACES`."""
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no name {name!r}; add its place to PLACES")
    return pkgutil.resolve_name(PLACES[name])


AUTOGRAPH_FILE = "__autograph_generated_file"  # begins the name of the file of AutoGraph's copies
_AUTOGRAPH_COPY = re.compile(r"outer_factory\.<locals>\.inner_factory\.<locals>\.tf__\w+")


def code_before_autograph(code: CodeType) -> CodeType | None:
    """Return the code of the function that AutoGraph's copy was written from; None of no copy.

    A copy is one function of a generated file (tensorflow/python/autograph/pyct/transpiler.py).
    """
    if AUTOGRAPH_FILE not in code.co_filename or not _AUTOGRAPH_COPY.fullmatch(code.co_qualname):
        return None
    api = restoring.module("tensorflow.python.autograph.impl.api")
    # The look-ups have defaults, because another TensorFlow may keep its copies elsewhere.
    cache = getattr(getattr(api, "_TRANSPILER", None), "_cache", None)
    factories_by_code = getattr(cache, "_cache", {})
    for original, factories in list(factories_by_code.items()):  # other threads may convert
        files = {getattr(factory.module, "__file__", "") for factory in factories.values()}
        if code.co_filename in files and type(original) is CodeType:
            return original
    return None


# ------------------------------------------------------------------ ops and graphs


def graph_ops(name: str) -> tuple[str, ...]:
    """Return the ops inside a graph that TensorFlow runs under this name; () if it is an op."""
    try:
        definition = __getattr__("context").context().get_function_def(name)
    except Exception:  # TensorFlow has no function of this name
        return ()
    return tuple(node.op for node in definition.node_def if node.op not in QUIET)


def tensor_number(tensor) -> object:
    """Return the number by which TensorFlow tells tensors apart, or the object's id."""
    # A symbolic tensor may have another kind of `_id`.
    return tensor._id if type(tensor._id) is int else id(tensor)


def graphs_being_built() -> list:
    """Return TensorFlow's stack of default graphs of this thread, where ops do not run now."""
    if __getattr__("context").context()._thread_local_data.is_eager:
        return []
    return list(__getattr__("framework_ops")._default_graph_stack.stack)


@contextmanager
def op_callback(callback) -> Iterator[None]:
    """Have TensorFlow report each op of this thread to `callback` in the block.

    TensorFlow calls it as op_callbacks.py says, with the type, inputs, attributes and outputs.
    """
    op_callbacks = __getattr__("op_callbacks")
    op_callbacks.add_op_callback(callback)
    try:
        yield
    finally:
        # Removing one that is gone raises, and would hide what the block raised.
        registered = __getattr__("context").context().op_callbacks
        if any(other is callback for other in registered):
            op_callbacks.remove_op_callback(callback)


@contextmanager
def run_metadata() -> Iterator[object]:
    """Collect metadata of runs in the block.

    The block gets a function that returns what was collected so far, as a RunMetadata.
    """
    context = __getattr__("context")
    context.enable_run_metadata()
    try:
        yield context.export_run_metadata
    finally:
        context.disable_run_metadata()


# ------------------------------------------------------------------ modes of this thread

OWN_PACKAGES = ("tensorflow", "keras", "tf_keras")
PLACEMENTS = {
    "_soft_device_placement": "soft placement",
    "_log_device_placement": "logged placement",
}
DEFAULT_DTYPE_POLICY = "float32"


def _list_eager_settings() -> list[str]:
    """Return the settings because of which a tf.function runs as Python."""
    state = restoring.module(f"{_FUNCTION}.eager_function_run")
    debug_mode = restoring.module("tensorflow.python.data.ops.debug_mode")
    settings = []
    if getattr(state, "RUN_FUNCTIONS_EAGERLY", False):
        settings.append("run_functions_eagerly")
    if getattr(debug_mode, "DEBUG_MODE", False):
        settings.append("tf.data's debug mode")
    return settings


def _list_placements() -> list[str]:
    """Return the device, the strategy and the settings that place ops on devices."""
    context = __getattr__("context").context()
    placements = []
    device = context._thread_local_data.device_name
    if device:
        placements.append(f"tf.device {device}")
    distribute = restoring.module("tensorflow.python.distribute.distribute_lib")
    if distribute is not None and distribute.has_strategy():
        placements.append(type(distribute.get_strategy()).__name__)

    for attribute, text in PLACEMENTS.items():
        value = getattr(context, attribute, None)
        # None is the default of soft placement, and False that of logged placement.
        is_default = attribute == "_log_device_placement" and value is False
        if value is not None and not is_default:
            placements.append(f"{text} {'on' if value else 'off'}")
    return placements


def _list_dispatchers() -> list:
    """Return the classes and functions to which other libraries have TensorFlow pass its calls."""
    dispatch = restoring.module("tensorflow.python.util.dispatch")
    dispatchers = [type(found) for found in getattr(dispatch, "_GLOBAL_DISPATCHERS", ())]
    for targets in getattr(dispatch, "_TYPE_BASED_DISPATCH_SIGNATURES", {}).values():
        dispatchers += targets
    foreign = []
    for dispatcher in dispatchers:
        package, _, _ = str(dispatcher.__module__).partition(".")
        if package not in OWN_PACKAGES:
            foreign.append(dispatcher)
    return list(dict.fromkeys(foreign))


def _list_tapes() -> list[str]:
    """Return a sentence if a gradient tape records."""
    has_no_tape = __getattr__("pywrap_tfe").TFE_Py_TapeSetIsEmpty()
    return [] if has_no_tape else ["a tape records"]


def _list_keras_scopes() -> list[str]:
    """Return the scopes of Keras that are open, and its dtype policy if it is not the default."""
    scopes = []
    for name in ("symbolic_scope", "stateless_scope"):
        module = restoring.module(f"keras.src.backend.common.{name}")
        if module and getattr(module, f"in_{name}")():
            scopes.append(name.replace("_", " "))
    state = restoring.module("keras.src.backend.common.global_state")
    # Keras sets the policy with the first layer.
    policy = state.get_global_attribute("dtype_policy") if state else None
    policy_name = getattr(policy, "name", DEFAULT_DTYPE_POLICY)
    if policy_name != DEFAULT_DTYPE_POLICY:
        scopes.append(f"dtype policy {policy_name}")
    return scopes


# What changes how TensorFlow runs a call -> what reads which of it is on in this thread.
MODES = {
    "tf.functions turned off": _list_eager_settings,
    "TensorFlow placement": _list_placements,
    "TensorFlow dispatchers": _list_dispatchers,
    "gradient tapes": _list_tapes,
    "Keras scopes": _list_keras_scopes,
}
