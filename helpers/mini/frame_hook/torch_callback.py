"""torch's own frame hook, for machines that cannot build ours: `on` and `off` as hook.c has them.

torch asks its callback in Python for every frame, which is slow, and keeps what the callback
answers on the code object. So each answer gets a guard that never holds, and all go when the hook
comes off. Private names of torch come from `helpers.mini.dynamo`.

torch's evaluator does not look at the C stack: a program that goes deeper than the usual recursion
limit can end the interpreter under this hook.
"""

import itertools
import os
import sys
import warnings
from threading import get_ident
from types import CodeType

from helpers.mini.frame_hook import slot
from helpers.mini.frame_hook.building import NotBuilt
from helpers.safety.arguments import kind_of, printable
from helpers.safety.restoring import uninterrupted

HERE = os.path.dirname(__file__)
FEWEST_LEVELS = 200
START = 0 if sys.version_info >= (3, 13) else -1


def door():
    """Return a door, or raise NotBuilt, saying why this torch will not do."""
    from helpers.internals import torch_private

    if lost := torch_private.missing("hook", "guards"):
        raise NotBuilt(lost)
    return Door(torch_private)


class Door:
    """What switches callbacks of this thread on and off; the last one on is asked first."""

    def __init__(self, torch_private):
        self._torch, self._hooks, self._numbers = torch_private, {}, itertools.count()
        self._before = {}  # thread -> what torch asked there before
        self._evaluator = 0

    def on(self, key, callback, codes, leaving) -> None:
        """Switch on, for `key` to switch off."""
        thread = get_ident()
        with uninterrupted():
            if not self._hooks:
                self._evaluator = slot.address_installed()
            if thread not in self._before:
                self._before[thread] = self._torch.set_eval_frame(self._on_frame)
            self._hooks[id(key)] = _Hook(key, callback, codes, thread)

    def off(self, key) -> tuple[BaseException | None, int]:
        """Switch off; return what the callback raised, if it did, and the frames it missed."""
        with uninterrupted():
            hook = self._hooks.pop(id(key), None)
            if hook is None:
                return None, 0
            if not any(other.thread == hook.thread for other in self._hooks.values()):
                self._torch.set_eval_frame(self._before.pop(hook.thread))
            if not self._hooks and slot.address_installed() != self._evaluator:
                slot.install(self._evaluator)  # torch miscounts once a callback finds no room
            for code in hook.answered.values():
                self._torch.reset_code(code)
        return hook.error, hook.missed

    def is_on(self, key) -> bool:
        """Return whether the hook of this key is on."""
        return id(key) in self._hooks

    def _on_frame(self, frame, entry, state):
        code = frame.f_code
        starts = frame.f_lasti <= START  # a generator that goes on is asked about again
        if starts and not code.co_filename.startswith(HERE):
            room = _room()
            for hook in reversed(list(self._hooks.values())):
                if not hook.wants(code):
                    continue
                if not room:
                    hook.missed += 1
                elif (answer := hook.ask(code, frame)) is not None:
                    return self._torch.replaced(answer, self._never())
        return self._torch.skipped(again=True)

    def _never(self):
        """Return guards that do not hold, so that torch asks again."""
        root = self._torch.RootGuardManager()
        root.add_lambda_guard(lambda found: False, ["ask again"], None)
        return root


class _Hook:
    def __init__(self, key, callback, codes, thread):
        self.key, self.callback, self.codes, self.thread = key, callback, codes, thread
        self.wanted = None if codes is None else set(map(id, codes))
        self.error, self.missed, self.answered = None, 0, {}

    def wants(self, code: CodeType) -> bool:
        """Return whether the callback is to be asked about frames of this code, here and now."""
        if self.error is not None or self.thread != get_ident():
            return False
        return self.wanted is None or id(code) in self.wanted

    def ask(self, code: CodeType, frame) -> CodeType | None:
        """Return the code to run instead, if the callback wants one."""
        try:
            answer = self.callback(code, tuple(frame.f_locals[name] for name in _names(code)))
            new = _code_for(answer, code)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
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
    if type(answer) is CodeType:
        return _fitting(answer, code)
    if callable(answer):
        return _calling(answer, code)
    raise TypeError(
        f"the callback must return None, a code object or something to call, not {kind_of(answer)}"
    )


def _fitting(new: CodeType, old: CodeType) -> CodeType:
    fields = ("co_argcount", "co_kwonlyargcount", "co_nlocals", "co_cellvars", "co_freevars")
    if any(getattr(new, name) != getattr(old, name) for name in fields):
        raise ValueError(
            f"the code of {printable(new.co_name)} cannot run in a frame of "
            f"{printable(old.co_name)}: it must have the same arguments, "
            "locals, free variables and kind, and no deeper stack"
        )
    return new


def _calling(stand_in, code: CodeType) -> CodeType:
    """Return code that takes the same arguments and calls `stand_in` with them."""
    if code.co_freevars:
        raise ValueError(
            f"with torch's hook the frames of {printable(code.co_name)} cannot be replaced: it has "
            "free variables"
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
