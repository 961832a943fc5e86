"""The global settings of torch, TensorFlow and Keras, such as seeds: how to read and restore each.

A setting is a `StatePart`: a name, a function that reads the value, a function that restores it,
and the module of the framework that must be loaded. Only a loaded framework is read, so this module
imports none. Private names are looked up here where a framework has no public function.

A `_read_…` function gets the module that a part needs, and returns the part's value. The `_set_…`
function of the part gets the module and the value that was read before.
"""

from ..safety.restoring import find_loaded_module
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
    """Return the state of each GPU's random generator; [] before CUDA is initialized.

    Reading the states would initialize CUDA, and nothing can have been drawn before that.
    """
    return torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []


def _set_gpu_seeds(torch, before: list) -> None:
    if before:  # empty if CUDA was not initialized
        torch.cuda.set_rng_state_all(before)


def _read_hooks(modules) -> dict:
    """Return the hooks that torch calls for every `nn.Module`: name of a table -> copy of it.

    `modules` is `torch.nn.modules.module`. Its tables `_global_…` map the number of a hook to the
    hook.
    """
    hooks_by_table = {}
    for name, table in vars(modules).items():
        if name.startswith("_global_") and isinstance(table, dict):
            hooks_by_table[name] = dict(table)
    return hooks_by_table


def _set_hooks(modules, before: dict) -> None:
    """Fill torch's tables with these hooks. The tables stay, because other modules use them."""
    for name, hooks in before.items():
        table = getattr(modules, name)
        table.clear()
        table.update(hooks)


def _mode_part(needs: str, name: str, stack_getter: str) -> StatePart:
    """Return the part that is one of torch's stacks of modes, such as its dispatch modes.

    A mode is an object that intercepts each op of torch in a `with` block.

    Parameters
    ----------
    needs
        The name of torch's module for these modes. It has `_push_mode` and `_pop_mode`.
    name
        The name of the part.
    stack_getter
        The name of the function in that module that returns the modes as a list, the outermost
        first.
    """

    def read(mode_module) -> list:
        return getattr(mode_module, stack_getter)()

    def restore(mode_module, before: list) -> None:
        """Pop the modes that were pushed since, and push those that were popped since."""
        shared_count = 0  # how many modes at the bottom of both stacks are the same
        # strict=False, because one stack may be longer.
        for mode, earlier_mode in zip(read(mode_module), before, strict=False):
            if mode is not earlier_mode:
                break
            shared_count += 1

        while len(read(mode_module)) > shared_count:
            mode_module._pop_mode()
        for mode in before[shared_count:]:
            mode_module._push_mode(mode)

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
    """Set only the settings that have changed, because torch checks each that is set."""
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


def _read_seeds(context_module) -> tuple:
    """Return TensorFlow's seed, its generator of op seeds, and the state of that generator.

    The generator draws a seed for each random op that gets none. Before `tf.random.set_seed`, there
    is no generator: then the second and the third are None.
    """
    context = context_module.context()
    generator = getattr(context, "_rng", None)
    return context._seed, generator, generator and generator.getstate()


def _set_seeds(context_module, before: tuple) -> None:
    context = context_module.context()
    context._seed, context._rng, state = before
    if state is not None:
        context._rng.setstate(state)


def draw_from_another_generator() -> None:
    """Have TensorFlow draw the seeds of the next random ops from a new generator.

    TensorFlow keeps a kernel for each op seed, and the kernel remembers how many numbers it has
    drawn. Suppose that a learner's answer is judged, and its ops use up the next seeds of the
    learner's generator. The generator can be restored, but the kernels cannot. They would return
    other numbers when the learner's own ops get the same seeds. With a new generator, the ops of
    the answer get other seeds.
    """
    context_module = find_loaded_module(CONTEXT)
    if not context_module:  # TensorFlow is not loaded
        return
    context = context_module.context()
    generator = getattr(context, "_rng", None)  # there is none before `tf.random.set_seed`
    if generator:
        context._rng = type(generator)("an answer is judged")


def _read_generator(random_module) -> tuple:
    """Return the global generator of tf.random and its state; (None, None) before it is made."""
    generator = random_module.global_generator
    return generator, generator and generator.state.numpy().tolist()


def _set_generator(random_module, before: tuple) -> None:
    random_module.global_generator, state = before
    if state is not None:
        random_module.global_generator.state.assign(state)


def _read_scope(context_module) -> tuple:
    """Return the device of the open `with tf.device(…)`: its name, and TensorFlow's DeviceSpec."""
    data = context_module.context()._thread_local_data
    return data.device_name, data.device_spec


def _set_scope(context_module, before: tuple) -> None:
    context_module.context()._set_device(*before)


def _set_filtering(debugging, before: bool) -> None:
    """Turn the shortening of tracebacks on or off, for which TensorFlow has two functions."""
    if before:
        debugging.enable_traceback_filtering()
    else:
        debugging.disable_traceback_filtering()


def _set_determinism(config, before: bool) -> None:
    """Turn deterministic ops on or off, for which TensorFlow has two functions."""
    if before:
        config.enable_op_determinism()
    else:
        config.disable_op_determinism()


def _read_keras(state) -> tuple:
    """Return Keras' dtype policy, its global generator of seeds, and the state of the generator.

    Each of them is None where Keras has not made it yet.
    """
    policy = state.get_global_attribute("dtype_policy")
    generator = state.get_global_attribute("global_seed_generator")
    return policy, generator, generator and generator.state.numpy().tolist()


def _set_keras(state, before: tuple) -> None:
    """Set what `_read_keras` returned: the policy, the generator, and the generator's state."""
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
    list_part("op callbacks", lambda: find_loaded_module(CONTEXT).context().op_callbacks, CONTEXT),
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
