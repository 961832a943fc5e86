"""A frame hook made of torch's own one, for machines that cannot build the course's extension. It
has the methods `on` and `off` of the extension (hook.c). torch calls one Python function before
each frame, which asks the active *callbacks*. A callback *answers* with None (evaluate the frame),
a code object (evaluate that instead) or a callable (call it instead).

torch caches each answer on the code object. So each answer gets a guard that never holds, and the
caches are cleared when the hook is switched off. torch's evaluator does not check the C stack: a
program that goes deeper than the usual recursion limit can end the interpreter under this hook.
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

THIS_FOLDER = os.path.dirname(__file__)
REQUIRED_LEVELS = 200  # of recursion, which a callback may need
STAR_PARAMETERS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
# `f_lasti` of a frame that has not run an instruction yet.
LASTI_AT_START = 0 if sys.version_info >= (3, 13) else -1


@dataclass(eq=False)
class _ActiveCallback:
    """One callback that is switched on."""

    #: callback(code, arguments) -> its answer.
    callback: Callable
    #: id -> code object that the callback is asked about; empty for all code.
    codes: dict[int, CodeType]
    #: The error that the callback raised. It is asked no more after that.
    error: BaseException | None = None
    #: The code objects for which torch has cached an answer of the callback.
    answered: list[CodeType] = field(default_factory=list)

    def asks_about(self, code: CodeType) -> bool:
        """Return whether the callback has to be asked about frames of this code."""
        return self.error is None and (not self.codes or id(code) in self.codes)


class TorchHook:
    """Switches callbacks on and off. The callback that was switched on last is asked first."""

    def __init__(self):
        """Begin without callbacks. Raise NotBuilt if this version of torch lacks a needed name."""
        missing = torch_private.describe_missing("hook", "guards")
        if missing:
            raise NotBuilt(missing)
        # id of the object that switched a callback on -> the callback
        self._callbacks: dict[int, _ActiveCallback] = {}

    def on(self, key, callback, codes, leaving) -> None:
        """Call `callback` before frames of `codes`, or of all code if that is None.

        `key` is the object that switches it off later. `leaving` is only used by hook.c, which has
        the same method.
        """
        if not self._callbacks:
            self._previous_evaluator = slot.address_installed()
            self._previous_callback = torch_private.set_eval_frame(self._on_frame)
        codes_by_id = {id(code): code for code in codes or ()}
        self._callbacks[id(key)] = _ActiveCallback(callback, codes_by_id)

    def off(self, key) -> tuple[BaseException | None, int]:
        """Switch off what `key` switched on; return (the error of the callback or None, 0).

        In hook.c, the second item is the number of frames. torch's hook does not count them.
        """
        active = self._callbacks.pop(id(key), None)
        if active is None:
            return None, 0
        if not self._callbacks:
            torch_private.set_eval_frame(self._previous_callback)
            # torch leaves its evaluator in the slot if a callback ran into a full stack.
            if slot.address_installed() != self._previous_evaluator:
                slot.install(self._previous_evaluator)
        for code in active.answered:
            torch_private.reset_code(code)
        return active.error, 0

    def is_on(self, key) -> bool:
        """Return whether `key` has switched a callback on."""
        return id(key) in self._callbacks

    def _on_frame(self, frame, entry, state):
        """Return torch's answer object for a frame: other code to run, or "skip".

        torch calls this before each frame. The first active callback with an answer decides. Frames
        of this package itself are skipped.
        """
        code = frame.f_code
        # A frame of this package, such as the callback's caller, must not lead to another one.
        if _is_at_start(frame) and not code.co_filename.startswith(THIS_FOLDER):
            for active in reversed(list(self._callbacks.values())):
                if not active.asks_about(code):
                    continue
                replacement = _find_replacement_code(active, code, frame)
                if replacement is not None:
                    active.answered.append(code)
                    guards = _guards_that_never_hold()
                    return frame_callback.build_code_answer(replacement, guards)
        return frame_callback.build_skip_answer()


def _is_at_start(frame) -> bool:
    """Return whether a frame has not begun yet, and the stack has room to call a callback."""
    if frame.f_lasti > LASTI_AT_START:  # a generator that continues; it was asked about before
        return False
    try:
        sys._getframe(sys.getrecursionlimit() - REQUIRED_LEVELS)
    except ValueError:  # the stack has fewer frames than that, so there is room
        return True
    return False


def _guards_that_never_hold():
    """Return guards that always fail, so that torch calls the hook at every frame again."""
    root = torch_private.RootGuardManager()
    root.add_lambda_guard(lambda frame_locals: False, ["ask again"], None)
    return root


def _find_replacement_code(active: _ActiveCallback, code: CodeType, frame) -> CodeType | None:
    """Ask a callback about a frame; return the code to run instead of the frame's, or None.

    An error of the callback is stored in `active`, to be raised when the hook is switched off.
    KeyboardInterrupt is raised now.
    """
    try:
        # `star` and `double_star` are the names of *args and **kwargs, or None.
        names, star, double_star, values = inspect.getargvalues(frame)
        names = [*names, *filter(None, (star, double_star))]
        arguments = tuple(values[name] for name in names)
        return _convert_answer(active.callback(code, arguments), code)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        active.error = error
        return None


def _convert_answer(answer, code: CodeType) -> CodeType | None:
    """Return the code to run for a callback's answer: None, a code object, or a callable.

    `code` is that of the frame. The result is None if the frame's own code is to run. TypeError or
    ValueError for an answer that cannot run in this frame.
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


def _make_calling_code(replacement, code: CodeType) -> CodeType:
    """Return code with the parameters of `code`, which calls `replacement` with them."""
    if code.co_freevars or code.co_kwonlyargcount or code.co_flags & STAR_PARAMETERS:
        raise ValueError(f"torch's hook cannot replace the frames of {code.co_name}: no plain ones")
    names = ", ".join(f"p{n}" for n in range(code.co_argcount))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns that a number is called
        # Code cannot reach the object `replacement` by a name. So the template calls the constant
        # 0.5, which is then exchanged for the object.
        template = eval(f"lambda {names}: (0.5)({names})").__code__
    constants = tuple(replacement if const == 0.5 else const for const in template.co_consts)
    return template.replace(co_consts=constants, co_name=code.co_name)
