"""A learner's block, entered and left -> what was wrong inside, what afterwards, what it raised.

What runs while names may be wrong names nothing of this module: see `kept_names.py`.
"""

from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS


class Blocks:
    """Something that is looked at inside a block and after it, by a subclass's `look`."""

    __slots__ = ()

    def look(self, swapped=()) -> list[tuple]:
        """Return a row (path, was, now) for each place that holds what it should not.

        `swapped`: pairs (was, now) of the objects that should be exchanged.
        """
        raise NotImplementedError

    def call(self, swapped, fn, *args) -> tuple:
        """Call a function; return what it returns, the places that are wrong, what it raises."""
        result = raised = None
        try:
            result = fn(*args)
        except BaseException as error:
            raised = error
        return result, self.look(swapped), raised

    def block(self, manager, inside, after, then=None, error=None) -> tuple:
        """Enter a block, do `then` in it unless places are wrong, raise `error`, leave it.

        Return the places that are wrong inside and afterwards, and what came out of the block.
        """
        wrong, raised = [], None
        try:
            with manager:
                wrong = self.look(inside)
                if then is not None and not wrong:
                    then()
                if error is not None:
                    raise error
        except BaseException as other:
            raised = other
        return wrong, self.look(after), raised
