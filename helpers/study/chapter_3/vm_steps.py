"""The exercises on the steps of the learner's machine, and a table of how much the machine can run.
The machine is a small bytecode interpreter. A *step* is a class of *handlers*, which are methods
named after opcodes. The learner writes one step, which is judged in a machine whose other steps are
finished. The *coverage* says how many functions of the standard library need only certain opcodes.
"""

import inspect
import math
import opcode
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from helpers.capture.text.value import short_repr
from helpers.exhibit import Exhibit
from helpers.mini import vm
from helpers.mini.vm import steps as finished
from helpers.model.tables import Column, Listing
from helpers.study.answers import NotAttempted
from helpers.study.chapter_3 import vm_programs
from helpers.study.chapter_3.machine_differences import find_run_difference
from helpers.study.chapter_3.machine_runs import list_stacks
from helpers.study.check import Exercise
from helpers.view.table_view import table

BAR_WIDTH = 20  # characters of a bar
EIGHTHS = "▏▎▍▌▋▊▉█"  # of one character of a bar
EMPTY_CELL = "·"
COVERAGE_COLUMNS = (
    Column("step", "step", code=True),
    Column("opcodes", "its opcodes"),
    Column("so_far", "opcodes so far"),
    Column("share", "share"),
    Column("bar", "of the functions", code=True),
)


def list_programs(step: type) -> list[tuple]:
    """Return the test programs of a step as a list of (program, arguments).

    It is the list in `vm_programs` with the name of the step, such as NAMES for the class Names.
    """
    return getattr(vm_programs, step.__name__.upper(), [])


@dataclass(frozen=True)
class StepJudge:
    """The judge of the exercise on one step of the machine.

    If a program runs differently than in CPython, it runs again with only one of the answer's
    handlers at a time, so that the message can blame one handler.
    """

    #: The finished step, a class of handlers.
    step: type

    @property
    def opnames(self) -> list[str]:
        """Return the names of the handlers that the learner writes."""
        # A handler is named after its opcode, in capitals.
        return [name for name in vars(self.step) if name.isupper()]

    @property
    def shared_parts(self) -> dict[str, object]:
        """Return name -> attribute of the finished step, without its handlers and dunder names."""
        return {
            name: value
            for name, value in vars(self.step).items()
            if not name.isupper() and not name.startswith("__")
        }

    def make_machine(self, answer: type) -> type:
        """Return a machine class with the answer's handlers and the finished steps besides."""
        others = [step for step in vm.WHOLE if step is not self.step]
        # Finished handlers of other steps use the shared parts, which the answer may lack. The
        # answer comes first, so its own attributes win.
        return vm.machine(answer, *others, type("Shared", (), self.shared_parts))

    def judge(self, answer: type) -> str | None:
        """Return a sentence on what is wrong with a class of handlers, or None."""
        # `vm.opcodes` lists the handlers of a class, `vm.written` only those that are no stubs.
        missing = [name for name in self.opnames if name not in vm.opcodes(answer)]
        if missing:
            opcodes = ", ".join(self.opnames)
            return f"{answer.__name__} has no method {missing[0]}; it needs {opcodes}"

        stubs = [name for name in self.opnames if name not in vm.written(answer)]
        if stubs:
            # The stubs are named only if some other handler is written.
            raise NotAttempted(", ".join(stubs) if len(stubs) < len(self.opnames) else "")

        for program, args in list_programs(self.step):
            machine = self.make_machine(answer)
            reason = find_run_difference(machine, program, args, self.opnames)
            if reason:
                # `_blame_one_handler` returns None if only two handlers together fail.
                return self._blame_one_handler(answer, program, args) or reason
        return None

    def _blame_one_handler(self, answer: type, program: Callable, args: tuple) -> str | None:
        """Run a program with only one of the answer's handlers at a time, and the rest finished.

        Return the sentence on the first run that differs from CPython's, or None.
        """
        for name in self.opnames:
            # A subclass of the answer in which all handlers but one are finished. It also gets the
            # shared parts that the answer lacks, because finished handlers use them.
            attributes = {
                part: value
                for part, value in self.shared_parts.items()
                if not hasattr(answer, part)
            }
            for other in self.opnames:
                if other != name:
                    attributes[other] = vars(self.step)[other]
            mostly_finished = type(answer.__name__, (answer,), attributes)
            machine = self.make_machine(mostly_finished)
            reason = find_run_difference(machine, program, args, [name])
            if reason:
                return reason
        return None

    def draw(self, answer: type) -> Listing:
        """Return a table of the stacks of the step's first program on the learner's machine."""
        program, args = list_programs(self.step)[0]
        return list_stacks(self.make_machine(answer), program, args)


def _make_exercise(step: type, praise: str, *hints: str) -> Exercise:
    """Return the exercise on a step: its judge, its praise after a pass, and its hints.

    After a pass it also draws the run of the step's first program.
    """
    step_judge = StepJudge(step)
    name = f"vm_{step.__name__.lower()}"
    return Exercise(name, step_judge.judge, praise, hints, picture=step_judge.draw)


STEP_EXERCISES = (
    _make_exercise(
        finished.Names,
        "Your locals, globals, COPY and SWAP work as in CPython, and so do unbound names.",
        "self.local is a dict. Which handlers read it, and which write to it?",
        "A load pushes and a store pops. self.find(name) looks up globals and builtins.",
        "COPY(1) copies the top, self.stack[-1]. SWAP exchanges self.stack[-1] and "
        "self.stack[-depth]. For an unbound local, raise UnboundLocalError with CPython's message.",
    ),
    _make_exercise(
        finished.Operators,
        "Every operator pops its operands in the right order and pushes one value.",
        "Two operands are on the stack. Which one was pushed last?",
        "The right operand is on top: right, left = self.pop(), self.pop().",
        "Push ARITHMETIC[sign](left, right). IS_OP and CONTAINS_OP receive 1 for `is not` and "
        "`not in`, so compare the answer with bool(inverted).",
    ),
    _make_exercise(
        finished.Jumps,
        "Branches go where CPython goes, and loops end with a clean stack.",
        "The jumps with IF look at the top of the stack. What happens to it afterwards?",
        "POP_JUMP_IF_… always pops, but jumps only on its condition. Test for None with `is`.",
        "FOR_ITER pushes next(self.stack[-1]). On StopIteration, self.pop() and self.jump(after).",
    ),
    _make_exercise(
        finished.Calls,
        "Your calls reach Python and C functions, with their arguments in order.",
        "The callable was pushed first, then its arguments from left to right. Which is on top?",
        "Write values = [self.pop() for _ in range(count)][::-1]. Then the callable is on top.",
        "The last len(names) of the values are keyword arguments: dict(zip(names, …)). Let "
        "self.call(fn, *positional, **keywords) make the call, and push what it returns.",
    ),
    _make_exercise(
        finished.Closures,
        "Your machine makes functions while it runs, and they share their cells.",
        "A closure is a tuple of cells. Which instruction pushes a cell, and which its contents?",
        "self.cells[name] is the cell. Read and write what is in it as .cell_contents. An empty "
        "cell raises ValueError. Catch it, and raise what CPython raises for this name.",
        "MAKE_FUNCTION pops the code. Next, given = {part: self.pop() for part in reversed(parts)}."
        " Push self.function(code, **given).",
    ),
    _make_exercise(
        finished.Exceptions,
        "Your machine handles, matches and re-raises errors as CPython does.",
        "The error is already on the stack. What must remember which error is being handled?",
        "PUSH_EXC_INFO leaves [handled before, error] and sets self.handled to the error. "
        "POP_EXCEPT sets it back.",
        "CHECK_EXC_MATCH pops the class and pushes a bool. The error stays. RAISE_VARARGS(0) "
        "raises self.handled, (1) raises the top, and (2) the value below it, from the top.",
    ),
)


@dataclass(frozen=True)
class Coverage:
    """A row of the table: what the machine can run after one more step."""

    #: The name of the step.
    step: str
    #: How many opcodes the step has, as text.
    opcodes: str
    #: How many opcodes the machine has so far.
    so_far: int
    #: How many functions of the library need only those opcodes.
    functions: int
    #: Their share of all functions, in percent.
    share: str
    #: The same share as a bar.
    bar: str


def show_opcode_coverage(*steps: type) -> Exhibit:
    """Show, step by step, the share of the library's functions whose every opcode has a handler.

    A step is a class whose methods are named after opcodes. A stub does not count as a handler.
    The library is that of the running Python. Only its top-level modules are read.
    """
    needs = list_needs()  # opcodes of a function -> how many functions need just these
    total = sum(needs.values())
    known = set()  # opcodes with a handler so far
    rows = []
    for step in steps:
        if not isinstance(step, type):
            raise TypeError(f"a step is a class with methods for opcodes, not {short_repr(step)}")
        written = vm.written(step)
        known |= written
        runnable = sum(count for opcodes, count in needs.items() if opcodes <= known)
        row = Coverage(
            step=step.__name__,
            opcodes=str(len(written)),
            so_far=len(known),
            functions=runnable,
            share=f"{100 * runnable / total:.1f} %",
            bar=_draw_bar(runnable, total),
        )
        rows.append(row)

    title = f"How many of {total} standard library functions need only these opcodes"
    note = _describe_most_helpful(needs, known)
    return Exhibit(Listing(title, COVERAGE_COLUMNS, tuple(rows), note), table)


def _draw_bar(part: int, total: int) -> str:
    """Return part / total as a bar of BAR_WIDTH characters, rounded up to an eighth of one."""
    eighths = math.ceil(BAR_WIDTH * len(EIGHTHS) * part / total)
    full_count, rest = divmod(eighths, len(EIGHTHS))
    bar = EIGHTHS[-1] * full_count
    if rest:
        bar += EIGHTHS[rest - 1]
    return bar.ljust(BAR_WIDTH, EMPTY_CELL)


def _describe_most_helpful(needs: Counter, known: set[str]) -> str:
    """Return a sentence on the missing handler that alone would make most functions run, or "".

    `needs` is the result of `list_needs`. `known` has the names of the opcodes that have handlers.
    """
    counts = Counter()  # missing opcode -> how many functions lack only this one
    for opcodes, count in needs.items():
        missing = opcodes - known
        if len(missing) == 1:
            [opname] = missing
            counts[opname] += count
    if not counts:
        return ""

    name = min(counts, key=lambda name: (-counts[name], name))
    handler = f"The one handler that would help most is {name}."
    return f"{handler} {counts[name]} functions lack only this one."


@cache
def list_needs() -> Counter:
    """Count the functions of the standard library by the instructions that they need.

    A key is a frozenset of names of plain instructions, which are the same for all versions of
    CPython. The value is how many functions need just these.
    """
    needs = Counter()
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        module_code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
        for code in _walk_codes(module_code):
            if code.co_flags & inspect.CO_OPTIMIZED:  # the code of a function, not of a class
                needs[_list_plain_names(code)] += 1
    return needs


def _walk_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and all code objects in its constants, at any depth."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _walk_codes(constant)


def _list_plain_names(code: CodeType) -> frozenset[str]:
    """Return the names of the plain instructions that a code object needs."""
    names = set()
    # An instruction is two bytes, and the first one is its opcode.
    for byte in set(code.co_code[::2]):
        names.update(vm.plain_names(opcode.opname[byte]))
    return frozenset(names)
