"""What a program sets for its whole process -> how each is read, and put back: `SETTINGS`.

A verb runs a learner's function to look at it, some of them several times. What that function sets
would hold for every cell that comes after, so the verb puts it back and says so: what is to stay is
set in a cell of its own. A `with` block of the course, and a function that a verb hands back, run
in the learner's own cell: what those set stays.

Not among these: what a function does to its own objects, to files and to `os.environ`, and how far
it has drawn from a generator of random numbers.
"""

import locale
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from helpers.safety.imported import module
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

UNREAD = None  # what a framework that nobody has imported has set


@dataclass(frozen=True)
class Setting:
    """One setting: its name in a sentence, how it is read (or `UNREAD`), how it is put back.

    `where`: the module without which there is no such setting; empty for one of Python's own.
    """

    name: str
    read: Callable
    put: Callable
    where: str = ""


def _of(name: str, where: str, read: Callable, put: Callable) -> Setting:
    """Return a setting that only a module has; `read` and `put` get that module first."""

    def read_there():
        found = module(where)
        return UNREAD if found is None else read(found)

    return Setting(name, read_there, lambda before: put(module(where), before), where)


def _folder():
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return UNREAD


def _decimals(decimal: ModuleType) -> tuple:
    """Return the context and its fields; the flags are results, and stay."""
    context = decimal.getcontext()
    fields = {name: getattr(context, name) for name in _DECIMALS}
    return _Same(context), fields, dict(context.traps)


def _put_decimals(decimal: ModuleType, before: tuple) -> None:
    same, fields, traps = before
    for name, value in fields.items():
        setattr(same.value, name, value)
    same.value.traps.update(traps)
    decimal.setcontext(same.value)


_DECIMALS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


class _Same:
    """An object that equals itself alone; its own `==` is not asked."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other):
        return type(other) is _Same and other.value is self.value

    __hash__ = None


def _put_numpy_errors(numpy: ModuleType, before: tuple) -> None:
    numpy.seterr(**before[0])
    numpy.seterrcall(before[1].value)


def _default_device(torch: ModuleType) -> _Same:
    """Return the mode that `set_default_device` has put on in this thread, or None."""
    return _Same(vars(torch._GLOBAL_DEVICE_CONTEXT).get("device_context"))


def _put_default_device(torch: ModuleType, before: _Same) -> None:
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
    return private._get_deterministic_algorithms(), warns, *cudnn


def _put_deterministic(torch: ModuleType, before: tuple) -> None:
    private = torch._C  # the public function imports the compiler
    private._set_deterministic_algorithms(before[0], warn_only=before[1])
    private._set_cudnn_deterministic(before[2])
    private._set_cudnn_benchmark(before[3])


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

SETTINGS = (
    Setting(
        "the locale",
        lambda: locale.setlocale(locale.LC_ALL),
        lambda before: locale.setlocale(locale.LC_ALL, before),
    ),
    Setting("the working folder", _folder, os.chdir),
    Setting(
        "how many digits an int may have as text",
        sys.get_int_max_str_digits,
        sys.set_int_max_str_digits,
    ),
    Setting("what logging passes on", lambda: logging.root.manager.disable, logging.disable),
    _of("the decimal context", "decimal", _decimals, _put_decimals),
    _of(
        "NumPy's handling of errors",
        "numpy",
        lambda numpy: (numpy.geterr(), _Same(numpy.geterrcall())),
        _put_numpy_errors,
    ),
    _of(
        "how NumPy prints",
        "numpy",
        lambda numpy: numpy.get_printoptions(),
        lambda numpy, before: numpy.set_printoptions(**before),
    ),
    _of(
        "torch's default dtype",
        "torch",
        lambda torch: torch.get_default_dtype(),
        lambda torch, before: torch.set_default_dtype(before),
    ),
    _of("torch's default device", "torch", _default_device, _put_default_device),
    _of("torch's deterministic algorithms", "torch", _deterministic, _put_deterministic),
    _of(
        "torch's number of threads",
        "torch",
        lambda torch: torch.get_num_threads(),
        lambda torch, before: torch.set_num_threads(before),
    ),
    _of(
        "the precision of torch's products of matrices",
        "torch",
        lambda torch: torch.get_float32_matmul_precision(),
        lambda torch, before: torch.set_float32_matmul_precision(before),
    ),
    _of(
        "torch's search for anomalies",
        "torch",
        _anomalies,
        lambda torch, before: torch.set_anomaly_enabled(*before),
    ),
    _of("torch's autocast", "torch", _autocast, _put_autocast),
    _of(
        "how torch prints",
        "torch._tensor_str",
        lambda text: dict(vars(text.PRINT_OPTS)),
        lambda text, before: vars(text.PRINT_OPTS).update(before),
    ),
    _of(
        "whether tf.functions run eagerly",
        "tensorflow.python.eager.polymorphic_function.eager_function_run",
        lambda runs: runs.functions_run_eagerly(),
        lambda runs, before: runs.run_functions_eagerly(before),
    ),
    _of(
        "TensorFlow's optimiser and placement",
        "tensorflow.python.eager.context",
        _optimizer,
        _put_optimizer,
    ),
    _of(
        "Keras' numbers",
        "keras.src.backend.config",
        lambda keras: tuple(getattr(keras, name)() for name in _KERAS),
        lambda keras, before: [
            getattr(keras, f"set_{name}")(value) for name, value in zip(_KERAS, before, strict=True)
        ],
    ),
    _of(
        "Keras' dtype policy",
        "keras.src.backend.common.global_state",
        lambda keras: _Same(keras.get_global_attribute(_POLICY)),
        lambda keras, before: keras.set_global_attribute(_POLICY, before.value),
    ),
)
