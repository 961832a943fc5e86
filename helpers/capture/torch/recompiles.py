"""A compiled function, called as ever -> a ledger of its calls: hit or recompile, and why.

Before each call, the guards of every cache entry are asked, as torch asks them; whether the call
compiled is read from the cache after it. Mirrors torch/_dynamo/guards.py (get_guard_fail_reason).
"""

import contextlib
import functools
import inspect
import logging
import sys
import threading
from collections import Counter
from dataclasses import replace
from types import FunctionType, MethodType

from helpers.capture.cpython.callable_name import LONGEST_NAME, named
from helpers.capture.cpython.function import refuse_async
from helpers.capture.text.error import said
from helpers.capture.text.label import type_name
from helpers.capture.text.value import brief
from helpers.capture.torch import tensors
from helpers.capture.torch.cache_entries import copied, entries, frame_locals, python_function
from helpers.capture.torch.guards.failures import failure
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.model.guards import HEADINGS, MARKS, CompileEntry, CompileLedger, compile_entry
from helpers.model.phrase import clipped, counted
from helpers.safety.arguments import is_a, printable
from helpers.safety.interpreter_state import whole
from helpers.safety.interrupts import finishing

# What an error in the midst of compiling may leave behind.
KEPT = (
    *("torch's frame callback", "the frame evaluator"),
    *("torch's dispatch keys", "torch's compilation"),
)
LOGGER = logging.getLogger("torch._dynamo.convert_frame")
MOST_FAILURES = 2
LONGEST = 120
OTHER = "the guards hold, but the backend is another"
EMPTY = "Dynamo made no entry: nothing in it to compile, or it was told to skip it"


def watch(fn, **options) -> "Compiled":
    """Return `fn` with a ledger; a plain function becomes `torch.compile(fn, **options)` first.

    The plain function is compiled as a copy, so that its ledger starts from an empty cache. The
    backend is `eager` where `options` names none.

    Raises:
        TypeError: `fn` is no Python function, or options are given for a compiled one.
    """
    if is_a(fn, Compiled):
        return fn
    function = python_function(fn)
    if type(fn) is not MethodType and fn is not function:
        if options:
            raise TypeError(f"this is compiled already; give {', '.join(options)} to torch.compile")
        return Compiled(fn, function)
    torch_private.refuse_late_dynamo()
    import torch

    refuse_async(function, "watch_recompiles")
    copy = copied(fn)
    try:
        compiled = torch.compile(copy, **{"backend": "eager", **options})
    except Exception as error:
        raise TypeError(f"torch.compile refuses these options: {said(error)}") from None
    function = python_function(copy)
    torch_private.forget_sizes(function.__code__)
    return Compiled(compiled, function)


class Compiled:
    """A compiled function that keeps a ledger. What it returns or raises is the function's own."""

    def __init__(self, compiled, function: FunctionType):
        self._compiled, self.compiled_function = compiled, function
        self._rows: list[CompileEntry] = []
        self._calls = 0
        self._lock = threading.Lock()
        functools.update_wrapper(self, function, updated=())
        with contextlib.suppress(Exception):  # what the function says of its own is not to be read
            self.__signature__ = inspect.signature(compiled)

    @functools.partial(whole, names=KEPT)
    def __call__(self, *args, **kwargs):
        """Call the function, and write the call down.

        Ctrl-C comes at once while the function runs, and waits while the call is written down.
        """
        _refuse_deadly((*args, *kwargs.values()))
        # All in one frame, which an interrupt spares: it comes in the call, or when the row stands.
        error, unsaid = None, functools.partial(_unsaid)  # one of its own: calls may be nested
        with finishing(sys._getframe()) as row:
            words = _arguments(args, kwargs)
            before, failures = self._asked(args, kwargs)
            LOGGER.addFilter(unsaid)
            try:
                with guarded():
                    return self._compiled(*args, **kwargs)
            except BaseException as raised:
                error = raised
                raise
            finally:
                row.finish()
                LOGGER.removeFilter(unsaid)
                self._write(words, before, failures, error)
                error = None  # or its traceback would hold this frame, and this frame it

    def each(self, *calls: tuple) -> str:
        """Call with each tuple of arguments; return the verdicts of these calls in a row."""
        before = self._calls
        for args in calls:
            self(*args)
        return " ".join(self.model.verdicts[before:])

    @property
    def model(self) -> CompileLedger:
        """Return the ledger as it is now."""
        with self._lock:
            rows = tuple(self._rows)
        cached = len(entries(self.compiled_function.__code__))
        note = _summary(rows, cached)
        title = f"Calls of {named(self.compiled_function)}"
        return CompileLedger(title, "call", HEADINGS, rows, note, cached, marks=MARKS)

    def _asked(self, args, kwargs):
        """Return the compile ids in the cache, and a failure per entry; None where one accepts."""
        function = self.compiled_function
        kept = entries(function.__code__)
        ids = {str(entry.compile_id) for entry in kept}
        try:
            seen = frame_locals(function, self._bound(args), kwargs)
            failures = [failure(n, e, function, seen) for n, e in enumerate(kept, 1)]
        except Exception:  # the call itself will say it
            return ids, ()
        return ids, None if None in failures else tuple(failures)

    def _bound(self, args):
        target = torch_private.inner_function(self._compiled)
        return (target.__self__, *args) if type(target) is MethodType else args

    def _write(self, words, before, failures, error) -> None:
        kept = entries(self.compiled_function.__code__)
        made = any(str(entry.compile_id) not in before for entry in kept)
        verdict, note = self._verdict(made, before, failures, error)
        with self._lock:
            self._calls += 1
            row = compile_entry(str(self._calls), words, verdict, note, failures=failures or ())
            last = self._rows[-1] if self._rows else None
            if last and verdict == "hit" and last.verdicts == row.verdicts:
                first = last.subject.partition("–")[0]
                self._rows[-1] = replace(
                    last, subject=f"{first}–{self._calls}", calls=last.calls + 1
                )
            else:
                self._rows.append(row)

    def _verdict(self, made, before, failures, error) -> tuple[str, str]:
        because = _because(failures or ())
        if error is not None:
            return "error", said(error)
        if made:
            return ("recompile", because or OTHER) if before else ("compile", "nothing was there")
        if failures is None:
            return "hit", ""
        full = len(before) >= torch_private.config.recompile_limit  # with fewer, no limit is met
        why = _limit() if full else EMPTY
        return "eager", f"{why}; {because}" if before else EMPTY


def _refuse_deadly(values) -> None:
    """RuntimeError where torch's guards, written in C++, would end the process at this tensor."""
    if any(tensors.is_tensor(v) and tensors.ends_the_process(v) for v in values):
        raise RuntimeError(
            "torch's guards end the process at a nested tensor of this layout; make it with "
            "layout=torch.jagged"
        )


def _because(failures) -> str:
    several = len(failures) > 1
    shown = [f"{f'entry {f.entry}: ' * several}{f}" for f in failures[-MOST_FAILURES:]]
    more = len(failures) - len(shown)
    return "; ".join(shown + [f"and {more} older"] * bool(more))


def _limit() -> str:
    return f"recompile_limit is {torch_private.config.recompile_limit}: plain Python ran"


def _arguments(args, kwargs) -> str:
    named_ = ((printable(n, LONGEST_NAME), v) for n, v in kwargs.items())
    shown = [*map(value_words, args), *(f"{n}={value_words(v)}" for n, v in named_)]
    words = ", ".join(shown) or "(none)"
    return clipped(words, LONGEST)


def value_words(value) -> str:
    """Return a tensor as dtype and sizes, such as `float32 [3]`; another value in brief."""
    if not tensors.is_tensor(value):
        return brief(value)
    import torch

    if type(value) is torch.nn.Parameter:
        return f"Parameter {tensors.words(value)}"
    if type(value) is not torch.Tensor:
        return type_name(value)
    return f"{tensors.words(value)}{', requires_grad' * tensors.field(value, 'requires_grad')}"


def _summary(rows, cached: int) -> str:
    verdicts = [row.verdict for row in rows for _ in range(row.calls)]
    words = [
        f"{number:,} eager" if verdict == "eager" else counted(number, verdict)
        for verdict, number in Counter(verdicts).items()
    ]
    total = counted(len(verdicts), "call")
    kept = f"{cached} {'entry' if cached == 1 else 'entries'} in the cache"
    return f"{total}: {', '.join(words)}; {kept}." if rows else "no call yet."


def _unsaid(record) -> bool:
    """Let through whatever torch logs but that a limit is reached: the ledger says so."""
    return not str(record.msg).startswith("torch._dynamo hit config.")
