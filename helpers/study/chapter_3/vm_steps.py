"""The steps of the learner's machine. Each class of handlers is checked in its own machine.

The other steps there are finished. Also here: how many library functions some opcodes cover.
"""

import inspect
import math
import opcode
import os
from collections import Counter, namedtuple
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from helpers.capture.text.value import short_repr
from helpers.exhibit import Exhibit
from helpers.mini import vm
from helpers.mini.vm import steps as finished
from helpers.model.tables import Column, Listing
from helpers.study.chapter_3 import vm_programs
from helpers.study.chapter_3.machine_runs import difference, list_stacks
from helpers.study.check import Exercise, NotAttempted
from helpers.view.table_view import table

WIDTH = 20
PARTS, EMPTY = "▏▎▍▌▋▊▉█", "·"  # of one character of a bar: eighths


def cases_of(step: type) -> list[tuple]:
    """Return the programs of a step, each with its arguments."""
    return getattr(vm_programs, step.__name__.upper(), [])


def _exercise(step: type, praise: str, *hints: str) -> Exercise:
    """Return a step's exercise. After a pass, it shows the first program on the learner's stack.

    If a program differs, it is tried again with one of the answer's handlers at a time.
    """
    wanted = [name for name in vars(step) if name.isupper()]
    shared = {n: v for n, v in vars(step).items() if not (n.isupper() or n.startswith("__"))}
    others = [other for other in vm.WHOLE if other is not step]

    def machine_of(answer: type) -> type:
        return vm.machine(answer, *others, type("Shared", (), shared))

    def differs(answer: type, case: tuple, own: list[str]) -> str | None:
        return difference(machine_of(answer), *case, own=own)

    def alone(answer: type, case: tuple, name: str) -> str | None:
        rest = {n: v for n, v in shared.items() if not hasattr(answer, n)}
        rest |= {other: vars(step)[other] for other in wanted if other != name}
        return differs(type(answer.__name__, (answer,), rest), case, [name])

    def judge(answer: type) -> str | None:
        if missing := [opname for opname in wanted if opname not in vm.opcodes(answer)]:
            return f"{answer.__name__} has no method {missing[0]}; it needs {', '.join(wanted)}"
        if stubs := [opname for opname in wanted if opname not in vm.written(answer)]:
            raise NotAttempted(", ".join(stubs) if len(stubs) < len(wanted) else "")
        for case in cases_of(step):
            if because := differs(answer, case, wanted):
                found = (alone(answer, case, name) for name in wanted)
                return next(filter(None, found), because)
        return None

    def picture(answer: type) -> Listing:
        return list_stacks(machine_of(answer), *cases_of(step)[0])

    return Exercise(f"vm_{step.__name__.lower()}", judge, praise, hints, picture=picture)


STEP_EXERCISES = (
    _exercise(
        finished.Names,
        "Your locals, globals, COPY and SWAP work as in CPython, and so do unbound names.",
        "self.local is a dict. Which handlers read it, and which write to it?",
        "A load pushes and a store pops. self.find(name) looks up globals and builtins.",
        "COPY(1) copies the top, self.stack[-1]. SWAP exchanges self.stack[-1] and "
        "self.stack[-depth]. For an unbound local, raise UnboundLocalError with CPython's message.",
    ),
    _exercise(
        finished.Operators,
        "Every operator pops its operands in the right order and pushes one value.",
        "Two operands are on the stack. Which one was pushed last?",
        "The right operand is on top: right, left = self.pop(), self.pop().",
        "Push ARITHMETIC[sign](left, right). IS_OP and CONTAINS_OP receive 1 for `is not` and "
        "`not in`, so compare the answer with bool(inverted).",
    ),
    _exercise(
        finished.Jumps,
        "Branches go where CPython goes, and loops end with a clean stack.",
        "The jumps with IF look at the top of the stack. What happens to it afterwards?",
        "POP_JUMP_IF_… always pops, but jumps only on its condition. Test for None with `is`.",
        "FOR_ITER pushes next(self.stack[-1]). On StopIteration, self.pop() and self.jump(after).",
    ),
    _exercise(
        finished.Calls,
        "Your calls reach Python and C functions, with their arguments in order.",
        "The callable was pushed first, then its arguments from left to right. Which is on top?",
        "Write values = [self.pop() for _ in range(count)][::-1]. Then the callable is on top.",
        "The last len(names) of the values are keyword arguments: dict(zip(names, …)). Let "
        "self.call(fn, *positional, **keywords) make the call, and push what it returns.",
    ),
    _exercise(
        finished.Closures,
        "Your machine makes functions while it runs, and they share their cells.",
        "A closure is a tuple of cells. Which instruction pushes a cell, and which its contents?",
        "self.cells[name] is the cell. Read and write what is in it as .cell_contents. An empty "
        "cell raises ValueError. Catch it, and raise what CPython raises for this name.",
        "MAKE_FUNCTION pops the code. Next, given = {part: self.pop() for part in reversed(parts)}."
        " Push self.function(code, **given).",
    ),
    _exercise(
        finished.Exceptions,
        "Your machine handles, matches and re-raises errors as CPython does.",
        "The error is already on the stack. What must remember which error is being handled?",
        "PUSH_EXC_INFO leaves [handled before, error] and sets self.handled to the error. "
        "POP_EXCEPT sets it back.",
        "CHECK_EXC_MATCH pops the class and pushes a bool. The error stays. RAISE_VARARGS(0) "
        "raises self.handled, (1) raises the top, and (2) the value below it, from the top.",
    ),
)


# After one step: its opcodes, all so far, functions that need no other, and their share.
Reach = namedtuple("Reach", "step opcodes so_far functions share bar")


def show_opcode_coverage(*steps: type) -> Exhibit:
    """Show, step by step, the share of the library's functions whose every opcode has a handler.

    A step is a class whose methods are named after opcodes. A stub does not count as a handler.
    The library is that of the running Python. Only its top-level modules are read.
    """
    known, rows, functions = set(), [], list_needs()
    total = sum(functions.values())
    for step in steps:
        if not isinstance(step, type):
            raise TypeError(f"a step is a class with methods for opcodes, not {short_repr(step)}")
        own = vm.written(step)
        known |= own
        able = sum(count for needed, count in functions.items() if needed <= known)
        full, part = divmod(math.ceil(WIDTH * len(PARTS) * able / total), len(PARTS))
        bar = (PARTS[-1] * full + (PARTS[part - 1] if part else "")).ljust(WIDTH, EMPTY)
        share = f"{100 * able / total:.1f} %"
        rows.append(Reach(step.__name__, str(len(own)), len(known), able, share, bar))
    names = {"step": "step", "opcodes": "its opcodes", "so_far": "opcodes so far"}
    names |= {"share": "share", "bar": "of the functions"}
    columns = tuple(Column(f, words, code=f in ("step", "bar")) for f, words in names.items())
    lacking, note = Counter(), ""
    for needed, count in functions.items():
        if len(needed - known) == 1:
            lacking[min(needed - known)] += count
    if lacking:
        name = min(lacking, key=lambda name: (-lacking[name], name))
        note = f"The one handler that would help most is {name}. {lacking[name]} functions lack "
        note += "only this one."
    title = f"How many of {total} standard library functions need only these opcodes"
    return Exhibit(Listing(title, columns, tuple(rows), note), table)


@cache
def list_needs() -> Counter:
    """Return, for each set of plain instructions, how many library functions need exactly it."""
    found = Counter()
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        codes = [SourceFileLoader(path.stem, str(path)).get_code(path.stem)]
        for code in codes:  # which grows by those inside
            codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
            if code.co_flags & inspect.CO_OPTIMIZED:
                used = {opcode.opname[byte] for byte in code.co_code[::2]}
                found[frozenset(plain for name in used for plain in vm.plain_names(name))] += 1
    return found
