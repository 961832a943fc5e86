"""Frames -> what they return: the loop that runs one instruction after another.

Mirrors `_PyEval_EvalFrameDefault` in CPython's `Python/ceval.c`: Python calls Python without
recursion of the loop itself, an exception is looked up in the table of the frame it stands in,
and a frame without a handler hands it to the frame that called.
"""

from types import CodeType

from helpers.mini.vm import calling, suspended
from helpers.mini.vm.decoding import Decoded, decode
from helpers.mini.vm.frames import Frame, Handling
from helpers.mini.vm.values import LEAVE, Unsupported

PACKAGE = __name__.rpartition(".")[0]

_decoded: dict[int, Decoded] = {}
MOST_DECODED = 5000


class Machine:
    """One run. `top` is the frame that runs now, `host` the CPython frame below the first."""

    def __init__(self, host=None, watch=None):
        self.host, self.top, self.handling = host, None, Handling()
        self.depth = _depth_of(host)
        self._watch = watch

    def call(self, function, *args, **kwargs):
        """Call anything from inside a handler and return its value, running Python code here."""
        frame = self.enter(function, args, kwargs)
        return self.evaluate(frame) if frame else self.call_native(function, args, kwargs)

    def enter(self, function, args, kwargs) -> Frame | None:
        """Return a new frame for a call of Python code; None for all else."""
        return calling.enter(self, function, args, kwargs)

    def call_native(self, function, args, kwargs):
        """Call what is no Python function and return its value."""
        return calling.call_native(self, function, args, kwargs)

    def run_code(self, code: CodeType, space: dict, names, closure=()):
        """Run the code of a module or a class body with `names` as its namespace."""
        return self.evaluate(Frame(self, code, space, names, closure, self.top))

    def evaluate(self, bottom: Frame, thrown: BaseException | None = None):
        """Run `bottom` and every frame it calls, until `bottom` returns or yields: that value.

        `thrown` is raised first, where the frame stands: so a generator's `throw` comes in.
        """
        outer, frame = self.top, bottom
        self.top = frame
        try:
            while True:
                try:
                    if thrown is not None:
                        chain(thrown, bottom.handling.value)
                        raise thrown
                    steps = frame.decoded.steps
                    while True:
                        handler, argument = steps[frame.pc]
                        frame.pc += 1
                        following = handler(frame, argument)
                        if following is None:
                            continue
                        if following is LEAVE:
                            if frame is bottom:
                                return frame.take_result()
                            # No variable may hold the value here: it would live on in the loop.
                            frame.back.stack.append(frame.take_result())
                            frame = frame.back
                        else:
                            frame = following
                        self.top, steps = frame, frame.decoded.steps
                except Unsupported:
                    raise
                except BaseException as error:
                    rest, last = _without_the_machine(error.__traceback__)
                    settled = error is thrown or last in _RUN_ANOTHER or _raises_again(frame)
                    if not settled:
                        chain(error, frame.handling.topmost())
                    thrown, error.__traceback__ = None, rest
                    frame = _unwind(frame, bottom, error)
                    if frame is None:
                        raise
                    self.top = frame
        finally:
            self.top = outer

    def decoded(self, code: CodeType) -> Decoded:
        """Return the instructions of `code`, decoded once; watched ones if this run is recorded."""
        known = _decoded.get(id(code))
        if known is None or known.code is not code:
            if len(_decoded) >= MOST_DECODED:
                _decoded.clear()
            known = _decoded[id(code)] = decode(code)
        return self._watch(known) if self._watch else known


# What these raise has been in this frame before: its traceback gets no second entry.
AGAIN = {"RERAISE": None, "CLEANUP_THROW": None, "RAISE_VARARGS": 0}


def _raises_again(frame) -> bool:
    name, (_, argument) = frame.decoded.opnames[frame.pc - 1], frame.decoded.steps[frame.pc - 1]
    return name in AGAIN and AGAIN[name] in (None, argument)


def _unwind(frame, bottom, error) -> Frame | None:
    """Return the frame that has a handler for `error`, ready to run it; None if none has.

    Each frame on the way has its entry in the traceback, as `PyTraceBack_Here` gives it one.
    """
    again = _raises_again(frame)
    while True:
        position = frame.pc - 1
        if position >= 0 and not again:
            error.__traceback__ = frame.entry(error.__traceback__)
        again = False
        for first, end, handler, depth, lasti in frame.decoded.guards:
            if first <= position < end:
                del frame.stack[depth:]
                if lasti:
                    here = frame.decoded.offsets[position] // 2
                    frame.stack.append(here if frame.raised_at is None else frame.raised_at)
                frame.stack.append(error)
                frame.pc, frame.raised_at = handler, None
                return frame
        if frame is bottom:
            return None
        frame = frame.back


def chain(error: BaseException, handled: BaseException | None):
    """Make the exception being handled the context of a new one, without making a circle."""
    if handled is None or handled is error:
        return
    seen, last = {id(error)}, error
    while last.__context__ is not None:
        last = last.__context__
        if last is handled or id(last) in seen:
            return
        seen.add(id(last))
    link = handled
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link = link.__context__
    if link is None:
        last.__context__ = handled


def _without_the_machine(traceback):
    """Return a traceback without the entries at its head that are the machine's own code's.

    And the last of these codes: it says who has let the exception out.
    """
    last = None
    while traceback is not None:
        if not _is_ours(traceback.tb_frame):
            break
        last, traceback = traceback.tb_frame.f_code, traceback.tb_next
    return traceback, last


def _is_ours(frame) -> bool:
    name = frame.f_globals.get("__name__", "")
    return isinstance(name, str) and name.startswith(PACKAGE)


# What lets an exception out of these came out of another `evaluate`, with its context set.
_RUN_ANOTHER = frozenset(
    function.__code__
    for function in (
        *(Machine.call, Machine.run_code),
        *(suspended._go_on, suspended._throw_into),
    )
)


def _depth_of(host) -> int:
    depth = 0
    while host is not None:
        depth, host = depth + 1, host.f_back
    return depth
