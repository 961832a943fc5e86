"""The machine's signals: a value that is none, a frame that leaves, a program it cannot run."""


class Unsupported(Exception):
    """This machine cannot run that; the sentence names the opcode or the kind of function."""


class _Signal:
    __slots__ = ("_name",)

    def __init__(self, name: str):
        self._name = name

    def __repr__(self):
        return self._name


# What stands where there is no value: an unbound local, or half a call without a self.
NULL = _Signal("NULL")
# What a handler returns when its frame returns or yields `frame.result`.
LEAVE = _Signal("LEAVE")
