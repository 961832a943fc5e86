"""What NumPy, torch, TensorFlow and Keras are set to; read only where they have been imported."""

import logging
from types import ModuleType

from helpers.safety.original_builtins import BUILTINS
from helpers.safety.settings.setting import Same, of_module

__builtins__ = BUILTINS


def _put_numpy_errors(numpy: ModuleType, before: tuple) -> None:
    numpy.seterr(**before[0])
    numpy.seterrcall(before[1].value)


def _default_device(torch: ModuleType) -> Same:
    """Return the mode that `set_default_device` has put on in this thread, or None."""
    return Same(vars(torch._GLOBAL_DEVICE_CONTEXT).get("device_context"))


def _put_default_device(torch: ModuleType, before: Same) -> None:
    now, held = _default_device(torch).value, torch._GLOBAL_DEVICE_CONTEXT
    if now is not None:
        now.__exit__(None, None, None)
    held.device_context = before.value
    if before.value is not None:
        before.value.__enter__()


def _deterministic(torch: ModuleType) -> tuple:
    private = torch._C
    warns = private._get_deterministic_algorithms_warn_only()
    cudnn = private._get_cudnn_deterministic(), private._get_cudnn_benchmark()
    fills = private._get_deterministic_fill_uninitialized_memory()
    return private._get_deterministic_algorithms(), warns, *cudnn, fills


def _put_deterministic(torch: ModuleType, before: tuple) -> None:
    private = torch._C  # the public function imports the compiler
    private._set_deterministic_algorithms(before[0], warn_only=before[1])
    private._set_cudnn_deterministic(before[2])
    private._set_cudnn_benchmark(before[3])
    private._set_deterministic_fill_uninitialized_memory(before[4])


def _autocast(torch: ModuleType) -> tuple:
    return torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")


def _put_autocast(torch: ModuleType, before: tuple) -> None:
    torch.set_autocast_enabled("cpu", before[0])
    torch.set_autocast_dtype("cpu", before[1])


def _anomalies(torch: ModuleType) -> tuple:
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def _optimizer(module: ModuleType) -> tuple:
    """Return what is set; the public functions would look for devices first."""
    own = vars(module.context())
    return dict(own["_optimizer_experimental_options"]), *(own[name] for name in _PLACING)


def _put_optimizer(module: ModuleType, before: tuple) -> None:
    context = module.context()
    context._optimizer_experimental_options = before[0]
    for name, value in zip(_PLACING, before[1:], strict=True):
        setattr(context, name, value)
    context._thread_local_data.function_call_options = None  # made of these when it is asked for


_PLACING = ("_optimizer_jit", "_soft_device_placement")
_KERAS = ("floatx", "epsilon", "image_data_format")
_POLICY = "dtype_policy"


def _saving(torch: ModuleType) -> tuple[Same, ...]:
    """Return the innermost hooks on what autograd saves for the way back, if there are some."""
    return tuple(map(Same, torch._C._autograd._top_saved_tensors_default_hooks(True) or ()))


def _put_saving(torch: ModuleType, before: tuple[Same, ...]) -> None:
    while (now := _saving(torch)) and now != before:
        torch._C._autograd._pop_saved_tensors_default_hooks()


def _put_dual_level(forward_ad: ModuleType, before: int) -> None:
    while forward_ad._current_level > before:
        forward_ad.exit_dual_level(level=forward_ad._current_level)


def _put_config(config: ModuleType, before: dict) -> None:
    now = config.get_config_copy()
    config.load_config({name: was for name, was in before.items() if now.get(name) != was})


def _scopes(context: ModuleType) -> tuple:
    data = context.context()._thread_local_data
    return data.device_name, Same(data.device_spec), data.scope_name


def _put_scopes(context: ModuleType, before: tuple) -> None:
    data = context.context()._thread_local_data
    data.device_name, data.device_spec, data.scope_name = before[0], before[1].value, before[2]


def _strategies(ops: ModuleType) -> tuple:
    """Return what a strategy's scope has put on the default graph (framework/ops.py)."""
    graph = ops._default_graph_stack._global_default_graph
    stacks = _stacks(graph) if graph is not None else ((), ())
    return tuple([Same(each) for each in stack] for stack in stacks)


def _put_strategies(ops: ModuleType, before: tuple) -> None:
    for stack, was in zip(
        _stacks(ops._default_graph_stack._global_default_graph), before, strict=True
    ):
        stack[:] = [each.value for each in was]


def _stacks(graph) -> tuple[list, list]:
    return graph._distribution_strategy_stack, graph._variable_creator_stack


def _put_filtering(util: ModuleType, before: bool) -> None:
    util._ENABLE_TRACEBACK_FILTERING.value = before


FRAMEWORKS = (
    of_module(
        "NumPy's handling of errors",
        "numpy",
        lambda numpy: (numpy.geterr(), Same(numpy.geterrcall())),
        _put_numpy_errors,
    ),
    of_module(
        "how NumPy prints",
        "numpy",
        lambda numpy: numpy.get_printoptions(),
        lambda numpy, before: numpy.set_printoptions(**before),
    ),
    of_module(
        "torch's default dtype",
        "torch",
        lambda torch: torch.get_default_dtype(),
        lambda torch, before: torch.set_default_dtype(before),
    ),
    of_module("torch's default device", "torch", _default_device, _put_default_device),
    of_module("torch's deterministic algorithms", "torch", _deterministic, _put_deterministic),
    of_module(
        "torch's number of threads",
        "torch",
        lambda torch: torch.get_num_threads(),
        lambda torch, before: torch.set_num_threads(before),
    ),
    of_module(
        "the precision of torch's products of matrices",
        "torch",
        lambda torch: torch.get_float32_matmul_precision(),
        lambda torch, before: torch.set_float32_matmul_precision(before),
    ),
    of_module(
        "torch's search for anomalies",
        "torch",
        _anomalies,
        lambda torch, before: torch.set_anomaly_enabled(*before),
    ),
    of_module("torch's autocast", "torch", _autocast, _put_autocast),
    of_module("what autograd does with what it saves", "torch", _saving, _put_saving),
    of_module(
        "torch's level of forward gradients",
        "torch.autograd.forward_ad",
        lambda forward_ad: forward_ad._current_level,
        _put_dual_level,
    ),
    of_module(
        "whether torch repeats its warnings",
        "torch",
        lambda torch: torch.is_warn_always_enabled(),
        lambda torch, before: torch.set_warn_always(before),
    ),
    of_module(
        "whether torch uses oneDNN",
        "torch",
        lambda torch: torch._C._get_mkldnn_enabled(),
        lambda torch, before: torch._C._set_mkldnn_enabled(before),
    ),
    of_module(
        "Dynamo's configuration",
        "torch._dynamo.config",
        lambda config: config.get_config_copy(),
        _put_config,
    ),
    of_module(
        "how torch prints",
        "torch._tensor_str",
        lambda text: dict(vars(text.PRINT_OPTS)),
        lambda text, before: vars(text.PRINT_OPTS).update(before),
    ),
    of_module(
        "whether tf.functions run eagerly",
        "tensorflow.python.eager.polymorphic_function.eager_function_run",
        lambda runs: runs.functions_run_eagerly(),
        lambda runs, before: runs.run_functions_eagerly(before),
    ),
    of_module(
        "TensorFlow's optimiser and placement",
        "tensorflow.python.eager.context",
        _optimizer,
        _put_optimizer,
    ),
    of_module(
        "TensorFlow's device and name scope",
        "tensorflow.python.eager.context",
        _scopes,
        _put_scopes,
    ),
    of_module(
        "TensorFlow's strategy",
        "tensorflow.python.framework.ops",
        _strategies,
        _put_strategies,
    ),
    of_module(
        "what TensorFlow leaves out of tracebacks",
        "tensorflow.python.util.traceback_utils",
        lambda util: util.is_traceback_filtering_enabled(),
        _put_filtering,
    ),
    of_module(
        "what TensorFlow logs",
        "tensorflow",
        lambda tensorflow: logging.getLogger("tensorflow").level,
        lambda tensorflow, before: logging.getLogger("tensorflow").setLevel(before),
    ),
    of_module(
        "what AutoGraph logs",
        "tensorflow.python.autograph.utils.ag_logging",
        lambda log: (log.verbosity_level, log.echo_log_to_stdout),
        lambda log, before: log.set_verbosity(*before),
    ),
    of_module(
        "Keras' numbers",
        "keras.src.backend.config",
        lambda keras: tuple(getattr(keras, name)() for name in _KERAS),
        lambda keras, before: [
            getattr(keras, f"set_{name}")(value) for name, value in zip(_KERAS, before, strict=True)
        ],
    ),
    of_module(
        "Keras' dtype policy",
        "keras.src.backend.common.global_state",
        lambda keras: Same(keras.get_global_attribute(_POLICY)),
        lambda keras, before: keras.set_global_attribute(_POLICY, before.value),
    ),
)
