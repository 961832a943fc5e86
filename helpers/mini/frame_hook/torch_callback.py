"""torch's own frame hook, for machines that cannot build ours: `on` and `off` as hook.c has them.

torch keeps what a callback answers on the code object. So each answer gets a guard that never
holds, and all go when the hook comes off. torch's evaluator does not look at the C stack: a program
that goes deeper than the usual recursion limit can end the interpreter under this hook.
"""

import inspect
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType

from ...internals import frame_callback, torch_private
from . import slot
from .building import NotBuilt

HERE = os.path.dirname(__file__)
FEWEST_LEVELS = 200
STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
# Where `f_lasti` of a frame stands before its first instruction.
START = 0 if sys.version_info >= (3, 13) else -1


@dataclass(eq=False)
class _ActiveCallback:
    """One callback while it is on."""

    #: callback(code, arguments).
    callback: Callable
    #: The code objects to ask it about, by id, which keeps them alive; empty for all.
    codes: dict[int, CodeType]
    #: What it raised; it is asked no more after that.
    error: BaseException | None = None
    #: The code objects that it answered for, which torch remembers.
    answered: list[CodeType] = field(default_factory=list)

    def asks_about(self, code: CodeType) -> bool:
        """Return whether it is to be asked about frames of this code."""
        return self.error is None and (not self.codes or id(code) in self.codes)


class TorchHook:
    """What switches callbacks on and off; the last one on is asked first. NotBuilt says why not."""

    def __init__(self):
        """Begin with no callback. NotBuilt says what this torch lacks."""
        missing = torch_private.describe_missing("hook", "guards")
        if missing:
            raise NotBuilt(missing)
        self._callbacks: dict[int, _ActiveCallback] = {}  # by id of the key

    def on(self, key, callback, codes, leaving) -> None:
        """Ask `callback` from now on, about `codes` or, if that is None, about all code.

        `key` is the object that switches it off. `leaving` is for hook.c, and not used here.
        """
        if not self._callbacks:
            self._evaluator = slot.address_installed()
            self._before = torch_private.set_eval_frame(self._on_frame)
        codes_by_id = {id(code): code for code in codes or ()}
        self._callbacks[id(key)] = _ActiveCallback(callback, codes_by_id)

    def off(self, key) -> tuple[BaseException | None, int]:
        """Switch off what `key` switched on; return what the callback raised, or None, and 0.

        The second is how many frames hook.c has counted, and torch's hook counts none.
        """
        active = self._callbacks.pop(id(key), None)
        if active is None:
            return None, 0
        if not self._callbacks:
            torch_private.set_eval_frame(self._before)
            if slot.address_installed() != self._evaluator:
                slot.install(self._evaluator)  # torch miscounts once a callback finds no room
        for code in active.answered:
            torch_private.reset_code(code)
        return active.error, 0

    def is_on(self, key) -> bool:
        """Return whether it is on for this key."""
        return id(key) in self._callbacks

    def _on_frame(self, frame, entry, state):
        """Answer torch, which asks before each frame: other code to run, or nothing."""
        code = frame.f_code
        if _is_at_start(frame) and not code.co_filename.startswith(HERE):
            for active in reversed(list(self._callbacks.values())):
                answer = _ask(active, code, frame) if active.asks_about(code) else None
                if answer is not None:
                    active.answered.append(code)
                    return frame_callback.build_code_answer(answer, _guards_that_never_hold())
        return frame_callback.build_skip_answer()


def _is_at_start(frame) -> bool:
    """Return whether a frame is new, and the stack has room for what a callback calls."""
    if frame.f_lasti > START:  # torch asks again when a generator continues
        return False
    try:
        sys._getframe(sys.getrecursionlimit() - FEWEST_LEVELS)
    except ValueError:  # there are not so many frames, so there is room
        return True
    return False


def _guards_that_never_hold():
    """Return guards with which torch asks again at the next call."""
    root = torch_private.RootGuardManager()
    root.add_lambda_guard(lambda found: False, ["ask again"], None)
    return root


def _ask(active: _ActiveCallback, code: CodeType, frame) -> CodeType | None:
    """Return the code to run instead of a frame's, as the callback answers; None for its own."""
    try:
        names, rest, keywords, values = inspect.getargvalues(frame)
        names = [*names, *filter(None, (rest, keywords))]  # None: there is no *args or **kwargs
        arguments = tuple(values[name] for name in names)
        return _code_for(active.callback(code, arguments), code)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        active.error = error
        return None


def _code_for(answer, code: CodeType) -> CodeType | None:
    """Return the code that a callback's answer stands for; None for the frame's own.

    TypeError or ValueError for an answer that cannot run in a frame of `code`.
    """
    if callable(answer):
        return _make_calling_code(answer, code)
    if answer is None:
        return None
    if not isinstance(answer, CodeType):
        kind = type(answer).__name__
        raise TypeError(
            f"the callback must return None, a code object or something to call, not {kind}"
        )
    fields = ("co_argcount", "co_kwonlyargcount", "co_nlocals", "co_cellvars", "co_freevars")
    if any(getattr(answer, name) != getattr(code, name) for name in fields):
        raise ValueError(
            f"the code of {answer.co_name} cannot run in a frame of {code.co_name}: it must "
            "have the same arguments, locals, free variables and kind, and no deeper stack"
        )
    return answer


def _make_calling_code(stand_in, code: CodeType) -> CodeType:
    """Return code that takes the same arguments and calls `stand_in` with them."""
    if code.co_freevars or code.co_kwonlyargcount or code.co_flags & STARS:
        raise ValueError(f"torch's hook cannot replace the frames of {code.co_name}: no plain ones")
    names = ", ".join(f"p{n}" for n in range(code.co_argcount))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a number that is called
        # Compiled code cannot name `stand_in`, so it is put in the place of a constant.
        template = eval(f"lambda {names}: (0.5)({names})").__code__
    constants = tuple(stand_in if const == 0.5 else const for const in template.co_consts)
    return template.replace(co_consts=constants, co_name=code.co_name)
