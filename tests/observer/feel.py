"""What a process can feel: `feel(case)` reads it all, and changes nothing by reading.

Each reader returns something that JSON can store. A framework is asked only if somebody has
imported it. `SENSES` is the table of readers: the harmful verbs of harmful.py have one for each.
"""

import builtins
import contextlib
import gc
import hashlib
import logging
import os
import random
import re
import signal
import sys
import threading
import types
import warnings

FRAMEWORKS = ("IPython", "jax", "keras", "numpy", "onnx", "pandas")
FRAMEWORKS += ("tensorflow", "torch", "torchvision", "triton")
MASKS = (
    (re.compile(r"0x[0-9a-f]+"), "0x…"),
    (re.compile(r"\bid=\d+"), "id=…"),
    (re.compile(r"__compiled_fn_\d+_\w+"), "__compiled_fn_…"),
    (re.compile(r"\[\d+/\d+(_\d+)?\]"), "[…]"),
    (re.compile(r"[WIE]\d{4} [\d:.]+ \d+ "), "W… "),
    (re.compile(r"__inference_\w+?_\d+"), "__inference_…"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|us|s)/step"), "…/step"),
)
STREAMS = "stdin", "stdout", "stderr"
# An address, and what tells only which call of a tf.function was the first.
PASSING = {"_torchdynamo_wrapper_id", "_created_variables"}
# Names that Dynamo itself adds where it compiles.
OF_DYNAMO = re.compile("__(compiled_fn|builtins_dict|resume_at|import|gen_rand)_")
FRAMES = re.compile(r"programs\w*\.py$")


def masked(text: str) -> str:
    """Return a text without addresses and counters."""
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text


def words_of(value, depth: int = 3) -> str:
    """Return type, dtype, shape and bits of a value, of containers those of what is in them."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return masked(f"{kind} {value!r}")
    if isinstance(value, dict) and depth:
        inside = [f"{words_of(k, 1)}: {words_of(v, depth - 1)}" for k, v in value.items()]
        return f"{kind} {{{', '.join(inside)}}}"
    if isinstance(value, (list, tuple)) and depth:
        return f"{kind} [{', '.join(words_of(one, depth - 1) for one in value)}]"
    if isinstance(value, (set, frozenset)) and depth:
        return f"{kind} {{{', '.join(sorted(words_of(one, depth - 1) for one in value))}}}"
    bits = _bits(value)
    return masked(f"{kind} {bits}") if bits else kind


def _bits(value) -> str:
    torch, tensorflow, numpy = (sys.modules.get(n) for n in ("torch", "tensorflow", "numpy"))
    if torch is not None and isinstance(value, torch.Tensor):
        with contextlib.suppress(Exception):
            numbers = value.detach().to_dense().cpu().contiguous()
            data = numbers.reshape(-1).view(torch.uint8).tolist() if numbers.numel() else []
            return f"{value.dtype} {[*value.shape]} {value.requires_grad} {_digest(bytes(data))}"
        return f"{value.dtype} {[*value.shape]}"
    if tensorflow is not None and isinstance(value, (tensorflow.Tensor, tensorflow.Variable)):
        with contextlib.suppress(Exception):
            return f"{value.dtype.name} {value.shape} {_digest(value.numpy().tobytes())}"
        return f"{value.dtype.name} {value.shape}"
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return f"{value.dtype} {value.shape} {_digest(value.tobytes())}"
    return ""


def _digest(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()[:12]


# The frames of these tests in a stack that TensorFlow notes: they are others around a verb.
OF_THE_TEST = re.compile(r'  File "[^"]*/observer/(?:server|cases|verbs)\.py", line \d+, in \S+\n+')


def error_of(error: BaseException) -> list:
    """Return type, words, causes and the frames of the program in the traceback of an error."""
    frames, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if FRAMES.search(code.co_filename):
            frames.append(f"{code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    return [
        kind,
        masked(OF_THE_TEST.sub("", str(error))),
        getattr(error, "__notes__", []),
        frames,
        type(behind).__name__,
    ]


# ------------------------------------------------------------------ CPython


def _collector() -> list:
    callbacks = [words_of(one) + getattr(one, "__qualname__", "") for one in gc.callbacks]
    full = gc.get_stats()[2]["collections"]
    return [gc.isenabled(), gc.get_threshold(), len(gc.garbage), gc.get_debug(), callbacks, full]


def _tracers() -> list:
    named = [sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()]
    monitoring = getattr(sys, "monitoring", None)
    tools = [monitoring.get_tool(number) for number in range(6)] if monitoring else []
    return [[getattr(one, "__qualname__", repr(type(one))) for one in named], tools]


def _hooks() -> list:
    names = ("excepthook", "displayhook", "unraisablehook", "breakpointhook")
    hooks = [getattr(sys, name) for name in names]
    hooks += [threading.excepthook, warnings.showwarning, warnings.formatwarning]
    hooks += [builtins.__import__, builtins.print, builtins.open, builtins.__build_class__]
    return [f"{one.__module__}.{one.__qualname__} {id(one)}" for one in hooks]


def _builtins() -> list:
    return sorted(vars(builtins).keys() - {"_"})


def _filters() -> list:
    return [[str(part) for part in one] for one in warnings.filters]


def _environment() -> dict:
    return dict(os.environ)


def _process() -> list:
    limits = [sys.getrecursionlimit(), sys.getswitchinterval(), os.getcwd(), _umask()]
    streams = [f"{name} {type(getattr(sys, name)).__qualname__}" for name in STREAMS]
    streams += [getattr(sys, f"__{name}__") is getattr(sys, name) for name in STREAMS]
    return [*limits, sys.getdlopenflags(), streams, sys.dont_write_bytecode, sys.flags.optimize]


def _umask() -> int:
    found = re.search(r"^Umask:\s*(\d+)", _kernel_says("/proc/self/status"), re.M)
    return int(found[1], 8) if found else 0


def _kernel_says(path: str) -> str:
    """Return the text of a file of /proc; "" where there is none."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def _paths() -> list:
    hooks = [getattr(one, "__qualname__", type(one).__qualname__) for one in sys.path_hooks]
    finders = [getattr(one, "__qualname__", type(one).__qualname__) for one in sys.meta_path]
    return [list(sys.path), hooks, finders]


def _frameworks() -> list:
    return [name for name in FRAMEWORKS if name in sys.modules]


def _main_modules() -> list:
    return sorted(name for name, one in sys.modules.items() if one is None) + [
        str(sys.modules.get("__main__") is not None)
    ]


def _threads() -> list:
    return sorted(re.sub(r"-?\d+", "", one.name) for one in threading.enumerate())


def _files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def _children() -> int:
    return len(_kernel_says(f"/proc/self/task/{os.getpid()}/children").split())


def _signals() -> list:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1, signal.SIGCHLD)
    handlers = [signal.getsignal(number) for number in numbers]
    return [getattr(one, "__qualname__", str(one)) for one in handlers]


def _at_exit() -> int:
    import atexit

    return atexit._ncallbacks()


def _logging() -> dict:
    loggers = {"": logging.root}
    known = logging.root.manager.loggerDict.items()
    loggers |= {n: one for n, one in known if isinstance(one, logging.Logger)}
    found = {}
    for name, one in loggers.items():
        handlers = [type(handler).__qualname__ for handler in one.handlers]
        state = [one.level, one.disabled, one.propagate, handlers, len(one.filters)]
        if state != [0, False, True, [], 0]:
            found[name] = state
    return {**found, "disabled": logging.root.manager.disable}


def _random() -> str:
    return _digest(repr(random.getstate()).encode())


def _evaluator() -> int:
    import ctypes

    interpreter = ctypes.pythonapi.PyInterpreterState_Get
    read = ctypes.pythonapi._PyInterpreterState_GetEvalFrameFunc
    interpreter.restype = read.restype = ctypes.c_void_p
    return read(ctypes.c_void_p(interpreter()))


def _numpy() -> list | None:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    state = numpy.random.get_state(legacy=True)
    numbers = _digest(state[1].tobytes() + str(state[2:]).encode())
    return [
        numbers,
        sorted(map(str, numpy.geterr().items())),
        numpy.get_printoptions()["precision"],
    ]


# ------------------------------------------------------------------ the program's own


def _functions(case) -> dict:
    found = {}
    for name, function in case.functions.items():
        code = getattr(function, "__code__", None)
        found[name] = {
            "dict": {key: words_of(one) for key, one in vars(function).items()},
            "code": id(code),
            "defaults": words_of(getattr(function, "__defaults__", None)),
            "kwdefaults": words_of(getattr(function, "__kwdefaults__", None)),
            "closure": [_cell(one) for one in getattr(function, "__closure__", None) or ()],
            "names": [function.__name__, function.__qualname__, function.__module__],
        }
    return found


def _cell(cell) -> str:
    try:
        return words_of(cell.cell_contents)
    except ValueError:
        return "empty"


def _objects(case) -> dict:
    found = {}
    for name, one in case.objects.items():
        inside = getattr(one, "__dict__", {})
        named = [(key, value) for key, value in dict(inside).items() if key not in PASSING]
        found[name] = {key: words_of(value) for key, value in named}
        if isinstance(one, type):
            found[name] = {key: type(value).__name__ for key, value in dict(inside).items()}
        if isinstance(one, (list, dict, set)):
            found[name] = words_of(one)
        named = getattr(one, "state_dict", None)
        if named is not None and not isinstance(one, type):
            found[name]["state"] = words_of(dict(named()), 5)
            hooks = [k for k in inside if k.endswith("hooks")]
            found[name]["hooks"] = [len(inside[key]) for key in hooks]
    return found


def _weak(case) -> dict:
    return {name: reference() is not None for name, reference in case.weak.items()}


def _globals(case) -> list:
    module = sys.modules[case.home]
    names = [re.sub(r"\d+", "…", name) for name in vars(module)]
    return sorted(name for name in names if not OF_DYNAMO.match(name))


# ------------------------------------------------------------------ torch


def _torch(read):
    def reader():
        torch = sys.modules.get("torch")
        return read(torch) if torch is not None and hasattr(torch, "nn") else None

    return reader


@_torch
def _torch_random(torch) -> str:
    return _digest(bytes(torch.get_rng_state().tolist()))


@_torch
def _torch_modes(torch) -> list:
    autocast = [torch.is_autocast_enabled("cpu"), str(torch.get_autocast_dtype("cpu"))]
    autocast += [torch.is_autocast_cache_enabled()]
    grad = [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]
    grad += [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
    return [*grad, *autocast, str(torch.get_default_dtype()), str(torch.get_default_device())]


@_torch
def _torch_flags(torch) -> list:
    flags = [torch.are_deterministic_algorithms_enabled()]
    flags += [torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_num_threads()]
    flags += [torch.get_num_interop_threads(), torch.get_float32_matmul_precision()]
    flags += [torch.utils.deterministic.fill_uninitialized_memory]
    flags += [torch.backends.mkldnn.enabled, torch.get_deterministic_debug_mode()]
    flags += [
        torch._C._get_cpp_backtrace.__name__ if hasattr(torch._C, "_get_cpp_backtrace") else ""
    ]
    return flags


@_torch
def _torch_stacks(torch) -> list:
    functorch = torch._C._functorch.maybe_current_level()
    stacks = [torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()]
    keys = [
        str(torch._C._dispatch_tls_local_include_set()),
        str(torch._C._is_torch_function_enabled()),
    ]
    keys += [str(torch._C._dispatch_tls_local_exclude_set())]
    return [*stacks, functorch, *keys]


@_torch
def _torch_hooks(torch) -> list:
    module = torch.nn.modules.module
    hooks = [name for name in vars(module) if name.startswith("_global_") and "hook" in name]
    numbers = [len(value) for name in hooks if hasattr(value := getattr(module, name), "__len__")]
    saved = torch._C._autograd._saved_tensors_hooks_is_enabled()
    return [numbers, saved, torch.nn.Module.__call__.__qualname__, id(torch.nn.Module.__call__)]


@_torch
def _torch_patches(torch) -> list:
    """Return which functions of torch are another object than when the server started."""
    return [name for name, one in PATCHABLE.items() if _found(name) is not one]


def _dynamo(read):
    def reader():
        # Dynamo may be imported later; what it is then is compared all the same.
        dynamo = sys.modules.get("torch._dynamo")
        there = dynamo is not None and hasattr(dynamo, "reset")
        return read(dynamo) if there else None

    return reader


@_dynamo
def _dynamo_slot(dynamo) -> str:
    return words_of(sys.modules["torch._C._dynamo.eval_frame"].get_eval_frame_callback())


SET_ASIDE: dict[int, types.CodeType] = {}  # the codes that the collector does not list any more


def remember_codes() -> None:
    """Note the codes of all functions, before they are set aside."""
    SET_ASIDE.update(_codes())


def _codes() -> dict[int, types.CodeType]:
    """Return the code of each function, and of those inside one of Dynamo."""
    codes = {}
    for one in gc.get_objects():
        if type(one) is types.FunctionType:
            codes[id(one.__code__)] = one.__code__
            if str(one.__module__).startswith("torch._dynamo"):  # it shares what it wraps with
                inside = [part for part in one.__code__.co_consts if type(part) is types.CodeType]
                codes |= {id(part): part for part in inside}
    return codes


@_dynamo
def _dynamo_entries(dynamo) -> dict:
    """Return code -> how many entries, of each function there is."""
    listed = sys.modules["torch._C._dynamo.eval_frame"]._debug_get_cache_entry_list
    codes = {**SET_ASIDE, **_codes()}
    found = {}
    for code in codes.values():
        if entries := listed(code):
            name = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno} {code.co_name}"
            found.setdefault(masked(name), []).append(len(entries))
    return {name: sorted(numbers) for name, numbers in sorted(found.items())}


@_dynamo
def _dynamo_config(dynamo) -> dict:
    found = {}
    for name in ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config"):
        config = sys.modules.get(name)
        if config is not None:
            found |= {f"{name}.{k}": repr(v) for k, v in config.get_config_copy().items()}
    return {key: masked(value) for key, value in found.items()}


@_dynamo
def _dynamo_counters(dynamo) -> dict:
    counters = dynamo.utils.counters
    return {str(name): dict(one) for name, one in counters.items() if one}


@_dynamo
def _dynamo_lists(dynamo) -> list:
    backends = sorted(sys.modules["torch._dynamo.backends.registry"]._BACKENDS)
    hooks = sys.modules["torch._dynamo.convert_frame"]
    numbers = [len(hooks._bytecode_hooks), len(dynamo.utils.compilation_time_metrics)]
    stance = sys.modules["torch._dynamo.eval_frame"]._stance
    callbacks = sys.modules["torch._dynamo.callback"].callback_handler
    numbers += [len(callbacks.start_callbacks), len(callbacks.end_callbacks)]
    return [backends, numbers[0], *numbers[2:], stance.stance]


@_dynamo
def _dynamo_sizes(dynamo) -> list:
    state = sys.modules["torch._dynamo.pgo"]._CODE_STATE or {}
    return sorted(masked(f"{os.path.basename(k.filename)} {k.name}") for k in state)


# ------------------------------------------------------------------ TensorFlow


def _tensorflow(read):
    def reader():
        there = "tensorflow" in sys.modules and hasattr(sys.modules["tensorflow"], "function")
        return read(sys.modules["tensorflow"]) if there else None

    return reader


@_tensorflow
def _tf_context(tf) -> list | None:
    context = sys.modules["tensorflow.python.eager.context"]._context
    if context is None or not context._initialized:
        return None
    local = context._thread_local_data
    flags = [local.is_eager, local.device_name, local.scope_name, len(local.op_callbacks)]
    flags += [local.invoking_op_callbacks, str(context.device_policy), str(context.execution_mode)]
    names = ("_run_eager_op_as_function", "_jit_compile_rewrite", "_seed", "_executor_type")
    names += ("_soft_device_placement", "_log_device_placement", "_intra_op_parallelism_threads")
    flags += [getattr(context, name, None) for name in names]
    return [str(one) for one in flags]


@_tensorflow
def _tf_random(tf) -> list | None:
    context = sys.modules["tensorflow.python.eager.context"]._context
    if context is None or not context._initialized:
        return None
    made = words_of(tf.random.get_global_generator().state) if _has_generator() else ""
    return [_digest(repr(_state(getattr(context, "_rng", None))).encode()), context._seed, made]


def _state(generator):
    """Return the state of one of Python's generators; None if it is not made yet."""
    return generator and generator.getstate()


def _has_generator() -> bool:
    module = sys.modules.get("tensorflow.python.ops.stateful_random_ops")
    return getattr(module, "global_generator", None) is not None


@_tensorflow
def _tf_flags(tf) -> list:
    eager_functions = sys.modules["tensorflow.python.eager.polymorphic_function.eager_function_run"]
    callbacks = sys.modules["tensorflow.python.eager.polymorphic_function.transform"]
    return [
        tf.config.functions_run_eagerly(),
        eager_functions.RUN_FUNCTIONS_EAGERLY,
        len(callbacks.CONCRETE_FUNCTION_CALLBACKS),
        len(callbacks.FUNC_GRAPH_TRANSFORMS),
        tf.executing_eagerly(),
        tf.summary.experimental.get_step() is not None,
        tf.distribute.has_strategy(),
        tf.get_logger().level,
        repr(tf.debugging.is_traceback_filtering_enabled()),
    ]


@_tensorflow
def _tf_stacks(tf) -> list:
    ops = sys.modules["tensorflow.python.framework.ops"]
    return [len(ops._default_graph_stack.stack)]


@_tensorflow
def _tf_patches(tf) -> list:
    return [name for name, one in PATCHABLE.items() if _found(name) is not one]


@_tensorflow
def _tf_functions(tf) -> list:
    """Return the traces of each tf.function there is, by name, in their order."""
    kind = sys.modules["tensorflow.python.eager.polymorphic_function.polymorphic_function"].Function
    found = []
    for one in gc.get_objects():
        if type(one) is kind:
            traces = one._function_cache._primary
            count = one._call_counter if hasattr(one, "_call_counter") else None
            calls = getattr(count, "call_count", None)
            counted = [getattr(count, "_calls_per_tracings", None), calls]
            found.append(
                [str(one._name), len(traces), one.experimental_get_tracing_count(), counted]
            )
    return sorted(found, key=repr)


def _keras() -> list | None:
    keras = sys.modules.get("keras")
    if keras is None or not hasattr(keras, "config"):
        return None
    state = sys.modules["keras.src.backend.common.global_state"].GLOBAL_STATE_TRACKER
    policy = keras.config.dtype_policy().name
    names = {k: words_of(v) for k, v in vars(state).items() if k != "name_scope_stack"}
    return [keras.config.floatx(), keras.config.epsilon(), policy, names, keras.config.backend()]


PATCHED_PLACES = (
    "torch._dynamo.convert_frame:get_and_maybe_log_recompilation_reasons",
    "torch._dynamo.convert_frame:CatchErrorsWrapper._handle_skip",
    "torch._dynamo.convert_frame:_compile",
    "torch._dynamo.symbolic_convert:InstructionTranslatorBase.step",
    "torch._dynamo.symbolic_convert:InstructionTranslatorBase.log_graph_break",
    "torch._dynamo.output_graph:OutputGraph.compile_subgraph",
    "torch._dynamo.output_graph:OutputGraph.call_user_compiler",
    "torch._dynamo.utils:add_compilation_metrics_to_chromium",
    "torch._dynamo.eval_frame:_callback_from_stance",
    "torch:compile",
    "torch.nn:Module.__call__",
    "torch.nn:Module._call_impl",
    "torch:Tensor.__torch_function__",
    "torch:Tensor.backward",
    "torch.nn.functional:relu",
    "torch:add",
    "torch:Tensor.add",
    "tensorflow.python.pywrap_tfe:TFE_Py_FastPathExecute",
    "tensorflow.python.pywrap_tfe:TFE_Py_Execute",
    "tensorflow.python.eager.execute:execute",
    "tensorflow.python.eager.execute:quick_execute",
    "tensorflow.python.eager.execute:record_gradient",
    "tensorflow.python.eager.polymorphic_function.tracing_compilation:_maybe_define_function",
    "tensorflow.python.eager.polymorphic_function.tracing_compilation:trace_function",
    "tensorflow:function",
    "tensorflow:Module.with_name_scope",
    "tensorflow:Variable.__init__",
    "tensorflow:add",
    "tensorflow.nn:relu",
    "keras.src.layers.layer:Layer.__call__",
    "keras.src.models.model:Model.__init__",
)
PATCHABLE: dict[str, object] = {}


def _found(place: str):
    module, _, names = place.partition(":")
    found = sys.modules.get(module)
    for name in names.split("."):
        found = getattr(found, name, None)
    return getattr(found, "__func__", found)


def remember_places() -> None:
    """Note which objects stand at the places that a verb may patch."""
    PATCHABLE.update({p: one for p in PATCHED_PLACES if (one := _found(p)) is not None})


OF_PROCESS = {
    "collector": _collector,
    "tracers": _tracers,
    "hooks": _hooks,
    "builtins": _builtins,
    "filters": _filters,
    "environment": _environment,
    "process": _process,
    "paths": _paths,
    "frameworks": _frameworks,
    "modules": _main_modules,
    "threads": _threads,
    "files": _files,
    "children": _children,
    "signals": _signals,
    "at exit": _at_exit,
    "logging": _logging,
    "random": _random,
    "evaluator": _evaluator,
    "numpy": _numpy,
    "torch random": _torch_random,
    "torch modes": _torch_modes,
    "torch flags": _torch_flags,
    "torch stacks": _torch_stacks,
    "torch hooks": _torch_hooks,
    "torch patches": _torch_patches,
    "dynamo slot": _dynamo_slot,
    "dynamo entries": _dynamo_entries,
    "dynamo config": _dynamo_config,
    "dynamo counters": _dynamo_counters,
    "dynamo lists": _dynamo_lists,
    "dynamo sizes": _dynamo_sizes,
    "tf context": _tf_context,
    "tf random": _tf_random,
    "tf flags": _tf_flags,
    "tf stacks": _tf_stacks,
    "tf patches": _tf_patches,
    "tf functions": _tf_functions,
    "keras": _keras,
}
OF_CASE = {"functions": _functions, "objects": _objects, "weak": _weak, "globals": _globals}
SENSES = [*OF_PROCESS, *OF_CASE]


def feel(case) -> dict:
    """Return sense -> what it says now; what cannot be read says why."""
    found = {}
    for name, read in OF_PROCESS.items():
        found[name] = _read(read)
    for name, read in OF_CASE.items():
        found[name] = _read(read, case)
    return found


def _read(read, *args):
    try:
        return read(*args)
    except Exception as error:
        return f"cannot be read: {type(error).__name__}: {error}"
