"""What code can set in torch, TensorFlow and Keras: parts that are read and restored.

Only a loaded framework is read, so this module imports none. Private names are looked up here where
a framework has no public function for a part.

A `_read_…` function gets the module that a part needs, and returns the part's value. The `_set_…`
function of the part gets the module and such a value.
"""

from ..safety.restoring import module
from ..safety.state_parts import StatePart, accessor_part, attribute_part, list_part, switch_part

# ------------------------------------------------------------------ torch


def _read_deterministic(torch) -> tuple:
    """Return whether only deterministic algorithms may run, and whether others only warn."""
    warns_only = torch.is_deterministic_algorithms_warn_only_enabled()
    return torch.are_deterministic_algorithms_enabled(), warns_only


def _set_deterministic(torch, before: tuple) -> None:
    is_on, warns_only = before
    torch.use_deterministic_algorithms(is_on, warn_only=warns_only)


def _read_anomaly(torch) -> tuple:
    """Return whether autograd's anomaly mode is on, and whether it looks for nan."""
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


def _set_anomaly(torch, before: tuple) -> None:
    is_on, checks_nan = before
    torch.autograd.set_detect_anomaly(is_on, check_nan=checks_nan)


def _read_autocast(torch) -> tuple:
    """Return whether autocast is on for the CPU, its dtype there, and whether it caches."""
    is_on = torch.is_autocast_enabled("cpu")
    dtype = torch.get_autocast_dtype("cpu")
    return is_on, dtype, torch.is_autocast_cache_enabled()


def _set_autocast(torch, before: tuple) -> None:
    is_on, dtype, caches = before
    torch.set_autocast_enabled("cpu", is_on)
    torch.set_autocast_dtype("cpu", dtype)
    torch.set_autocast_cache_enabled(caches)


def _read_gpu_seeds(torch) -> list:
    """Return the state of each GPU's generator. Nothing has been drawn before CUDA is in use."""
    return torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []


def _set_gpu_seeds(torch, before: list) -> None:
    if before:  # empty: CUDA was not in use
        torch.cuda.set_rng_state_all(before)


def _read_hooks(modules) -> dict:
    """Return the hooks of all modules, by the name of the table that holds them."""
    hooks = {}
    for name, table in vars(modules).items():
        if name.startswith("_global_") and isinstance(table, dict):
            hooks[name] = dict(table)
    return hooks


def _set_hooks(modules, before: dict) -> None:
    for name, hooks in before.items():
        table = getattr(modules, name)
        table.clear()
        table.update(hooks)


def _mode_part(needs: str, name: str, stack: str) -> StatePart:
    """Return the part that is one of torch's stacks of modes.

    `stack` is the name of the function, in the module `needs`, that returns the modes as a list,
    the outermost first.
    """

    def read(home) -> list:
        return getattr(home, stack)()

    def restore(home, before: list) -> None:
        """Pop the modes that have come since, and push those that have gone."""
        shared_count = 0  # how many modes at the bottom of both stacks are the same
        for mode, earlier_mode in zip(read(home), before, strict=False):  # of the shorter one
            if mode is not earlier_mode:
                break
            shared_count += 1

        while len(read(home)) > shared_count:
            home._pop_mode()
        for mode in before[shared_count:]:
            home._push_mode(mode)

    return switch_part(needs, name, read, restore)


def _read_printing(printing) -> dict:
    """Return the options of `torch.set_printoptions`."""
    return dict(vars(printing.PRINT_OPTS))


def _set_printing(printing, before: dict) -> None:
    vars(printing.PRINT_OPTS).update(before)


def _read_config(dynamo) -> dict:
    """Return the settings of `torch._dynamo.config`."""
    return dynamo.config.get_config_copy()


def _set_config(dynamo, before: dict) -> None:
    for name, value in _read_config(dynamo).items():
        if name in before and value != before[name]:
            setattr(dynamo.config, name, before[name])


CUDNN_FLAGS = ("enabled", "benchmark", "deterministic", "allow_tf32")

TORCH = (
    accessor_part("torch", "get_default_dtype", "set_default_dtype"),
    switch_part(
        "torch",
        "torch.set_default_device",
        lambda torch: torch.utils._device.CURRENT_DEVICE,  # None where nobody has set one
        lambda torch, before: torch.set_default_device(before),
    ),
    _mode_part("torch.overrides", "function modes", "_get_current_function_mode_stack"),
    _mode_part(
        "torch.utils._python_dispatch", "dispatch modes", "_get_current_dispatch_mode_stack"
    ),
    accessor_part("torch", "is_grad_enabled", "set_grad_enabled"),
    switch_part("torch", "deterministic algorithms", _read_deterministic, _set_deterministic),
    switch_part("torch", "anomaly mode", _read_anomaly, _set_anomaly),
    switch_part("torch", "autocast", _read_autocast, _set_autocast),
    accessor_part("torch", "get_num_threads", "set_num_threads"),
    accessor_part("torch", "get_float32_matmul_precision", "set_float32_matmul_precision"),
    accessor_part("torch", "get_rng_state", "set_rng_state"),
    switch_part("torch", "the generators of GPUs", _read_gpu_seeds, _set_gpu_seeds),
    switch_part("torch.nn.modules.module", "hooks of all modules", _read_hooks, _set_hooks),
    switch_part("torch._tensor_str", "torch.set_printoptions", _read_printing, _set_printing),
    *(attribute_part("torch.backends.cudnn", name) for name in CUDNN_FLAGS),
    attribute_part("torch.backends.mkldnn", "enabled"),
    switch_part("torch._dynamo", "torch._dynamo.config", _read_config, _set_config),
    switch_part(
        "torch._dynamo.eval_frame",
        "torch.compiler.set_stance",
        lambda dynamo: dynamo._stance,
        lambda dynamo, before: dynamo._set_stance(before),
    ),
    accessor_part("torch._C._dynamo.eval_frame", "get_eval_frame_callback", "set_eval_frame"),
)


# ------------------------------------------------------------------ TensorFlow and Keras

CONTEXT = "tensorflow.python.eager.context"


def _read_seeds(home) -> tuple:
    """Return the seed of TensorFlow, and the generator that numbers its random ops."""
    context = home.context()
    generator = getattr(context, "_rng", None)  # there is none before the first seed
    return context._seed, generator, generator and generator.getstate()


def _set_seeds(home, before: tuple) -> None:
    context = home.context()
    context._seed, context._rng, state = before
    if state is not None:
        context._rng.setstate(state)


def draw_from_another_generator() -> None:
    """Have TensorFlow number the next random ops by a generator of their own.

    TensorFlow keeps a kernel for each number, and each kernel goes on where it was. A number of
    the learner's generator that an answer used would go on elsewhere when the learner uses it.
    """
    home = module(CONTEXT)
    if not home:
        return
    context = home.context()
    generator = getattr(context, "_rng", None)  # there is none before the first seed
    if generator:
        context._rng = type(generator)("an answer is judged")


def _read_generator(home) -> tuple:
    """Return the global generator of tf.random and its state; None where it has not been made."""
    generator = home.global_generator
    return generator, generator and generator.state.numpy().tolist()


def _set_generator(home, before: tuple) -> None:
    home.global_generator, state = before
    if state is not None:
        home.global_generator.state.assign(state)


def _read_scope(home) -> tuple:
    """Return the device of a `with tf.device(…)` that is open: its name, and TensorFlow's spec."""
    data = home.context()._thread_local_data
    return data.device_name, data.device_spec


def _set_scope(home, before: tuple) -> None:
    home.context()._set_device(*before)


def _set_filtering(debugging, before: bool) -> None:
    if before:
        debugging.enable_traceback_filtering()
    else:
        debugging.disable_traceback_filtering()


def _set_determinism(config, before: bool) -> None:
    if before:
        config.enable_op_determinism()
    else:
        config.disable_op_determinism()


def _read_keras(state) -> tuple:
    """Return Keras' policy and its generator of seeds with its state; None where it has none."""
    policy = state.get_global_attribute("dtype_policy")
    generator = state.get_global_attribute("global_seed_generator")
    return policy, generator, generator and generator.state.numpy().tolist()


def _set_keras(state, before: tuple) -> None:
    policy, generator, seeds = before
    state.set_global_attribute("dtype_policy", policy)
    state.set_global_attribute("global_seed_generator", generator)
    if seeds is not None:
        generator.state.assign(seeds)


TENSORFLOW = (
    accessor_part("tensorflow", "config.functions_run_eagerly", "config.run_functions_eagerly"),
    attribute_part("tensorflow.python.data.ops.debug_mode", "DEBUG_MODE"),
    accessor_part(
        "tensorflow", "config.get_soft_device_placement", "config.set_soft_device_placement"
    ),
    accessor_part(
        "tensorflow", "debugging.get_log_device_placement", "debugging.set_log_device_placement"
    ),
    accessor_part("tensorflow", "config.optimizer.get_jit", "config.optimizer.set_jit"),
    switch_part(
        "tensorflow.python.framework.config",
        "tf.config.experimental.enable_op_determinism",
        lambda config: config.is_op_determinism_enabled(),
        _set_determinism,
    ),
    switch_part(
        "tensorflow.python.util.traceback_utils",
        "tf.debugging.disable_traceback_filtering",
        lambda debugging: debugging.is_traceback_filtering_enabled(),
        _set_filtering,
    ),
    switch_part(CONTEXT, "the device scope", _read_scope, _set_scope),
    list_part("op callbacks", lambda: module(CONTEXT).context().op_callbacks, CONTEXT),
    switch_part(CONTEXT, "tf.random.set_seed", _read_seeds, _set_seeds),
    switch_part(
        "tensorflow.python.ops.stateful_random_ops",
        "tf.random.get_global_generator",
        _read_generator,
        _set_generator,
    ),
    accessor_part("keras", "config.floatx", "config.set_floatx"),
    accessor_part("keras", "config.epsilon", "config.set_epsilon"),
    accessor_part("keras", "config.image_data_format", "config.set_image_data_format"),
    switch_part("keras.src.backend.common.global_state", "keras' policy", _read_keras, _set_keras),
)
