"""A `with` block that changes the process -> a beginning and an end that Ctrl-C cannot cut in two.

CPython looks for signals where a Python function begins (RESUME, Python/ceval.c), so Ctrl-C may
come out of `__exit__` before its first line has run, and nothing would be put back. Therefore a
handler of ours stays for as long as the block is open. What comes in the block it hands on at
once; what comes in the beginning waits until all is done, comes then, and all is undone; what
comes in the end waits until all is back.

While a block is open, builtins may be other ones: what runs here is bound before.
"""

from _signal import SIGINT, getsignal
from _signal import signal as set_handler
from _thread import get_ident
from threading import main_thread

from helpers.safety.original_builtins import BUILTINS, Own

__builtins__ = BUILTINS


class Block(Own):
    """A context manager. What is special to it: `prepare`, `begin`, `end`, `afterwards`."""

    __slots__ = ("_gate",)

    def prepare(self):
        """Return what `begin` needs; nothing has changed yet, and Ctrl-C comes at once."""

    def begin(self, plan) -> object:
        """Change the process, wholly or not at all: return what the block is given."""
        raise NotImplementedError

    def end(self, kind, error) -> None:
        """Put everything back."""
        raise NotImplementedError

    def afterwards(self, kind, error) -> None:
        """Say what is left to say when everything is back; Ctrl-C comes at once again."""

    def __enter__(self):
        plan = self.prepare()
        gate = Gate()
        gate.close()
        try:
            given = self.begin(plan)
            self._gate = gate
            try:
                gate.let_through()
            except BaseException as came:
                self.end(type(came), came)
                raise
        except BaseException:
            gate.remove()
            raise
        gate.busy = False
        return given

    def __exit__(self, kind, error, trace) -> None:
        try:
            gate = self._gate
            del self._gate
        except AttributeError:
            raise RuntimeError("this block is not open: never entered, or left already") from None
        gate.busy = True
        try:
            self.end(kind, error)
        finally:
            gate.remove()
        self.afterwards(kind, error)


def note(error: BaseException, sentence: str) -> None:
    """Add a sentence to an error on its way, unless its class has something against it."""
    try:
        BaseException.add_note(error, sentence)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return


class Gate(Own):
    """A handler of SIGINT: it keeps what comes while it is `busy`, else it hands it on.

    Outside the main thread it does nothing: signals come in the main thread alone.
    """

    __slots__ = ("before", "busy", "came", "gone")

    def __init__(self):
        self.before, self.busy, self.came, self.gone = None, True, None, False

    def __call__(self, number, frame) -> None:
        """Take an interrupt. One that stands at the edge of a block counts as inside it."""
        if self.busy or (frame is not None and frame.f_code in _EDGES):
            self.came = number, frame
        else:
            self.before(number, frame)

    def close(self) -> None:
        """Become the handler, where Python's own or a learner's function was it."""
        before = getsignal(SIGINT)
        if callable(before) and get_ident() == main_thread().ident:
            self.before = before
            set_handler(SIGINT, self)  # what is pending goes to the old handler first

    def let_through(self) -> None:
        """Hand on what has come, if anything has."""
        came, self.came = self.came, None
        if came is not None:
            self.before(*came)

    def remove(self) -> None:
        """Give SIGINT its former handler back, and hand on what has come meanwhile.

        Where a block that was opened later is still open, its gate stands before this one and will
        pass it over.
        """
        self.gone = True
        if self.before is not None and get_ident() == main_thread().ident:
            if getsignal(SIGINT) is self:
                set_handler(SIGINT, self._standing())
            self.let_through()

    def _standing(self):
        before = self.before
        while type(before) is Gate and before.gone:
            before = before.before
        return before


_EDGES = frozenset(
    function.__code__
    for function in (
        *(Block.__enter__, Block.__exit__),
        *(Gate.close, Gate.let_through, Gate.remove, Gate._standing),
    )
)
