"""Names of opcodes -> their handlers, and what each handler wants to know of an instruction."""

HANDLERS: dict = {}
ARGUMENTS: dict = {}


def opcode(*names: str, argument=None):
    """Register a handler under names of opcodes; `argument(instruction, code, slots)` feeds it.

    Without `argument` the handler is given the bare number, for a jump the position to go to.
    A name that the running Python does not have is never looked up.
    """

    def register(handler):
        for name in names:
            HANDLERS[name] = handler
            if argument is not None:
                ARGUMENTS[name] = argument
        return handler

    return register


def argval(instruction, code, slots):
    """Feed a handler what the number stands for: the constant, the name, the operator."""
    return instruction.argval


def constant(instruction, code, slots):
    """Feed a handler the constant itself."""
    return code.co_consts[instruction.arg]
