"""A call -> the ops that reach a kernel in it, with device and dtype of what each makes.

TensorFlow: the two doors into C (tensorflow/python/pywrap_tfe.py), through which every eager op
goes. PyTorch: a TorchDispatchMode (torch/utils/_python_dispatch.py), below autograd, of the kind
that torch.compile lets stay: with another one it would not compile.
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from helpers.capture.frameworks.call_landmarks import FAST, SLOW, SLOW_CANCELABLE
from helpers.capture.frameworks.journey.recorder import INSIDE, LETS_THROUGH, SHUT, Recorder
from helpers.capture.frameworks.tensor_names import is_tensor
from helpers.capture.text import tensors
from helpers.internals import torch_private
from helpers.safety import imported
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.patches import patched

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

OP_AT = {FAST: 1, SLOW: 2, SLOW_CANCELABLE: 2}  # which argument of a door is the op's name
MOST_OPS = 100_000


@dataclass(frozen=True)
class Ran:
    """One op that ran: its name, and device and dtype of its first output, such as CPU, float32."""

    op: str
    kernel: str = ""


@contextlib.contextmanager
def watched(seen: Recorder) -> Iterator[list[Ran]]:
    """Give the list of ops that this thread runs in the block, in order; at most `MOST_OPS`.

    `seen` pauses while an op is written down.
    """
    ran: list[Ran] = []
    with contextlib.ExitStack() as stack:
        if imported.module("torch"):
            stack.enter_context(_torch_mode(_Writer(ran, seen).write, seen))
        if imported.module("tensorflow"):
            from tensorflow.python import pywrap_tfe

            doors = {name: getattr(pywrap_tfe, name) for name in OP_AT}
            noting = {
                name: _noting(door, OP_AT[name], _Writer(ran, seen)) for name, door in doors.items()
            }
            stack.enter_context(patched(pywrap_tfe, **noting))
        yield ran


class _Writer:
    """Writes ops of the thread that made it into a list."""

    def __init__(self, ran: list[Ran], seen: Recorder):
        self._ran, self._seen, self._home = ran, seen, threading.get_ident()

    def write(self, name, made) -> None:
        """Write one op down; `name()` is its name."""
        if threading.get_ident() == self._home and len(self._ran) < MOST_OPS:
            before, self._seen.paused = self._seen.paused, True
            if not (told := name()).startswith("profiler."):
                self._ran.append(Ran(told, _kernel(made)))
            self._seen.paused = before


def _noting(door, at: int, writer: _Writer):
    def noting(*given):
        made = door(*given)
        writer.write(lambda: _text(given[at]), made)
        return made

    LETS_THROUGH[id(noting.__code__)] = noting.__code__
    return noting


def _torch_mode(write, seen: Recorder):
    torch_private.refuse_late_dynamo()
    if dynamo := imported.module("torch._dynamo"):
        write = dynamo.disable(write)  # or Dynamo would compile its frames
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watching(TorchDispatchMode):
        @classmethod
        def ignore_compile_internals(cls):
            return True

        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            seen.paused = True
            write(lambda: f"{func.namespace}.{func.overloadpacket.__name__}", made)
            seen.paused = False
            return made

    code, rule = Watching.__torch_dispatch__.__code__, torch_private.find_torch_dispatch_rule
    SHUT[id(code)], INSIDE[id(rule.__code__)] = code, rule.__code__
    return Watching()


def _kernel(made) -> str:
    """Return device and dtype of a tensor, or of the first one in a list or a tuple."""
    first = next(iter(made), None) if type(made) in (list, tuple) else made
    try:
        if tensors.is_tensor(first):
            found = str(tensors.field(first, "device")), str(tensors.field(first, "dtype"))
            return ", ".join(found).replace("torch.", "")
        if is_tensor(first):
            device = first.device.rpartition("/device:")[2].partition(":")[0]
            return f"{device}, {first.dtype.name}"
    except Exception:  # a tensor on no device: what cannot be said is not said
        return ""
    return ""


def _text(name) -> str:
    return name.decode() if type(name) is bytes else str(name)
