"""torch's own frame hook, for machines that cannot build ours: `on` and `off` as hook.c has them.

torch asks its callback in Python for every frame, which is slow, and keeps what the callback
answers on the code object. So each answer gets a guard that never holds, and all go when the hook
comes off. It has one weakness: after a recursion to the limit under it, torch's evaluator stays
installed, with nothing to ask. Private names of torch come from `helpers.mini.dynamo`.
"""

import itertools
import os
import sys
import warnings
from threading import get_ident
from types import CodeType

from helpers.mini.frame_hook.building import NotBuilt

HERE = os.path.dirname(__file__)
FEWEST_LEVELS = 200
START = 0 if sys.version_info >= (3, 13) else -1


def door():
    """Return a door, or raise NotBuilt, saying why this torch will not do."""
    from helpers.mini.dynamo import torch_private

    if lost := torch_private.missing("hook", "guards"):
        raise NotBuilt(lost)
    return Door(torch_private)


class Door:
    """What switches callbacks of this thread on and off; the last one on is asked first."""

    def __init__(self, torch_private):
        self._torch, self._hooks, self._numbers = torch_private, {}, itertools.count()
        self._before = {}  # thread -> what torch asked there before

    def on(self, callback, codes, leaving) -> int:
        """Switch on and return a number for `off`."""
        number, thread = next(self._numbers), get_ident()
        if thread not in self._before:
            self._before[thread] = self._torch.set_eval_frame(self._on_frame)
        self._hooks[number] = _Hook(callback, codes, thread)
        return number

    def off(self, number: int) -> Exception | None:
        """Switch off and return what the callback raised, if it did."""
        hook = self._hooks.pop(number)
        if not any(other.thread == hook.thread for other in self._hooks.values()):
            self._torch.set_eval_frame(self._before.pop(hook.thread))
        for code in hook.answered.values():
            self._torch.reset_code(code)
        return hook.error

    def _on_frame(self, frame, entry, state):
        code = frame.f_code
        starts = frame.f_lasti <= START  # a generator that goes on is asked about again
        if starts and not code.co_filename.startswith(HERE) and _room():
            for hook in reversed(list(self._hooks.values())):
                if (answer := hook.ask(code, frame)) is not None:
                    return self._torch.replaced(answer, self._never())
        return self._torch.skipped(again=True)

    def _never(self):
        """Return guards that do not hold, so that torch asks again."""
        root = self._torch.RootGuardManager()
        root.add_lambda_guard(lambda found: False, ["ask again"], None)
        return root


class _Hook:
    def __init__(self, callback, codes, thread):
        self.callback, self.codes, self.thread = callback, codes, thread
        self.wanted = None if codes is None else set(map(id, codes))
        self.error, self.answered = None, {}

    def ask(self, code: CodeType, frame) -> CodeType | None:
        """Return the code to run instead, if the callback wants one."""
        if self.error is not None or self.thread != get_ident():
            return None
        if self.wanted is not None and id(code) not in self.wanted:
            return None
        try:
            answer = self.callback(code, tuple(frame.f_locals[name] for name in _names(code)))
            new = _code_for(answer, code)
        except Exception as error:
            self.error = error
            return None
        if new is not None:
            self.answered[id(code)] = code
        return new


def _room() -> bool:
    """Return whether enough levels of recursion are left for a callback."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth < sys.getrecursionlimit() - FEWEST_LEVELS


def _names(code: CodeType) -> tuple[str, ...]:
    flags = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + flags]


def _code_for(answer, code: CodeType) -> CodeType | None:
    if answer is None:
        return None
    if isinstance(answer, CodeType):
        return _fitting(answer, code)
    if callable(answer):
        return _calling(answer, code)
    raise TypeError(
        "the callback must return None, a code object or something to call, "
        f"not {type(answer).__name__}"
    )


def _fitting(new: CodeType, old: CodeType) -> CodeType:
    fields = ("co_argcount", "co_kwonlyargcount", "co_nlocals", "co_cellvars", "co_freevars")
    if any(getattr(new, name) != getattr(old, name) for name in fields):
        raise ValueError(
            f"the code of {new.co_name} cannot run in a frame of {old.co_name}: it must have the "
            "same arguments, locals, free variables and kind, and no deeper stack"
        )
    return new


def _calling(stand_in, code: CodeType) -> CodeType:
    """Return code that takes the same arguments and calls `stand_in` with them."""
    if code.co_freevars:
        raise ValueError(
            f"with torch's hook the frames of {code.co_name} cannot be replaced: it has free "
            "variables"
        )
    names = [f"p{n}" for n in range(len(_names(code)))]
    positional, rest = names[: code.co_argcount], names[code.co_argcount :]
    keywords, rest = rest[: code.co_kwonlyargcount], rest[code.co_kwonlyargcount :]
    star = [f"*{rest.pop(0)}"] if code.co_flags & 0x04 else ["*"] if keywords else []
    signature = ", ".join([*positional, *star, *keywords, *(f"**{name}" for name in rest)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a text that is called
        source = f"lambda {signature}: 'stand in'({', '.join(names)})"
        made = eval(source).__code__
    consts = tuple(stand_in if const == "stand in" else const for const in made.co_consts)
    return made.replace(co_consts=consts, co_name=code.co_name)
