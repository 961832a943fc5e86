"""Functions -> their frames are traced in a `with` block, whoever calls them."""

import signal
import threading
from functools import partial
from types import FunctionType, MethodType

from helpers.mini.dynamo.callables import behind
from helpers.mini.dynamo.classes import found
from helpers.mini.dynamo.compiled_function import Compiled, eager
from helpers.mini.dynamo.convert_frame import frame_of
from helpers.safety.arguments import is_exactly, kind_of
from helpers.safety.interrupts import uninterrupted

LISTS = (list, tuple, set, frozenset)


class hooked:  # noqa: N801 (used like a function, as contextlib names its own)
    """Trace the frames of these functions in a `with` block, whoever calls them.

    `only`: what `compile` takes, one or a list of them. Gives a dict: each -> its Compiled. Until
    the block ends each function has a code object of its own, an equal one: others that were made
    from the same lines are not traced. TypeError or ValueError for a wrong argument, RuntimeError
    where this machine has no frame hook.
    """

    def __init__(self, backend=None, only=()):
        if backend is not None and not callable(backend):
            raise TypeError(f"backend must be something to call, not {kind_of(backend)}")
        things = list(only) if is_exactly(only, *LISTS) else [only]
        if not things:
            raise ValueError("only is empty: name the functions whose frames are to be traced")
        try:
            self._functions = {_key(thing): behind(thing).fn for thing in things}
        except TypeError as error:
            words = str(error).replace("compile needs", "each of only must be")
            raise TypeError(words) from None
        self._backend = backend or eager
        self._hook, self._codes, self._made = None, [], {}
        self._handler, self._came, self._ending = None, None, False

    def __enter__(self) -> dict:
        from helpers.mini import frame_hook

        if self._hook is not None:
            raise RuntimeError("this hook is on already; make another one for another block")
        self._ending = False
        try:
            with uninterrupted():
                by_function = self._own_codes()
                by_code = {id(fn.__code__): one for fn, one in by_function.items()}

                def instead(code, values):
                    one = by_code.get(id(code))
                    return one.frame_ready(values) if one else None

                hook = frame_hook.watching(instead, only=[fn.__code__ for fn in by_function])
                hook.__enter__()
                self._hook = hook
                self._hold()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return {thing: by_function[fn] for thing, fn in self._functions.items()}

    def __exit__(self, kind, error, trace) -> None:
        self._ending = True  # an interrupt before this line waits as well: see `_interrupt`
        hook, self._hook = self._hook, None
        try:
            if hook is not None:
                with uninterrupted():
                    hook.__exit__(kind, error, trace)
        finally:
            self._give_back()

    def _own_codes(self) -> dict:
        made = {}
        for fn in self._functions.values():
            if fn not in made:
                mine = fn.__code__.replace()
                self._codes.append((fn, fn.__code__, mine))
                fn.__code__ = mine
                made[fn] = self._made[id(mine)] = Compiled(frame_of(fn), self._backend)
        return made

    def _give_back(self) -> None:
        """Give functions and SIGINT back what they had, unless someone has exchanged it since."""
        while self._codes:
            fn, before, mine = self._codes[-1]
            if fn.__code__ is mine:
                fn.__code__ = before
            if id(mine) in self._made:
                self._made.pop(id(mine))._code = before
            self._codes.pop()
        handler, self._handler = self._handler, None
        if handler is not None and signal.getsignal(signal.SIGINT) == self._interrupt:
            signal.signal(signal.SIGINT, handler)
        came, self._came = self._came, None
        if came is not None:
            handler(*came)

    def _hold(self) -> None:
        """Let Ctrl-C wait where it would hit the end of the block before the hook is off."""
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, number, frame) -> None:
        if self._ending or (frame is not None and frame.f_code is _EXIT):
            self._came = number, frame
        else:
            self._handler(number, frame)


_EXIT = hooked.__exit__.__code__


def _key(thing):
    """Return what stands for a thing in a dict: its function, if its own hash may run any code."""
    kind = type(thing)
    own = kind in (FunctionType, MethodType, partial)
    plain = own or found(kind, "__hash__") is object.__dict__["__hash__"]
    return thing if plain else behind(thing).fn
