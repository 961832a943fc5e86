"""The machine's signals: a value that is none, and what ends a run whatever the program catches."""


class Halt(BaseException):
    """Ends the run: no handler of the program's gets to see it."""


class Missing(Halt, Exception):
    """The machine has no method for an opcode; the sentence names it."""

    def __init__(self, opname: str):
        super().__init__(f"this machine has no method {opname} yet")


class Unwritten(Missing):
    """The method for an opcode is a stub still."""


class Unsupported(Halt, Exception):
    """This machine cannot run that; the sentence says which kind of function it is."""


class _Signal:
    def __repr__(self):
        return "NULL"


# What stands where there is no value, such as an unbound local; a program never gets hold of it.
NULL = _Signal()
