"""An answer sets what it likes while it is judged; afterwards the process is as it was before."""

import builtins
import decimal
import functools
import gc
import io
import locale
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.study.check import Exercise
from helpers.study.process_state import PARTS, restore_process_state

pytestmark = pytest.mark.own_process
torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")
tf = pytest.importorskip("tensorflow")
import keras  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
from tensorflow.python.data.ops import debug_mode  # noqa: E402
from tensorflow.python.eager import context  # noqa: E402
from tensorflow.python.framework import config, op_callbacks  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from helpers.mini import frame_hook  # noqa: E402

plt.switch_backend("agg")
tf.random.set_seed(7)
keras.utils.set_random_seed(7)
owner, others = "the learner's", {}


def add_and_rebind_names():
    global owner, added
    owner = added = "the answer's"
    globals()["added_too"] = 5


def leave_a_hook():
    if not frame_hook.why_not():
        frame_hook.watching(lambda code, values: None, only=read_all).__enter__()


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        return op(*args, **(kwargs or {}))


def draw_from_keras():
    return keras.random.uniform([2])


def press_later():
    signal.setitimer(signal.ITIMER_REAL, 1000)


# What an answer does -> how anybody sees it.
CHANGES = {
    "gc": (gc.disable, gc.isenabled),
    "thresholds": (lambda: gc.set_threshold(7, 7, 7), gc.get_threshold),
    "gc callback": (lambda: gc.callbacks.append(print_nothing), lambda: [*gc.callbacks]),
    "tracer": (lambda: sys.settrace(print_nothing), sys.gettrace),
    "profiler": (lambda: sys.setprofile(print_nothing), sys.getprofile),
    "threads' tracer": (lambda: threading.settrace(print_nothing), threading.gettrace),
    "recursion": (lambda: sys.setrecursionlimit(4321), sys.getrecursionlimit),
    "digits": (lambda: sys.set_int_max_str_digits(5000), sys.get_int_max_str_digits),
    "switches": (lambda: sys.setswitchinterval(0.1), sys.getswitchinterval),
    "signals": (
        lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
        lambda: signal.getsignal(signal.SIGTERM),
    ),
    "interrupts": (
        lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        lambda: signal.getsignal(signal.SIGINT),
    ),
    "alarm": (press_later, lambda: any(signal.getitimer(signal.ITIMER_REAL))),
    "environment": (lambda: os.environ.update(ADDED="1", HOME="."), lambda: dict(os.environ)),
    "a variable gone": (lambda: os.environ.pop("HOME", None), lambda: os.environ.get("HOME")),
    "folder": (lambda: os.chdir(".."), os.getcwd),
    "path": (lambda: sys.path.insert(0, "somewhere"), lambda: [*sys.path]),
    "another path": (lambda: setattr(sys, "path", []), lambda: id(sys.path)),
    "stdout": (lambda: setattr(sys, "stdout", io.StringIO()), lambda: sys.stdout),
    "excepthook": (lambda: setattr(sys, "excepthook", print_nothing), lambda: sys.excepthook),
    "displayhook": (lambda: setattr(sys, "displayhook", print_nothing), lambda: sys.displayhook),
    "modules": (lambda: sys.modules.pop("json", None), lambda: sys.modules.get("json")),
    "builtins": (lambda: vars(builtins).update(sum=max), lambda: sum([1, 1])),
    "filters": (lambda: warnings.simplefilter("error"), lambda: [*warnings.filters]),
    "precision": (
        lambda: setattr(decimal.getcontext(), "prec", 3),
        lambda: decimal.getcontext().prec,
    ),
    "decimal": (lambda: decimal.setcontext(decimal.Context(3)), lambda: id(decimal.getcontext())),
    "locale": (
        lambda: locale.setlocale(locale.LC_NUMERIC, "C"),
        lambda: locale.setlocale(locale.LC_ALL),
    ),
    "level": (lambda: logging.getLogger().setLevel(1), lambda: logging.getLogger().level),
    "handlers": (
        lambda: logging.getLogger("torch").addHandler(logging.NullHandler()),
        lambda: [*logging.getLogger("torch").handlers],
    ),
    "random": (lambda: random.seed(1), random.getstate),
    "numpy random": (lambda: np.random.seed(1), lambda: str(np.random.get_state())),
    "numpy errors": (lambda: np.seterr(all="raise"), np.geterr),
    "numpy printing": (lambda: np.set_printoptions(precision=2), np.get_printoptions),
    "settings": (
        lambda: plt.rcParams.update({"lines.linewidth": 9}),
        lambda: plt.rcParams["lines.linewidth"],
    ),
    "figures": (plt.figure, plt.get_fignums),
    "names": (
        add_and_rebind_names,
        lambda: (owner, "added" in globals(), "added_too" in globals()),
    ),
    "hook": (leave_a_hook, frame_hook.installed),
    "dtype": (lambda: torch.set_default_dtype(torch.float64), torch.get_default_dtype),
    "device": (lambda: torch.set_default_device("meta"), torch.get_default_device),
    "grad": (lambda: torch.set_grad_enabled(False), torch.is_grad_enabled),
    "deterministic": (
        lambda: torch.use_deterministic_algorithms(True, warn_only=True),
        torch.get_deterministic_debug_mode,
    ),
    "threads": (lambda: torch.set_num_threads(1), torch.get_num_threads),
    "anomaly": (lambda: torch.autograd.set_detect_anomaly(True), torch.is_anomaly_enabled),
    "autocast": (
        lambda: torch.autocast("cpu").__enter__(),
        lambda: torch.is_autocast_enabled("cpu"),
    ),
    "matmul": (
        lambda: torch.set_float32_matmul_precision("medium"),
        torch.get_float32_matmul_precision,
    ),
    "torch random": (lambda: torch.rand(3), lambda: torch.get_rng_state().tolist()),
    "torch seed": (lambda: torch.manual_seed(3), torch.initial_seed),
    "torch printing": (
        lambda: torch.set_printoptions(precision=1),
        lambda: torch._tensor_str.PRINT_OPTS.precision,
    ),
    "modes": (lambda: Mode().__enter__(), lambda: torch._C._len_torch_dispatch_stack()),
    "function modes": (
        lambda: torch.overrides.BaseTorchFunctionMode().__enter__(),
        lambda: torch._C._len_torch_function_stack(),
    ),
    "hooks of modules": (
        lambda: torch.nn.modules.module.register_module_forward_hook(print_nothing),
        lambda: dict(torch.nn.modules.module._global_forward_hooks),
    ),
    "cudnn": (
        lambda: setattr(torch.backends.cudnn, "benchmark", True),
        lambda: torch.backends.cudnn.benchmark,
    ),
    "config": (
        lambda: setattr(torch._dynamo.config, "recompile_limit", 1),
        lambda: torch._dynamo.config.recompile_limit,
    ),
    "stance": (
        lambda: torch.compiler.set_stance("force_eager"),
        lambda: torch._dynamo.eval_frame._stance.stance,
    ),
    "callback": (
        lambda: torch._C._dynamo.eval_frame.set_eval_frame(False),
        torch._C._dynamo.eval_frame.get_eval_frame_callback,
    ),
    "eagerly": (
        lambda: tf.config.run_functions_eagerly(True),
        tf.config.functions_run_eagerly,
    ),
    "datasets": (tf.data.experimental.enable_debug_mode, lambda: debug_mode.DEBUG_MODE),
    "scope": (lambda: tf.device("CPU:0").__enter__(), lambda: context.context().device_name),
    "determinism": (
        tf.config.experimental.enable_op_determinism,
        lambda: config.is_op_determinism_enabled(),
    ),
    "placement": (
        lambda: tf.config.set_soft_device_placement(False),
        tf.config.get_soft_device_placement,
    ),
    "op callback": (
        lambda: op_callbacks.add_op_callback(lambda *args, **kwargs: None),
        lambda: len(context.context().op_callbacks),
    ),
    "TF seed": (lambda: tf.random.set_seed(3), lambda: context.context()._seed),
    "TF random": (lambda: tf.random.uniform([2]), lambda: context.context()._rng.getstate()),
    "generator": (
        lambda: tf.random.get_global_generator().normal([2]),
        lambda: tf.random.get_global_generator().state.numpy().tolist(),
    ),
    "floatx": (lambda: keras.config.set_floatx("float64"), keras.config.floatx),
    "policy": (
        lambda: keras.config.set_dtype_policy("mixed_float16"),
        lambda: keras.config.dtype_policy().name,
    ),
    "epsilon": (lambda: keras.config.set_epsilon(0.5), keras.config.epsilon),
    "Keras random": (
        draw_from_keras,
        lambda: keras.src.random.seed_generator.global_seed_generator().state.numpy().tolist(),
    ),
    "image format": (
        lambda: keras.config.set_image_data_format("channels_first"),
        keras.config.image_data_format,
    ),
}


def print_nothing(*args, **kwargs):
    return None


def read_all():
    return {name: read() for name, (_, read) in CHANGES.items()}


def judge_by_running(answer):
    answer()


JUDGED = Exercise("any", judge_by_running, "well done", ("one", "two", "three"))


@pytest.fixture(autouse=True)
def generators_there():
    tf.random.get_global_generator(), draw_from_keras(), keras.config.dtype_policy()


@settings(max_examples=10)
@given(st.sets(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=12), st.booleans())
def test_all_that_an_answer_sets_is_as_before_when_it_has_been_judged(names, raises):
    def answer():
        for name in names:
            CHANGES[name][0]()
        if raises:
            raise KeyError("the answer's own")

    before = read_all()
    outcome = JUDGED(answer).model
    after = read_all()
    assert {name for name in before if before[name] != after[name]} == set()
    assert outcome.state == ("failed" if raises else "passed"), outcome.because


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_is_one_and_is_undone(name):
    change, read = CHANGES[name]
    seen = []

    def answer():
        change()
        seen.append(read())

    before = read()
    outcome = JUDGED(answer).model
    assert outcome.state == "passed", outcome.because
    assert read() == before
    assert seen != [before] or name in ("hook", "locale"), "the change did nothing"


@pytest.mark.parametrize(
    "kind", [lambda fn: fn, functools.partial, tf.function, lambda fn: type("A", (), {"run": fn})]
)
def test_names_are_restored_for_each_kind_of_answer(kind):
    def answer():
        add_and_rebind_names()

    with restore_process_state([kind(answer)]):
        answer()
    assert owner == "the learner's" and not {"added", "added_too"} & {*globals()}


def test_every_part_is_read_and_restored_without_an_error():
    for part in PARTS:
        part.restore(part.read())


def test_what_is_drawn_next_is_what_would_have_been_drawn_without_the_check():
    def draw():
        drawn = [tf.random.uniform([2]), tf.random.normal([2]), keras.random.normal([2])]
        drawn = [each.numpy().tolist() for each in drawn]
        return [*drawn, torch.rand(2).tolist(), np.random.rand(2).tolist(), random.random()]

    def seed():
        keras.utils.set_random_seed(11)
        torch.manual_seed(11)

    seed()
    right = [draw(), draw(), draw()]
    seed()
    drawn = [draw()]
    JUDGED(draw)
    drawn.append(draw())
    JUDGED(draw)
    assert [*drawn, draw()] == right


def test_names_that_compiled_code_looks_up_stay():
    def learners(x):
        print(end="")
        return x + 1

    compiled = torch.compile(learners, backend="eager")
    for _ in range(2):
        with restore_process_state([learners]):
            compiled(torch.ones(2))
        assert compiled(torch.ones(2)).tolist() == [2, 2]


PROGRAM = """
import sys
from helpers.study.check import Exercise
print(Exercise("any", lambda answer: answer(), "fine", ("",))(lambda: None).model.state)
print({"torch", "tensorflow", "keras", "numpy", "matplotlib"} & {*sys.modules})
"""


def test_no_library_is_imported_to_look_at_it():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["passed", "set()"]
