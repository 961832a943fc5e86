"""C functions that make, use and delete ops -> what a hand-made eager call did wrong with them.

Stands before the C functions that `api()` gives out, in a child that judges and ends.
"""

import ctypes

from helpers.mini.eager import api

NONE = "no op was made by api().TFE_NewOp: make the calls of the C API yourself"
NEVER = "the op is never deleted: TFE_DeleteOp(op), also where something was raised"
AGAIN = "TFE_DeleteOp gets an op that is not there, or not any more"
INVALID = 3  # tf.errors' code


class OpLedger:
    """From when it is made: the ops that are open, and the first fault with one."""

    def __init__(self):
        self._open, self._fault, self._failures, self._made = set(), "", {}, 0
        space = api()
        for name in [*vars(space)]:
            if name.startswith("TFE_Op") or name == "TFE_Execute":
                setattr(space, name, self._using(name, getattr(space, name)))
        space.TFE_NewOp = self._making(space.TFE_NewOp)
        space.TFE_DeleteOp = self._deleting(space.TFE_DeleteOp)

    def fault(self) -> str:
        """Return what was done wrong since the last time, in words."""
        found = self._fault or (NEVER if self._open else "" if self._made else NONE)
        self._open, self._fault, self._failures, self._made = set(), "", {}, 0
        return found

    def fail(self, name: str, failure: str | BaseException) -> None:
        """Let the next call of a C function raise this, or write these words to its status."""
        self._failures[name] = failure

    def _making(self, function):
        def made(*args):
            op = function(*args)
            self._made += 1
            self._open |= {op} if op else set()
            return op

        return made

    def _using(self, name, function):
        def used(op, *args):
            if op and op not in self._open:
                self._fault = self._fault or f"{name} gets an op that is already deleted"
                raise RuntimeError(self._fault)
            failure = self._failures.pop(name, None)
            if isinstance(failure, BaseException):
                raise failure
            return function(op, *args) if failure is None else _set_status(args[-1], failure)

        return used

    def _deleting(self, function):
        def deleted(op):
            if op in self._open:
                self._open.discard(op)
                function(op)
            elif op:
                self._fault = self._fault or AGAIN

        return deleted


def _set_status(status: int, words: str) -> None:
    from tensorflow.python import _pywrap_tensorflow_internal

    function = ctypes.CDLL(_pywrap_tensorflow_internal.__file__).TF_SetStatus
    function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
    function(status, INVALID, words.encode())
