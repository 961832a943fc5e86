"""Verbs that do harm on purpose, one for each sense: the observer test must notice each."""

import atexit
import builtins
import gc
import io
import logging
import os
import random
import signal
import sys
import threading
import time
import warnings

from tests.observer.verbs import CALLED, EVERY, TENSORFLOW, TORCH, Verb

VERBS: dict[str, Verb] = {}
OF_SENSE: dict[str, list[tuple[str, str]]] = {}  # verb -> what must be noticed


def harm(*items, on=EVERY):
    """Add a harmful verb; it calls the program once, and must be noticed in one of these items."""

    def add(act):
        key = f"harm: {act.__name__}"

        def acted(case):
            value = case.call()
            return act(case, value) or value

        VERBS[key] = Verb(key, acted, CALLED, on, frozenset(), True, False, False, False)
        OF_SENSE[key] = items
        return act

    return add


@harm("act.value")
def changes_the_result(case, value):
    return [value]


@harm("act.raised")
def raises_its_own(case, value):
    raise IndexError("ours")


@harm("act.stdout")
def prints(case, value):
    print("ours")


@harm("act.stderr")
def prints_to_stderr(case, value):
    print("ours", file=sys.stderr)


@harm("act.stderr")
def warns(case, value):
    warnings.warn("ours", UserWarning, stacklevel=1)


@harm("collector")
def collects(case, value):
    gc.collect()


@harm("collector")
def disables_collector(case, value):
    gc.disable()


@harm("collector")
def adds_callback(case, value):
    gc.callbacks.append(lambda *args: None)


@harm("tracers")
def leaves_tracer(case, value):
    sys.settrace(lambda *args: None)


@harm("tracers")
def leaves_profiler(case, value):
    sys.setprofile(lambda *args: None)


@harm("tracers")
def leaves_thread_tracer(case, value):
    threading.settrace(lambda *args: None)


@harm("hooks")
def leaves_excepthook(case, value):
    sys.excepthook = lambda *args: None


@harm("hooks")
def leaves_showwarning(case, value):
    warnings.showwarning = lambda *args, **kwargs: None


@harm("builtins")
def leaves_builtin(case, value):
    builtins.ours = 1


@harm("filters")
def leaves_filter(case, value):
    warnings.simplefilter("ignore", ResourceWarning)


@harm("environment")
def leaves_variable(case, value):
    os.environ["OURS"] = "1"


@harm("process")
def changes_folder(case, value):
    os.chdir("/")


@harm("process")
def changes_recursion_limit(case, value):
    sys.setrecursionlimit(sys.getrecursionlimit() + 50)


@harm("process")
def changes_stream(case, value):
    sys.stdin = io.StringIO()


@harm("paths")
def adds_path(case, value):
    sys.path.append("/nowhere")


@harm("frameworks")
def imports_a_framework(case, value):
    sys.modules["jax"] = sys


@harm("modules")
def leaves_no_module(case, value):
    sys.modules["ours_is_none"] = None


@harm("threads")
def leaves_thread(case, value):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


@harm("files")
def leaves_file(case, value):
    os.open(os.devnull, os.O_RDONLY)


@harm("children")
def leaves_child(case, value):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)


@harm("signals")
def leaves_handler(case, value):
    signal.signal(signal.SIGTERM, lambda *args: None)


@harm("at exit")
def leaves_exit_callbacks(case, value):
    for _ in range(9):
        atexit.register(len, "ours")


@harm("logging")
def leaves_handler_of_logs(case, value):
    logging.getLogger("ours").addHandler(logging.NullHandler())


@harm("random")
def draws(case, value):
    random.random()


@harm("functions")
def marks_function(case, value):
    next(iter(case.functions.values())).ours = 1


@harm("functions")
def replaces_code(case, value):
    function = next(iter(case.functions.values()))
    function.__code__ = function.__code__.replace()


@harm("globals")
def leaves_global(case, value):
    sys.modules[case.home].ours = 1


@harm("numpy", on=(TORCH, TENSORFLOW))
def draws_with_numpy(case, value):
    import numpy as np

    np.random.random()


@harm("torch random", on=(TORCH,))
def draws_with_torch(case, value):
    import torch

    torch.rand(1)


@harm("torch modes", on=(TORCH,))
def leaves_no_grad(case, value):
    import torch

    torch.set_grad_enabled(not torch.is_grad_enabled())


@harm("torch modes", on=(TORCH,))
def leaves_default_dtype(case, value):
    import torch

    torch.set_default_dtype(torch.float16)


@harm("torch flags", on=(TORCH,))
def leaves_precision(case, value):
    import torch

    torch.set_float32_matmul_precision("medium")


@harm("torch stacks", on=(TORCH,))
def leaves_mode(case, value):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Ours(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    Ours().__enter__()


@harm("torch hooks", on=(TORCH,))
def leaves_module_hook(case, value):
    import torch

    torch.nn.modules.module.register_module_forward_hook(lambda *args: None)


@harm("torch patches", on=(TORCH,))
def patches_torch(case, value):
    import torch

    real = torch.compile
    torch.compile = lambda *args, **kwargs: real(*args, **kwargs)


@harm("dynamo slot", on=(TORCH,))
def leaves_callback(case, value):
    from torch._C._dynamo.eval_frame import set_eval_frame
    from torch._dynamo.types import ConvertFrameReturn

    set_eval_frame(lambda frame, *rest: ConvertFrameReturn(apply_to_code=False))


@harm("dynamo entries", on=(TORCH,))
def leaves_an_entry(case, value):
    import torch

    torch.compile(torch.nn.Linear(3, 3), backend="eager")(torch.ones(1, 3))


@harm("dynamo config", on=(TORCH,))
def changes_dynamo_config(case, value):
    import torch

    torch._dynamo.config.recompile_limit = 3


@harm("dynamo counters", on=(TORCH,))
def counts(case, value):
    import torch

    torch._dynamo.utils.counters["stats"]["ours"] += 1


@harm("dynamo lists", on=(TORCH,))
def registers_backend(case, value):
    import torch

    torch._dynamo.register_backend(lambda graph, inputs: graph.forward, name="ours")


@harm("dynamo sizes", on=(TORCH,))
def leaves_sizes(case, value):
    import torch

    def ours(x):
        return x + 1

    compiled = torch.compile(ours, backend="eager")
    compiled(torch.ones(2)), compiled(torch.ones(3))


@harm("objects", on=(TORCH,))
def leaves_hook(case, value):
    for one in case.objects.values():
        one.ours = 1


@harm("tf flags", on=(TENSORFLOW,))
def runs_eagerly(case, value):
    import tensorflow as tf

    tf.config.run_functions_eagerly(not tf.config.functions_run_eagerly())


@harm("tf context", on=(TENSORFLOW,))
def leaves_op_callback(case, value):
    from tensorflow.python.framework import op_callbacks

    op_callbacks.add_op_callback(lambda *args, **kwargs: None)


@harm("tf random", on=(TENSORFLOW,))
def draws_with_tensorflow(case, value):
    import tensorflow as tf

    tf.random.set_seed(3)


@harm("tf stacks", on=(TENSORFLOW,))
def leaves_graph(case, value):
    from tensorflow.python.framework import ops

    ops._default_graph_stack.stack.append(ops.Graph())


@harm("tf patches", on=(TENSORFLOW,))
def patches_tensorflow(case, value):
    import tensorflow as tf

    real = tf.function
    tf.function = lambda *args, **kwargs: real(*args, **kwargs)


@harm("tf functions", on=(TENSORFLOW,))
def leaves_a_trace(case, value):
    import tensorflow as tf

    KEPT.append(tf.function(lambda x: x))
    KEPT[-1](1)


@harm("keras", on=(TENSORFLOW,))
def changes_floatx(case, value):
    import keras

    keras.config.set_floatx("float64")


KEPT = []


@harm("evaluator", on=(TORCH,))
def leaves_evaluator(case, value):
    from torch._C._dynamo.eval_frame import set_eval_frame

    set_eval_frame(lambda frame, *rest: None)


class Leak:
    """What a harmful verb leaves at each use."""


@harm("growth")
def leaks(case, value):
    KEPT.append(Leak())
