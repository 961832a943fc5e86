"""Private modules, functions and settings of TensorFlow, which only this module looks up by name.

TensorFlow may move or remove any of these names in any release. `tensorflow_private.NAME` is the
object whose place is `PLACES["NAME"]`. TensorFlow is imported at the first look-up. Code that needs
several private names together has its own module: `tensorflow_cache`, `tensorflow_traces` and
`tensorflow_random`.
"""

import pkgutil
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType

from ..safety import restoring

_FUNCTION = "tensorflow.python.eager.polymorphic_function"
# Name in this module -> `module` or `module:attribute` of TensorFlow.
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
IDLE_OPS = ("Identity", "NoOp", "Const")  # ops of a graph that compute nothing


def __getattr__(name: str):
    """Return TensorFlow's module or object for a name of `PLACES`.

    Python calls this for each `tensorflow_private.NAME` that is no global of this module.
    """
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no name {name!r}; add its place to PLACES")
    return pkgutil.resolve_name(PLACES[name])


# AutoGraph writes a copy of a function into a generated file, and the file name begins so.
AUTOGRAPH_FILE = "__autograph_generated_file"
_AUTOGRAPH_COPY = re.compile(r"outer_factory\.<locals>\.inner_factory\.<locals>\.tf__\w+")


def find_code_before_autograph(code: CodeType) -> CodeType | None:
    """Return the code object of the user's function from which AutoGraph wrote this code.

    AutoGraph rewrites the source of a function, and imports the copy from a generated file
    (tensorflow/python/autograph/pyct/transpiler.py). The result is None if `code` is not of such a
    copy, or if the original is not found.
    """
    if AUTOGRAPH_FILE not in code.co_filename or not _AUTOGRAPH_COPY.fullmatch(code.co_qualname):
        return None
    api = restoring.find_loaded_module("tensorflow.python.autograph.impl.api")
    # The look-ups have defaults, because another TensorFlow may store its copies elsewhere.
    cache = getattr(getattr(api, "_TRANSPILER", None), "_cache", None)
    # Original code object -> {options: factory}. A factory has the module of a generated file.
    factories_by_code = getattr(cache, "_cache", {})
    # A list, because other threads may add to the cache.
    for original, factories in list(factories_by_code.items()):
        files = {getattr(factory.module, "__file__", "") for factory in factories.values()}
        if code.co_filename in files and type(original) is CodeType:
            return original
    return None


# ------------------------------------------------------------------ ops and graphs


def list_graph_ops(name: str) -> tuple[str, ...]:
    """Return the names of the ops in the graph function `name`, such as ("MatMul", "Relu").

    The result is () if TensorFlow has no graph function of this name, because `name` is an op.
    """
    try:
        definition = __getattr__("context").context().get_function_def(name)
    except Exception:
        return ()
    return tuple(node.op for node in definition.node_def if node.op not in IDLE_OPS)


def tensor_number(tensor) -> object:
    """Return the number that TensorFlow gave a tensor; the object's id if it has no number."""
    # A symbolic tensor may have an `_id` that is not an int.
    return tensor._id if type(tensor._id) is int else id(tensor)


def list_graphs_being_built() -> list:
    """Return the graphs that this thread is building, the innermost last; [] in eager mode."""
    if __getattr__("context").context()._thread_local_data.is_eager:
        return []
    return list(__getattr__("framework_ops")._default_graph_stack.stack)


@contextmanager
def report_ops(callback) -> Iterator[None]:
    """Have TensorFlow report each op of this thread to `callback` in the block.

    TensorFlow calls it with the op's type, inputs, attributes and outputs, as op_callbacks.py says.
    """
    op_callbacks = __getattr__("op_callbacks")
    op_callbacks.add_op_callback(callback)
    try:
        yield
    finally:
        # The program may have removed the callback. To remove it again raises an error, which
        # would replace an error of the block.
        registered_callbacks = __getattr__("context").context().op_callbacks
        if any(registered is callback for registered in registered_callbacks):
            op_callbacks.remove_op_callback(callback)


@contextmanager
def collect_run_metadata() -> Iterator[object]:
    """Have TensorFlow collect metadata of the ops that run in the block.

    The block gets a function. It returns what was collected so far, as TensorFlow's RunMetadata.
    """
    context = __getattr__("context")
    context.enable_run_metadata()
    try:
        yield context.export_run_metadata
    finally:
        context.disable_run_metadata()


# ------------------------------------------------------------------ modes of this thread

OWN_PACKAGES = ("tensorflow", "keras", "tf_keras")
# Attribute of TensorFlow's context -> our name for this setting.
PLACEMENTS = {
    "_soft_device_placement": "soft placement",
    "_log_device_placement": "logged placement",
}
DEFAULT_DTYPE_POLICY = "float32"


def _list_eager_settings() -> list[str]:
    """Return the names of settings that are on and have a tf.function run as plain Python."""
    state = restoring.find_loaded_module(f"{_FUNCTION}.eager_function_run")
    debug_mode = restoring.find_loaded_module("tensorflow.python.data.ops.debug_mode")
    settings = []
    if getattr(state, "RUN_FUNCTIONS_EAGERLY", False):
        settings.append("run_functions_eagerly")
    if getattr(debug_mode, "DEBUG_MODE", False):
        settings.append("tf.data's debug mode")
    return settings


def _list_placements() -> list[str]:
    """Return texts on what decides on which device an op runs in this thread.

    They are the open `with tf.device(…)`, the class of a distribution strategy, and settings that
    differ from TensorFlow's defaults, such as `logged placement on`.
    """
    context = __getattr__("context").context()
    placements = []
    device = context._thread_local_data.device_name
    if device:
        placements.append(f"tf.device {device}")
    distribute = restoring.find_loaded_module("tensorflow.python.distribute.distribute_lib")
    if distribute is not None and distribute.has_strategy():
        placements.append(type(distribute.get_strategy()).__name__)

    for attribute, text in PLACEMENTS.items():
        value = getattr(context, attribute, None)
        # The default of soft placement is None, and that of logged placement is False.
        is_logging_default = attribute == "_log_device_placement" and value is False
        if value is not None and not is_logging_default:
            placements.append(f"{text} {'on' if value else 'off'}")
    return placements


def _list_dispatchers() -> list:
    """Return the classes and functions of other libraries that may take over TensorFlow's calls.

    A library registers a dispatcher with TensorFlow. TensorFlow then asks the dispatcher at a call
    of its API. Dispatchers of TensorFlow and Keras themselves are left out.
    """
    dispatch = restoring.find_loaded_module("tensorflow.python.util.dispatch")
    global_dispatchers = getattr(dispatch, "_GLOBAL_DISPATCHERS", ())
    dispatchers = [type(dispatcher) for dispatcher in global_dispatchers]
    # Function of TensorFlow's API -> the functions that replace it for some types of arguments.
    targets_by_api = getattr(dispatch, "_TYPE_BASED_DISPATCH_SIGNATURES", {})
    for targets in targets_by_api.values():
        dispatchers += targets

    foreign = []
    for dispatcher in dispatchers:
        package, _, _ = str(dispatcher.__module__).partition(".")
        if package not in OWN_PACKAGES:
            foreign.append(dispatcher)
    return list(dict.fromkeys(foreign))  # each once


def _list_tapes() -> list[str]:
    """Return a list with one sentence if a gradient tape records in this thread, else []."""
    has_no_tape = __getattr__("pywrap_tfe").TFE_Py_TapeSetIsEmpty()
    return [] if has_no_tape else ["a tape records"]


def _list_keras_scopes() -> list[str]:
    """Return the names of Keras's open scopes, and its dtype policy if that is not the default."""
    scopes = []
    for name in ("symbolic_scope", "stateless_scope"):
        # The module has a function such as `in_stateless_scope()`.
        module = restoring.find_loaded_module(f"keras.src.backend.common.{name}")
        if module and getattr(module, f"in_{name}")():
            scopes.append(name.replace("_", " "))
    state = restoring.find_loaded_module("keras.src.backend.common.global_state")
    # The policy is None until the first layer is made.
    policy = state.get_global_attribute("dtype_policy") if state else None
    policy_name = getattr(policy, "name", DEFAULT_DTYPE_POLICY)
    if policy_name != DEFAULT_DTYPE_POLICY:
        scopes.append(f"dtype policy {policy_name}")
    return scopes


# What may change how TensorFlow runs a call -> a function that lists what of it is on in this
# thread now.
MODES = {
    "tf.functions turned off": _list_eager_settings,
    "TensorFlow placement": _list_placements,
    "TensorFlow dispatchers": _list_dispatchers,
    "gradient tapes": _list_tapes,
    "Keras scopes": _list_keras_scopes,
}
