"""Exceptions: raise, match, handle, raise again; `with`; `except*`.

No opcode opens a `try` since 3.11. The exception table says which instructions are guarded; the
machine's loop looks there when something was raised.
"""

from helpers.mini.vm import special
from helpers.mini.vm.opcodes.registry import opcode
from helpers.mini.vm.values import NULL


@opcode("RAISE_VARARGS")
def raise_varargs(frame, count):
    """[] or [exception] or [exception, cause] → raises"""
    handled = frame.handling.topmost()
    if count == 0:
        if handled is None:
            raise RuntimeError("No active exception to reraise")
        raise handled
    cause = frame.stack.pop() if count == 2 else NULL
    error = _instance(frame, frame.stack.pop())
    if isinstance(error, BaseException) and handled is not None and error is not handled:
        _set_context(error, handled)
    if cause is NULL:
        raise error
    raise error from _instance(frame, cause)


def _instance(frame, error):
    """Make the exception when a class is raised: by calling it, with no arguments."""
    if not (isinstance(error, type) and issubclass(error, BaseException)):
        return error
    made = frame.machine.call(error)
    if isinstance(made, BaseException):
        return made
    raise TypeError(
        f"calling {error!r} should have returned an instance of BaseException, not {type(made)!r}"
    )


def _set_context(error, handled):
    """Make what is being handled the context, as `_PyErr_SetObject` in `Python/errors.c` does."""
    link = handled
    while link.__context__ is not None:
        if link.__context__ is error:
            link.__context__ = None
            break
        link = link.__context__
    error.__context__ = handled


@opcode("RERAISE")
def reraise(frame, depth):
    """[exception] → raises it again; `depth` values below lies the offset where it arose"""
    error = frame.stack.pop()
    frame.raised_at = frame.stack[-depth] if depth else None
    raise error


@opcode("PUSH_EXC_INFO")
def push_exc_info(frame, _):
    """[exception] → [what was handled before, exception]: from here on, this one is handled"""
    error = frame.stack.pop()
    frame.stack += (frame.handling.value, error)
    frame.handling.value = error


@opcode("POP_EXCEPT")
def pop_except(frame, _):
    """[what was handled before] → []"""
    frame.handling.value = frame.stack.pop()


@opcode("CHECK_EXC_MATCH")
def check_exc_match(frame, _):
    """[exception, class or tuple of classes] → [exception, does it match]"""
    wanted = frame.stack.pop()
    for cls in wanted if isinstance(wanted, tuple) else (wanted,):
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
    frame.stack.append(isinstance(frame.stack[-1], wanted))


@opcode("LOAD_ASSERTION_ERROR")
def load_assertion_error(frame, _):
    """[] → [AssertionError]"""
    frame.stack.append(AssertionError)


@opcode("BEFORE_WITH")
def before_with(frame, _):
    """[manager] → [its __exit__, what __enter__ returned]"""
    manager = frame.stack.pop()
    enter = special.bound(manager, "__enter__", "context manager")
    leave = special.bound(manager, "__exit__", "context manager", " (missed __exit__ method)")
    frame.stack.append(leave)
    frame.stack.append(frame.machine.call(enter))


@opcode("WITH_EXCEPT_START")
def with_except_start(frame, _):
    """[__exit__, lasti, handled before, exception] → [the same, what __exit__ returned]"""
    error = frame.stack[-1]
    leave = frame.stack[-4]
    frame.stack.append(frame.machine.call(leave, type(error), error, error.__traceback__))


@opcode("CHECK_EG_MATCH")
def check_eg_match(frame, _):
    """[exception, class] → [the rest, the part that matches], None for an empty one"""
    wanted, error = frame.stack.pop(), frame.stack.pop()
    _refuse_groups(wanted)
    if isinstance(error, wanted):
        wrapped = isinstance(error, BaseExceptionGroup)
        frame.stack += (None, error if wrapped else BaseExceptionGroup("", (error,)))
    elif isinstance(error, BaseExceptionGroup):
        match, rest = error.split(wanted)
        frame.stack += (rest, match) if match is not None else (error, None)
    else:
        frame.stack += (error, None)
    if frame.stack[-1] is not None:
        frame.handling.value = frame.stack[-1]


def _refuse_groups(wanted):
    for cls in wanted if isinstance(wanted, tuple) else (wanted,):
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise TypeError(
                "catching classes that do not inherit from BaseException is not allowed"
            )
        if issubclass(cls, BaseExceptionGroup):
            raise TypeError(
                "catching ExceptionGroup with except* is not allowed. Use except instead."
            )


@opcode("PREP_RERAISE_STAR")
def prep_reraise_star(frame, _):
    """[original, list of what the clauses left] → [what to raise, or None]"""
    left, original = frame.stack.pop(), frame.stack.pop()
    frame.stack.append(_left_over(original, [error for error in left if error is not None]))


def _left_over(original, left):
    """Mirrors `_PyExc_PrepReraiseStar` in CPython's `Objects/exceptions.c`."""
    if not left:
        return None
    if not isinstance(original, BaseExceptionGroup):
        return left[0]
    again = [error for error in left if _same_origin(error, original)]
    raised = [error for error in left if not _same_origin(error, original)]
    leaves = {id(leaf) for error in again for leaf in _leaves(error)}
    unhandled = original.split(lambda leaf: id(leaf) in leaves)[0] if leaves else None
    if not raised:
        return unhandled
    raised += [] if unhandled is None else [unhandled]
    return raised[0] if len(raised) == 1 else BaseExceptionGroup("", raised)


def _same_origin(error, original) -> bool:
    """Is it a part of the original group, rather than something that a clause raised?"""
    if error is original:
        return True
    return isinstance(error, BaseExceptionGroup) and all(
        getattr(error, name, None) is getattr(original, name, None)
        for name in ("__traceback__", "__cause__", "__context__")
    )


def _leaves(error):
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
