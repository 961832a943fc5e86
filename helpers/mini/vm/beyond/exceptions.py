"""`assert`, `with` and `except*`."""

# ruff: noqa: N802 - a handler is named for its opcode

from helpers.mini.vm import special


class MoreExceptions:
    """What surrounds the plain `try` of the steps."""

    def LOAD_ASSERTION_ERROR(self):
        """[] → [AssertionError]"""
        self.push(AssertionError)

    def BEFORE_WITH(self):
        """[manager] → [its __exit__, what __enter__ returned]"""
        manager = self.pop()
        enter = special.bound(manager, "__enter__", "context manager")
        self.push(
            special.bound(manager, "__exit__", "context manager", " (missed __exit__ method)")
        )
        self.push(self.call(enter))

    def WITH_EXCEPT_START(self):
        """[__exit__, lasti, handled before, exception] → [the same, what __exit__ returned]"""
        error = self.stack[-1]
        self.push(self.call(self.stack[-4], type(error), error, error.__traceback__))

    def CHECK_EG_MATCH(self):
        """[exception, class] → [the rest, the part that matches], None for an empty one"""
        error, wanted = self.take(2)
        special.refuse_uncatchable(wanted)
        _refuse_groups(wanted)
        if isinstance(error, wanted):
            wrapped = isinstance(error, BaseExceptionGroup)
            self.stack += (None, error if wrapped else BaseExceptionGroup("", (error,)))
        elif isinstance(error, BaseExceptionGroup):
            match, rest = error.split(wanted)
            self.stack += (rest, match) if match is not None else (error, None)
        else:
            self.stack += (error, None)
        if self.stack[-1] is not None:
            self.handled = self.stack[-1]

    def PREP_RERAISE_STAR(self):
        """[original, list of what the clauses left] → [what to raise, or None]"""
        original, left = self.take(2)
        self.push(_left_over(original, [error for error in left if error is not None]))


def _refuse_groups(wanted):
    for cls in wanted if isinstance(wanted, tuple) else (wanted,):
        if issubclass(cls, BaseExceptionGroup):
            raise TypeError(
                "catching ExceptionGroup with except* is not allowed. Use except instead."
            )


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
