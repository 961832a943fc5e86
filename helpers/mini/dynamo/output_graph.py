"""One frame's worth of tracing: the graph of the calls that were recorded.

Each call runs on fakes before it is recorded. Mirrors torch/_dynamo/output_graph.py.
"""

import logging
import threading

import torch

from helpers.mini.dynamo import trace_rules
from helpers.mini.dynamo.builder import VariableBuilder
from helpers.mini.dynamo.constant_guards import is_writable
from helpers.mini.dynamo.symbolic_values import (
    IMMUTABLE,
    Break,
    Items,
    Known,
    Tensor,
    is_one_of,
)
from helpers.safety.interrupts import uninterrupted

FAKES_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")


class Tracing(VariableBuilder):
    """The outcome so far: guards and names as the builder keeps them, and the graph."""

    def record(self, fn, *args, **kwargs):
        """Put a call into the graph and return its symbolic result; Break if that cannot be.

        The call runs on fakes first, which tells dtypes and shapes, what it raises, and whether it
        works in place.
        """
        asked = Known(fn) if not isinstance(fn, str) else None
        args = [self._recordable(a) for a in args]
        kwargs = {k: self._recordable(v) for k, v in kwargs.items()}
        if None in args or None in kwargs.values():
            raise Break("an argument is nothing that a graph can hold", asked, (), kwargs)
        result = self._on_fakes(fn, args, kwargs)
        return self._wrapped(result, self.recorder.call(fn, tuple(args), kwargs))

    def _recordable(self, value):
        value = self.resolve(value)
        if isinstance(value, Items):
            items = [self._recordable(item) for item in value.items]
            known = None in items or value.kind not in (tuple, list)
            return None if known else Items(value.kind, items, value.source, value.node)
        if isinstance(value, Known):
            parts = value.value if type(value.value) is tuple else (value.value,)
            fits = all(is_one_of(type(part), IMMUTABLE) and is_writable(part) for part in parts)
            return value if fits else None
        return value if isinstance(value, Tensor) else None

    def _on_fakes(self, fn, args, kwargs):
        shown = fn if isinstance(fn, str) else getattr(fn, "__name__", "a call")
        if any(isinstance(v, Tensor) for n, v in kwargs.items() if n == "out"):
            raise Break(f"{shown} writes into out=")
        fakes, named = [_fake(a) for a in args], {k: _fake(v) for k, v in kwargs.items()}
        tensors = [f for f in (*fakes, *named.values()) if isinstance(f, torch.Tensor)]
        before = [tensor._version for tensor in tensors]
        try:
            with uninterrupted(), self.mode, _quiet:
                if isinstance(fn, str):
                    result = getattr(fakes[0], fn)(*fakes[1:], **named)
                else:
                    result = fn(*fakes, **named)
        except Exception as error:
            raise Break(f"{shown} needs real numbers, or raises ({type(error).__name__})") from None
        if [tensor._version for tensor in tensors] != before:
            raise Break(f"{shown} works in place")
        return result

    def _wrapped(self, result, node):
        if isinstance(result, torch.Tensor):
            node.meta["example_value"] = result
            return Tensor(node, result)
        if isinstance(result, (tuple, list)) and all(isinstance(r, torch.Tensor) for r in result):
            getitem = trace_rules.operator.getitem
            pairs = enumerate(result)
            each = [Known(i) for i, _ in pairs]
            whole = Items(type(result), [], node=node)
            nodes = [self.recorder.call(getitem, (whole, index), {}) for index in each]
            whole.items = [self._wrapped(r, n) for r, n in zip(result, nodes, strict=True)]
            return whole
        self.recorder.graph.erase_node(node)
        raise Break("the result is no tensor")

    def mark(self):
        """Return where the graph stands, for `undo`."""
        return next(iter(reversed(self.recorder.graph.nodes)), None)

    def undo(self, mark) -> None:
        """Take out the calls that came after a mark; inputs stay, and so do guards."""
        for node in list(reversed(self.recorder.graph.nodes)):
            if node is mark:
                break
            if node.op != "placeholder":
                self.recorder.graph.erase_node(node)


class _Quiet:
    """Let torch not log what its fakes raise: it is raised for real, once it is run for real."""

    def __init__(self):
        self._lock, self._inside, self._before = threading.Lock(), 0, False

    def __enter__(self):
        with self._lock:
            if not self._inside:
                self._before, FAKES_LOGGER.disabled = FAKES_LOGGER.disabled, True
            self._inside += 1

    def __exit__(self, *raised):
        with self._lock:
            self._inside -= 1
            if not self._inside:
                FAKES_LOGGER.disabled = self._before


_quiet = _Quiet()


def _fake(value):
    if isinstance(value, Tensor):
        return value.fake
    if isinstance(value, Items):
        return value.kind(map(_fake, value.items))
    return value.value
