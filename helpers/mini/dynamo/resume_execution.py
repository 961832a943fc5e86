"""A function and a place in it -> what the rest can read, and a function that continues from there.

The rest of a function is the same bytecode behind a prologue that puts the values on the stack and
jumps. That works because all jumps are relative since 3.11. Mirrors
torch/_dynamo/resume_execution.py and bytecode_analysis.py.
"""

import dis
from collections import namedtuple
from types import CodeType, FunctionType

from ..versions import ENDS, JUMPS, one_name
from .symbolic_values import NULL, Refuse

# One instruction; `target`: the position that it may jump to, -1 for none; `locals`: (kind, name)
# of each that it loads or stores.
Step = namedtuple("Step", "opname arg value text offset line target locals")


class Code:
    """The steps of a code object, by position."""

    def __init__(self, code: CodeType):
        self.code = code
        real = list(dis.get_instructions(code))
        at = {instruction.offset: position for position, instruction in enumerate(real)}
        self.steps, line = [], code.co_firstlineno
        for i in real:
            line, name = i.positions.lineno or line, one_name(i.opname)
            kinds = [part.strip("_") for part in name.split("_FAST")[:-1]]
            names = i.argval if isinstance(i.argval, tuple) else (i.argval,)
            found = list(zip(kinds, names, strict=True)) if kinds else []
            target = at[i.argval] if i.opcode in JUMPS else -1
            where = i.offset, line - code.co_firstlineno + 1, target
            self.steps.append(Step(name, i.arg, i.argval, i.argrepr, *where, found))

    def after(self, position: int) -> list[int]:
        """Return the positions that can run next."""
        step = self.steps[position]
        if step.opname in ENDS:
            return []
        following = [] if step.opname == "JUMP" else [position + 1]
        return following + ([step.target] if step.target >= 0 else [])

    def reads(self, position: int) -> set[str]:
        """Return the local names that a step reads, unless it has just stored them itself."""
        found, stored = set(), set()
        for kind, name in self.steps[position].locals:
            (stored if kind == "STORE" else found).update({name} - stored)
        return found

    def stores(self, position: int) -> set[str]:
        """Return the local names that a step stores."""
        return {name for kind, name in self.steps[position].locals if kind == "STORE"}

    def in_a_loop(self, position: int) -> bool:
        """Return whether the step can run again after it has run."""
        seen, waiting = set(), self.after(position)
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                waiting += self.after(here)
        return position in seen


def make_resume_function(fn: FunctionType, offset: int, layout: tuple, name: str) -> tuple:
    """Return a function of all local names of `fn` and the values on its stack, and its shift.

    `layout`: NULL or anything else, per place on the stack from below. The shift is by how many
    bytes its code is moved. Refuse where the code's variables are shared.
    """
    code = fn.__code__
    if code.co_freevars:
        raise Refuse("a graph break in a function that shares variables with another one")
    names, prologue = list(code.co_varnames), _instruction("RESUME", 0)
    for value in layout:
        if value is NULL:
            prologue += _instruction("PUSH_NULL", 0)
        else:
            prologue += _instruction("LOAD_FAST", len(names))
            names.append(f"stack_{len(names) - len(code.co_varnames)}")
    prologue += _instruction("JUMP_FORWARD", offset // 2)
    units = len(prologue) // 2
    no_lines = b"".join(bytes([0xF8 | min(units - at, 8) - 1]) for at in range(0, units, 8))
    fields = dict.fromkeys(("co_argcount", "co_nlocals"), len(names))
    fields |= dict.fromkeys(("co_posonlyargcount", "co_kwonlyargcount"), 0)
    fields |= dict.fromkeys(("co_name", "co_qualname"), name) | {"co_varnames": tuple(names)}
    fields["co_code"] = prologue + code.co_code
    fields["co_linetable"] = no_lines + code.co_linetable
    fresh = code.replace(co_stacksize=max(code.co_stacksize, len(layout) + 1), **fields)
    return FunctionType(fresh, fn.__globals__, name), len(prologue)


def _instruction(name: str, arg: int) -> bytes:
    extended = dis.opmap["EXTENDED_ARG"]
    wide = [(extended, arg >> shift & 255) for shift in (24, 16, 8) if arg >> shift]
    return bytes(byte for pair in [*wide, (dis.opmap[name], arg & 255)] for byte in pair)
