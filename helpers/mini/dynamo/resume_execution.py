"""A function and a place in it -> what the rest can read, and a function that goes on from there.

Steps have one name per idea: the differences of 3.11, 3.12 and 3.13 that do not touch the stack end
here. The rest of a function is the same bytecode behind a prologue that puts the values on the
stack and jumps. That works because all jumps are relative since 3.11. Mirrors
torch/_dynamo/resume_execution.py and bytecode_analysis.py.
"""

import dis
from dataclasses import dataclass
from types import CodeType, FunctionType

from helpers.mini.dynamo.symbolic_values import NULL, Refuse
from helpers.mini.versions import ENDS, JUMPS, one_name


@dataclass(frozen=True)
class Step:
    """One instruction. `target` is the position that it may jump to, -1 for none."""

    opname: str
    arg: int | None
    value: object
    text: str
    offset: int
    line: int
    target: int = -1


_DECODED: dict[int, "Code"] = {}  # by id: `==` of code objects asks their constants


def decoded(code: CodeType) -> "Code":
    """Return the steps of a code object, decoded once."""
    kept = _DECODED.get(id(code))
    if kept is None:
        if len(_DECODED) >= 512:
            _DECODED.clear()
        kept = _DECODED[id(code)] = Code(code)
    return kept


class Code:
    """The steps of a code object, by position."""

    def __init__(self, code: CodeType):
        self.code = code
        real = list(dis.get_instructions(code))
        self.at = {instruction.offset: position for position, instruction in enumerate(real)}
        self.steps, line = [], code.co_firstlineno
        for instruction in real:
            line = instruction.positions.lineno or line
            self.steps.append(self._step(instruction, line - code.co_firstlineno + 1))

    def _step(self, i, line: int) -> Step:
        jumps = i.opcode in JUMPS
        name = one_name(i.opname)
        target = self.at[i.argval] if jumps else -1
        return Step(name, i.arg, i.argval, i.argrepr, i.offset, line, target)

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
        for kind, name in self._locals(position):
            if kind == "STORE":
                stored.add(name)
            elif name not in stored:
                found.add(name)
        return found

    def stores(self, position: int) -> set[str]:
        """Return the local names that a step stores."""
        return {name for kind, name in self._locals(position) if kind == "STORE"}

    def _locals(self, position: int) -> list[tuple[str, str]]:
        step = self.steps[position]
        kinds = [part.strip("_") for part in step.opname.split("_FAST")[:-1]]
        names = step.value if isinstance(step.value, tuple) else (step.value,)
        return list(zip(kinds, names, strict=False)) if kinds else []

    def in_a_loop(self, position: int) -> bool:
        """Return whether the step can run again after it has run."""
        seen, waiting = set(), self.after(position)
        while waiting:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                waiting += self.after(here)
        return position in seen


NO_CELLS = "a graph break in a function that shares variables with another one"


def resume_function(fn: FunctionType, offset: int, layout: tuple, name: str) -> FunctionType:
    """Return a function of all the local names of `fn` and then of the values on the stack.

    `layout`: NULL or anything else, per place on the stack from below. Refuse where the code's
    variables are shared or its blocks handle exceptions.
    """
    code = fn.__code__
    if code.co_exceptiontable or code.co_cellvars or code.co_freevars:
        raise Refuse(NO_CELLS)
    names = (*code.co_varnames, *(f"stack_{i}" for i, s in enumerate(layout) if s is not NULL))
    prologue = _prologue(layout, len(code.co_varnames), offset // 2)
    fresh = code.replace(
        co_name=name,
        co_qualname=name,
        co_argcount=len(names),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_nlocals=len(names),
        co_flags=code.co_flags & ~0xC,
        co_varnames=names,
        co_code=prologue + code.co_code,
        co_linetable=_no_lines(len(prologue) // 2) + code.co_linetable,
        co_stacksize=max(code.co_stacksize, len(layout) + 1),
    )
    return FunctionType(fresh, fn.__globals__, name)


def prologue_length(layout: tuple, variables: int, offset: int) -> int:
    """Return by how many bytes the code of `resume_function` is moved."""
    return len(_prologue(layout, variables, offset // 2))


def _prologue(layout, variables, units) -> bytes:
    made, place = _instruction("RESUME", 0), variables
    for value in layout:
        if value is NULL:
            made += _instruction("PUSH_NULL", 0)
        else:
            made += _instruction("LOAD_FAST", place)
            place += 1
    return made + _instruction("JUMP_FORWARD", units)


def _instruction(name: str, arg: int) -> bytes:
    wide = b"".join(
        bytes([dis.opmap["EXTENDED_ARG"], arg >> shift & 255])
        for shift in (24, 16, 8)
        if arg >> shift
    )
    return wide + bytes([dis.opmap[name], arg & 255])


def _no_lines(units: int) -> bytes:
    table = b""
    while units:
        here = min(units, 8)
        table += bytes([0x80 | 15 << 3 | here - 1])
        units -= here
    return table
