"""A call -> the same call, after which the interpreter is as it was before: `whole`, `patched`.

What can be left behind by code that was cut in two (Ctrl-C at any moment, an exception, a learner's
own `sys.settrace`) is read before and put back after: tracers, evaluator, output, modes, callbacks,
builtins, patched names. What frameworks hold is read only where they have been imported.
"""

import builtins
import contextlib
import ctypes
import functools
import gc
import sys
import threading
import warnings
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import _exit, getpid
from sys import gettrace, setrecursionlimit, settrace
from time import monotonic, sleep

from helpers.safety import imported, missing_parts
from helpers.safety.arguments import is_a
from helpers.safety.interrupts import (
    SIGINT,
    falls_to,
    handler,
    in_fragile_code,
    in_framework,
    in_import,
    in_main_thread,
    set_handler,
    uninterrupted,
)
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.output import shielded, still_open
from helpers.safety.settings import SETTINGS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

LONGEST_WAIT = 5  # seconds that Ctrl-C waits for a framework; then it comes there
_PATCHES: list["_Patch"] = []
_MISSING = object()


def whole(fn: Callable, names: tuple[str, ...] = ()) -> Callable:
    """Return `fn`, which then leaves the interpreter as it found it, however it ends.

    `names`: what is kept, of `KEPT`; all of it if none is given. Of settings that `fn` has made for
    the whole process (settings.py), one sentence on stderr says that they are put back.

    Ctrl-C comes at once while `fn` runs, and waits while things are put back, or a framework is at
    work. If a framework makes another error of it, the call ends with a KeyboardInterrupt still.
    """

    @functools.wraps(fn)
    def guarded(*args, **kwargs):
        guard = Guard(sys._getframe(), names)
        try:
            guard.open()
            return fn(*args, **kwargs)
        except ImportError as error:
            missing_parts.note(error)
            raise
        finally:
            guard.close()

    guarded.__whole__ = True
    guarded.autograph_info__ = {}  # AutoGraph rewrites nothing that bears this name
    return guarded


class Guard:
    """Reads what is to stay (`open`) and puts it back (`close`), on behalf of one frame.

    `names`: what is kept, of `KEPT`; all of it if none is given.

    An interrupt that arrives in that very frame, in `close` or in a tracer called at its first
    instruction waits for the end of `close`: between `fn` and the putting back there is no
    instruction at which it could get lost. One that finds a framework at work comes when that
    returns to other code, or calls it; at the latest after `LONGEST_WAIT`, or when a second comes.
    One that finds a library being imported comes when that is done: of half a library, no second
    import makes a whole. A process that `fn` forked ends in `close`: it would be a second kernel.
    """

    __slots__ = (
        *("_before", "_came", "_closing", "_error", "_frame", "_handler"),
        *(
            "_late",
            "_limit",
            "_names",
            "_patches",
            "_pending",
            "_process",
            "_shields",
            "_since",
            "_thrown",
            "_told",
        ),
    )

    def __init__(self, frame, names: tuple[str, ...] = ()):
        self._frame, self._handler, self._names = frame, None, names
        self._before, self._patches = None, len(_PATCHES)
        self._came, self._closing, self._late = None, False, False
        self._error, self._since, self._thrown = id(sys.exc_info()[1]), None, False
        self._pending, self._process, self._told = None, getpid(), []
        self._shields = ()
        self._limit = 0 if names else sys.getrecursionlimit()

    def open(self) -> None:
        """Read the state of the interpreter, and take SIGINT over in the main thread.

        RecursionError, in one sentence, where the stack has no room for that.
        """
        try:
            asked = [kept for kept in KEPT if not self._names or kept.name in self._names]
            self._before = [(kept, value) for kept in asked for value in _readings(kept)]
        except RecursionError:
            raise RecursionError(
                "too many calls are under way here: call this from less deep, or raise the "
                "limit with sys.setrecursionlimit"
            ) from None
        if in_main_thread():
            self._handler = handler()
            if self._handler is not None:
                set_handler(SIGINT, self._interrupt)
        if not self._names:
            sys.modules = imported.MODULES  # a cell before may have put another in its place
            there = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = shielded(there[0]), shielded(there[1])
            now = sys.stdout, sys.stderr
            self._shields = [a for a, b in zip(now, there, strict=True) if a is not b]

    def close(self) -> None:
        """Put everything back, then let an interrupt through that came meanwhile."""
        if getpid() != self._process:
            _exit(0)
        self._closing = True
        if self._pending is not None:
            self._came, self._pending = self._pending, None
        if self._limit:  # it may have been lowered so far that the calls below have no room
            setrecursionlimit(self._limit)
        for shield in self._shields:
            shield.ended = True
        # Tracers and builtins come first, with nothing that needs builtins: they may be patched.
        for kept, before in self._before or ():
            if _put_back(kept, before) and kept.told:
                self._told.append(kept.name)
        error = self._new_error()
        if self._thrown and error is not None:
            _end_blocks(error)
            for kept, before in self._before:
                _put_back(kept, before)
        while len(_PATCHES) > self._patches:
            _PATCHES[-1].undo()
        for _ in range(1000):  # unless somebody else took Ctrl-C over meanwhile
            if not self._late:
                break
            sleep(0.001)  # it would come when the call has ended, where nobody expects it
        if self._told and not self._thrown and self._came is None:
            _say(self._told)
        self._frame = None
        before, self._handler = self._handler, None
        if before is not None:
            set_handler(SIGINT, before)
            if self._came is not None:
                before(*self._came)
        if self._thrown and is_a(error, Exception):
            raise KeyboardInterrupt from None  # a framework has made that error of it

    def _new_error(self) -> BaseException | None:
        """Return what ends the call, unless it was under way before."""
        error = sys.exc_info()[1]
        return None if id(error) == self._error else error

    def _interrupt(self, number, frame) -> None:
        self._late = False
        if in_import(frame, self._frame):
            self._try_later()
            return
        if self._pending is not None:  # this is the second one
            self._since = -LONGEST_WAIT
        if self._has_to_wait(frame):
            self._postpone(number, frame)
        elif self._closing or falls_to(self._frame, frame, _CLOSE):
            self._came = number, frame
        else:
            self._pending = None
            try:
                self._handler(number, frame)
            except KeyboardInterrupt:
                self._thrown = True
                raise

    def _has_to_wait(self, frame) -> bool:
        if in_fragile_code(frame, self._frame):
            return True
        if self._closing or not in_framework(frame, self._frame):
            return False
        if self._since is None:
            self._since = monotonic()
        return monotonic() - self._since < LONGEST_WAIT

    def _postpone(self, number, frame) -> None:
        """Try again at the next step outside of the framework; by a thread if others are tracing.

        A thread alone would not do: it gets its turn when a kernel of the framework lets others
        run, and so finds the framework at work again and again.
        """
        if self._pending is not None:
            return
        if gettrace() is not None:
            self._try_later()
            return
        self._pending = number, frame

        def step(now, event, given):
            if self._pending is not None and not self._has_to_wait(now):
                settrace(None)
                self._pending = None
                (handler() or self._interrupt)(number, now)  # of a block that it has to wait for
            return step

        def entered(now, event, given) -> None:
            if self._pending is None:
                settrace(None)
            step(now, event, given)

        while frame is not None:
            if not in_framework(frame, self._frame):
                frame.f_trace = step
            frame = None if frame is self._frame else frame.f_back
        start_new_thread(self._at_last, ())
        settrace(entered)

    def _try_later(self) -> None:
        self._late = True
        start_new_thread(_once_more, ())

    def _at_last(self) -> None:
        sleep(LONGEST_WAIT)
        if self._pending is not None:
            interrupt_main()


def _once_more() -> None:
    sleep(0.001)
    interrupt_main()


def _end_blocks(error: BaseException) -> None:
    """End the generators of those `with` blocks whose own end was cut off before it began.

    Their `finally` would run when the traceback goes, and undo what has been put back. They hang
    on the frames of contextlib, where the error came.
    """
    trace = error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if frame.f_code.co_filename == _CONTEXTLIB:
            with suppress(RuntimeError):  # it is still running: the call itself is inside of it
                frame.clear()


_CLOSE = Guard.close.__code__
_CONTEXTLIB = contextlib.__file__


def _readings(kept: "Kept") -> list:
    """Return what is read, alone in a list; nothing if a learner's code stands in the way."""
    try:
        return [kept.read()]
    except RecursionError:
        raise
    except Exception:
        return []


def _put_back(kept: "Kept", before) -> bool:
    """Put one thing back; return whether that was needed, and done."""
    try:
        if not kept.same(kept.read(), before):
            kept.put(before)
            return True
    except Exception as error:  # the others still have to be put back
        _tell(f"{kept.name} could not be put back: {error}")
    return False


def _say(names: list[str]) -> None:
    """Say on stderr, where it is no output of the call, what the call had set."""
    *most, last = names
    words = f"{', '.join(most)} and {last}" if most else last
    with suppress(Exception):
        print(
            f"The call changed {words}: that is put back, so that other cells find it as it was. "
            "What is to stay is set in a cell of its own.",
            file=sys.stderr,
        )


def _tell(words: str) -> None:
    """Warn; a learner's filter may make an error of it, which must not stop what is under way."""
    with suppress(Exception):
        warnings.warn(words, RuntimeWarning, stacklevel=4)


class theirs:  # noqa: N801 (used like a function)
    """Let a learner's code run in a `with` block; after it, one can work as before it.

    What makes an exhibit of the run, in the house and in the libraries, calls builtins and imports.
    """

    __slots__ = ("_before", "_imported")

    def __enter__(self) -> None:
        self._before, self._imported = _read_builtins(), imported.read()

    def __exit__(self, kind, error, trace) -> None:
        if not _builtins_are(_read_builtins(), self._before):
            _put_builtins(self._before)
        if not imported.same(imported.read(), self._imported):
            imported.put(self._imported)


# -- names patched for a while ---------------------------------------------------------------------


@contextmanager
def patched(owner, **names) -> Iterator[None]:
    """Give attributes of `owner` other values in a `with` block, and the old ones back after it.

    Whatever cuts the block in two, the verb that it stands in gives them back (`whole`).
    """
    mark = len(_PATCHES)
    try:
        with uninterrupted():
            for name, value in names.items():
                _PATCHES.append(_Patch(owner, name, vars(owner).get(name, _MISSING)))
                setattr(owner, name, value)
        yield
    finally:
        with uninterrupted():
            while len(_PATCHES) > mark:
                _PATCHES[-1].undo()


@contextmanager
def undone(undo: Callable[[], None]) -> Iterator[None]:
    """Call `undo` when a `with` block has ended; Ctrl-C waits meanwhile.

    If the block's own end is cut off, the verb that it stands in calls it (`whole`).
    """
    mark = len(_PATCHES)
    try:
        _PATCHES.append(_Undo(undo))
        yield
    finally:
        with uninterrupted():
            while len(_PATCHES) > mark:
                _PATCHES[-1].undo()


class _Undo:
    """Something that is to be called once, whoever comes first to call it."""

    __slots__ = ("_do",)

    def __init__(self, do: Callable[[], None]):
        self._do = do

    def undo(self) -> None:
        """Call it, and forget about it."""
        _PATCHES.remove(self)
        try:
            self._do()
        except Exception as error:  # the others still have to be undone
            _tell(f"something could not be undone: {error}")


@dataclass(frozen=True, eq=False)  # never compared by value: `==` could run a learner's code
class _Patch:
    owner: object
    name: str
    value: object

    def undo(self) -> None:
        """Give the attribute its old value back, and forget about it."""
        if self.value is _MISSING:
            if self.name in vars(self.owner):
                delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self.value)
        _PATCHES.remove(self)


# -- what is kept ----------------------------------------------------------------------------------


def _is(now, before) -> bool:
    return now is before


def _equal(now, before) -> bool:
    return now == before


def _as_set(now, before) -> bool:
    """Compare two readings of a setting, of a framework that may have come meanwhile."""
    return before is None or now == before


def _each_is(now, before) -> bool:
    """Compare two sequences object by object; `==` could run a learner's code."""
    return len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=True))


def _items_are(now: dict, before: dict) -> bool:
    return now.keys() == before.keys() and all(now[name] is before[name] for name in before)


@dataclass(frozen=True)
class Kept:
    """One thing that stays: how it is read, how it is put back, when two readings are the same.

    `told`: whoever changed it is told that it is put back.
    """

    name: str
    read: Callable
    put: Callable
    same: Callable = _is
    told: bool = False


def _attribute(owner, name: str) -> Kept:
    label = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
    return Kept(label, lambda: getattr(owner, name, None), lambda old: setattr(owner, name, old))


def _stream(name: str) -> Kept:
    """Return one of sys's streams; never put back is one that another verb, now over, put there."""
    return Kept(
        f"sys.{name}",
        lambda: getattr(sys, name, None),
        lambda old: setattr(sys, name, still_open(old)),
        lambda now, old: now is still_open(old),
    )


_BUILTINS = vars(builtins)


def _read_builtins() -> dict:
    return {name: value for name, value in _BUILTINS.items() if name != "_"}


def _put_builtins(before: dict) -> None:
    for name in [name for name in _BUILTINS if name != "_" and name not in before]:
        del _BUILTINS[name]
    _BUILTINS.update(before)


def _builtins_are(now: dict, before: dict) -> bool:
    """Compare without calling a builtin."""
    if now.keys() != before.keys():
        return False
    for name in before:  # noqa: SIM110 (`all` may be the one that was patched)
        if now[name] is not before[name]:
            return False
    return True


def _read_warnings() -> tuple:
    frameworks = sum(name in imported.MODULES for name in ("tensorflow", "torch"))
    return warnings.filters, tuple(warnings.filters), frameworks


def _same_warnings(now, before) -> bool:
    """Compare two readings; what a framework sets when it is imported stays, for it is set once."""
    if now[2] > before[2]:
        return True
    return now[0] is before[0] and _each_is(now[1], before[1])


def _put_warnings(before) -> None:
    warnings.filters = before[0]
    warnings.filters[:] = before[1]
    warnings._filters_mutated()  # or the C side goes on with its cache (Python/_warnings.c)


def _read_gc() -> tuple:
    return gc.isenabled(), gc.get_threshold(), gc.get_debug()


def _put_gc(before) -> None:
    (gc.enable if before[0] else gc.disable)()
    gc.set_threshold(*before[1])
    gc.set_debug(before[2])


def _read_tools() -> tuple:
    """Return the names of the monitoring tools, by id (PEP 669, Python 3.12)."""
    monitoring = getattr(sys, "monitoring", None)
    return tuple(monitoring.get_tool(n) for n in range(6)) if monitoring else ()


def _put_tools(before: tuple) -> None:
    monitoring = sys.monitoring
    for number, name in enumerate(before):
        if monitoring.get_tool(number) is not None and name is None:
            monitoring.set_events(number, 0)
            monitoring.free_tool_id(number)


# The evaluator of frames (PEP 523, Python/pystate.c): read and written by address. An address is
# written only if it was read before, so the function behind it has been evaluating frames.


def _evaluator(verb: str, *given):
    function = ctypes.pythonapi[f"_PyInterpreterState_{verb}EvalFrameFunc"]
    interpreter = ctypes.pythonapi["PyInterpreterState_Get"]
    function.restype = interpreter.restype = ctypes.c_void_p
    # No argtypes: they make an ArgumentError of the RecursionError of a stack that is full.
    return function(*map(ctypes.c_void_p, (interpreter(), *given)))


_loaded = imported.module


def _read_torch_callback():
    """Return what torch asks before it evaluates a frame (torch/csrc/dynamo/eval_frame.c)."""
    private = _loaded("torch._C._dynamo.eval_frame") or _loaded("torch._dynamo.eval_frame")
    get = getattr(private, "get_eval_frame_callback", None)
    return get() if get is not None else None


def _put_torch_callback(before) -> None:
    private = _loaded("torch._C._dynamo.eval_frame") or _loaded("torch._dynamo.eval_frame")
    private.set_eval_frame(before)


def _read_torch_modes() -> tuple:
    """Return torch's modes: dispatch, function, whether gradients are recorded."""
    torch = _loaded("torch")
    if torch is None or not hasattr(torch, "_C") or not hasattr(torch, "overrides"):
        return ()
    dispatch = _loaded("torch.utils._python_dispatch")
    stack = dispatch._get_current_dispatch_mode_stack() if dispatch else []
    functions = torch.overrides._get_current_function_mode_stack()
    return tuple(stack), tuple(functions), torch.is_grad_enabled()


def _same_torch_modes(now, before) -> bool:
    if not now or not before:
        return True
    return _each_is(now[0], before[0]) and _each_is(now[1], before[1]) and now[2] == before[2]


def _put_torch_modes(before) -> None:
    torch, dispatch = _loaded("torch"), _loaded("torch.utils._python_dispatch")
    stack, functions, gradients = before
    if dispatch:
        while len(dispatch._get_current_dispatch_mode_stack()) > len(stack):
            dispatch._pop_mode()
    while len(torch.overrides._get_current_function_mode_stack()) > len(functions):
        torch.overrides._pop_mode()
    torch.set_grad_enabled(gradients)


# Set by C++ blocks of a compilation; while the first is, and its Python side is not, each op is an
# internal error (aten/src/ATen/core/PythonFallbackKernel.cpp).
_DISPATCH_KEYS = ("PythonDispatcher", "PreDispatch")
# Off in a guard of a tensor, and left off where that guard raises (torch/csrc/dynamo/guards.cpp).
_OVERRIDES = "__torch_function__"


def _read_torch_keys() -> dict:
    """Return which of these dispatch keys torch adds to each op of this thread."""
    private = getattr(_loaded("torch"), "_C", None)
    asked = getattr(private, "_dispatch_tls_is_dispatch_key_included", None)
    keys = getattr(private, "DispatchKey", None)
    if not asked or not keys:
        return {}
    found = {name: asked(getattr(keys, name)) for name in _DISPATCH_KEYS}
    return found | {_OVERRIDES: private._get_torch_function_state()}


def _put_torch_keys(before: dict) -> None:
    private = _loaded("torch")._C
    private._set_torch_function_state(before[_OVERRIDES])
    for name in _DISPATCH_KEYS:
        key = getattr(private.DispatchKey, name)
        private._dispatch_tls_set_dispatch_key_included(key, before[name])


def _same_torch_keys(now: dict, before: dict) -> bool:
    return not before or now == before


def _read_torch_tracing() -> dict:
    """Return what torch keeps of a compilation that is going on (torch/_guards.py)."""
    own = getattr(_loaded("torch._guards"), "_TLS", None)
    found = {} if own is None else vars(own)
    return {name: value for name, value in found.items() if value is not None}


def _put_torch_tracing(before: dict) -> None:
    own = vars(_loaded("torch._guards")._TLS)
    own.update({name: before.get(name) for name in own})


def _tensorflow_context():
    module = _loaded("tensorflow.python.eager.context")
    return module.context() if module is not None and hasattr(module, "context") else None


def _read_op_callbacks() -> tuple:
    """Return TensorFlow's op callbacks of this thread (framework/op_callbacks.py)."""
    context = _tensorflow_context()
    return () if context is None else tuple(context.op_callbacks)


def _put_op_callbacks(before: tuple) -> None:
    context = _tensorflow_context()
    for callback in tuple(context.op_callbacks):
        if not any(callback is old for old in before):
            context.remove_op_callback(callback)
    for callback in before:
        if not any(callback is now for now in context.op_callbacks):
            context.add_op_callback(callback)


def _read_graphs() -> tuple:
    """Return TensorFlow's stack of default graphs, and whether ops run eagerly."""
    ops, context = _loaded("tensorflow.python.framework.ops"), _tensorflow_context()
    if context is None or ops is None or not hasattr(ops, "_default_graph_stack"):
        return ()
    eager = context._thread_local_data.is_eager
    return (*ops._default_graph_stack.stack, eager)


def _put_graphs(before: tuple) -> None:
    if before:
        stack = _loaded("tensorflow.python.framework.ops")._default_graph_stack.stack
        stack[:] = before[:-1]
        _tensorflow_context()._thread_local_data.is_eager = before[-1]


def _read_doors() -> dict:
    """Return the functions at TensorFlow's two doors to C; loggers put their own there."""
    module = _loaded("tensorflow.python.pywrap_tfe")
    names = ("TFE_Py_FastPathExecute", "TFE_Py_Execute")
    return {name: vars(module)[name] for name in names if name in vars(module)} if module else {}


def _put_doors(before: dict) -> None:
    for name, function in before.items():
        setattr(_loaded("tensorflow.python.pywrap_tfe"), name, function)


def _read_tape() -> dict:
    """Return the attributes of TensorFlow's tape, which other tapes are compared with."""
    tape = getattr(_loaded("tensorflow.python.eager.backprop"), "GradientTape", None)
    return dict(vars(tape)) if tape is not None else {}


def _put_tape(before: dict) -> None:
    if not before:  # it has been imported meanwhile
        return
    tape = _loaded("tensorflow.python.eager.backprop").GradientTape
    for name in vars(tape).keys() - before.keys():
        delattr(tape, name)
    for name, value in before.items():
        if vars(tape).get(name) is not value:
            setattr(tape, name, value)


KEPT = (
    # Tracers first: they would report the rest. Then builtins and modules: the rest needs them.
    Kept("sys.settrace", sys.gettrace, sys.settrace),
    Kept("sys.setprofile", sys.getprofile, sys.setprofile),
    Kept("the builtins", _read_builtins, _put_builtins, _builtins_are),
    Kept("what is imported", imported.read, imported.put, imported.same),
    Kept("threading.settrace", threading.gettrace, threading.settrace),
    Kept("threading.setprofile", threading.getprofile, threading.setprofile),
    Kept("sys.monitoring", _read_tools, _put_tools, _equal),
    Kept("torch's frame callback", _read_torch_callback, _put_torch_callback),
    Kept(
        "the frame evaluator",
        lambda: _evaluator("Get"),
        lambda before: _evaluator("Set", before),
        _equal,
    ),
    _stream("stdout"),
    _stream("stderr"),
    _attribute(sys, "stdin"),
    _attribute(sys, "displayhook"),
    _attribute(sys, "excepthook"),
    _attribute(sys, "unraisablehook"),
    _attribute(sys, "breakpointhook"),
    _attribute(threading, "excepthook"),
    _attribute(warnings, "showwarning"),
    Kept("warnings.filters", _read_warnings, _put_warnings, _same_warnings),
    Kept("the collector", _read_gc, _put_gc, _equal),
    Kept("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit, _equal),
    Kept("the switch interval", sys.getswitchinterval, sys.setswitchinterval, _equal),
    Kept("threading.stack_size", threading.stack_size, threading.stack_size, _equal),
    *(Kept(each.name, each.read, each.put, _as_set, told=True) for each in SETTINGS),
    Kept("torch's modes", _read_torch_modes, _put_torch_modes, _same_torch_modes),
    Kept("torch's dispatch keys", _read_torch_keys, _put_torch_keys, _same_torch_keys),
    Kept("torch's compilation", _read_torch_tracing, _put_torch_tracing, _items_are),
    Kept("TensorFlow's op callbacks", _read_op_callbacks, _put_op_callbacks, _each_is),
    Kept("TensorFlow's graphs", _read_graphs, _put_graphs, _each_is),
    Kept("TensorFlow's doors to C", _read_doors, _put_doors, _items_are),
    Kept("TensorFlow's tape", _read_tape, _put_tape, _items_are),
)
