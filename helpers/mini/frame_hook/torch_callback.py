"""torch's own frame hook, for machines that cannot build ours: `on` and `off` as hook.c has them.

torch keeps what a callback answers on the code object. So each answer gets a guard that never
holds, and all go when the hook comes off. torch's evaluator does not look at the C stack: a program
that goes deeper than the usual recursion limit can end the interpreter under this hook.
"""

import inspect
import os
import sys
import warnings
from contextlib import suppress
from types import CodeType, SimpleNamespace

from ...internals import torch_private
from . import slot
from .building import NotBuilt

HERE = os.path.dirname(__file__)
FEWEST_LEVELS = 200
VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
START = 0 if sys.version_info >= (3, 13) else -1


class Door:
    """What switches callbacks on and off; the last one on is asked first. NotBuilt says why not."""

    def __init__(self):
        if lost := torch_private.missing("hook", "guards"):
            raise NotBuilt(lost)
        self._hooks: dict[int, SimpleNamespace] = {}

    def on(self, key, callback, codes, leaving) -> None:
        """Switch on, for `key` to switch off."""
        if not self._hooks:
            self._evaluator = slot.address_installed()
            self._before = torch_private.set_eval_frame(self._on_frame)
        wanted = {id(code): code for code in codes or ()}  # which keeps them alive
        made = SimpleNamespace(callback=callback, wanted=wanted, error=None, answered=[])
        self._hooks[id(key)] = made

    def off(self, key) -> tuple[BaseException | None, int]:
        """Switch off; return what the callback raised, if it did, and 0 as hook.c counts frames."""
        hook = self._hooks.pop(id(key), None)
        if hook is None:
            return None, 0
        if not self._hooks:
            torch_private.set_eval_frame(self._before)
            if slot.address_installed() != self._evaluator:
                slot.install(self._evaluator)  # torch miscounts once a callback finds no room
        for code in hook.answered:
            torch_private.reset_code(code)
        return hook.error, 0

    def is_on(self, key) -> bool:
        """Return whether it is on for this key."""
        return id(key) in self._hooks

    def _on_frame(self, frame, entry, state):
        code = frame.f_code
        starts = frame.f_lasti <= START  # the callback is asked again when a generator continues
        with suppress(ValueError):  # there are not so many frames
            starts = starts and not sys._getframe(sys.getrecursionlimit() - FEWEST_LEVELS)
        if starts and not code.co_filename.startswith(HERE):
            for hook in reversed([*self._hooks.values()]):
                asked = hook.error is None and (not hook.wanted or id(code) in hook.wanted)
                if asked and (answer := _ask(hook, code, frame)) is not None:
                    hook.answered.append(code)
                    root = torch_private.RootGuardManager()  # holds never, so that torch asks again
                    root.add_lambda_guard(lambda found: False, ["ask again"], None)
                    return torch_private.replaced(answer, root)
        return torch_private.skipped()


def _ask(hook, code: CodeType, frame) -> CodeType | None:
    try:
        args, rest, more, values = inspect.getargvalues(frame)
        names = [*args, *filter(None, (rest, more))]
        return _code_for(hook.callback(code, tuple(values[name] for name in names)), code)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        hook.error = error
        return None


def _code_for(answer, code: CodeType) -> CodeType | None:
    if callable(answer):
        return _calling(answer, code)
    if answer is not None and not isinstance(answer, CodeType):
        must = "the callback must return None, a code object or something to call"
        raise TypeError(f"{must}, not {type(answer).__name__}")
    fields = ("co_argcount", "co_kwonlyargcount", "co_nlocals", "co_cellvars", "co_freevars")
    if answer and any(getattr(answer, name) != getattr(code, name) for name in fields):
        raise ValueError(
            f"the code of {answer.co_name} cannot run in a frame of {code.co_name}: it must "
            "have the same arguments, locals, free variables and kind, and no deeper stack"
        )
    return answer


def _calling(stand_in, code: CodeType) -> CodeType:
    """Return code that takes the same arguments and calls `stand_in` with them."""
    names = [f"p{n}" for n in range(code.co_argcount)]
    if code.co_freevars or code.co_kwonlyargcount or code.co_flags & VARIABLE:
        raise ValueError(f"torch's hook cannot replace the frames of {code.co_name}: no plain ones")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a number that is called
        made = eval(f"lambda {', '.join(names)}: (0.5)({', '.join(names)})").__code__
    consts = tuple(stand_in if const == 0.5 else const for const in made.co_consts)
    return made.replace(co_consts=consts, co_name=code.co_name)
