"""A code object -> steps with one name per idea, and which names are still read after each.

The differences of 3.11, 3.12 and 3.13 that do not touch the stack end here.
"""

import dis
from dataclasses import dataclass
from types import CodeType

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
        """Return (LOAD, STORE or DELETE, name) in order; two where one instruction does two."""
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
