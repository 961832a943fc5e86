"""The steps of the learner's machine: each class of handlers is judged in a machine of its own.

The other steps are finished ones, so that a step can be judged before the ones below it are done.
"""

from collections.abc import Callable

from helpers.mini import vm
from helpers.mini.vm import steps as finished
from helpers.study.chapter_3 import programs
from helpers.study.chapter_3.compare_runs import difference
from helpers.study.check import Exercise


def _judge_step(step: type, cases) -> Callable[[type], str | None]:
    wanted = vm.opcodes(step)

    def judge(answer) -> str | None:
        if not isinstance(answer, type):
            return (
                f"give the class itself, such as check.vm_{step.__name__.lower()}({step.__name__})"
            )
        if not vm.opcodes(answer):
            names = ", ".join(sorted(wanted))
            return f"{answer.__name__} has no method that is named for an opcode; it needs {names}"
        others = [other for other in vm.STEPS if other is not step]
        machine = vm.machine(answer, *others)
        for program, args in cases:
            because = difference(machine, program, *args)
            if because:
                return because
        return None

    return judge


def _exercise(step: type, cases, praise: str, hints: tuple[str, ...]) -> Exercise:
    """Make the exercise of one step."""
    return Exercise(f"vm_{step.__name__.lower()}", _judge_step(step, cases), praise, hints)


NAMES = _exercise(
    finished.Names,
    programs.NAMES,
    "Locals, globals and the two moves run as in CPython, unbound names too.",
    (
        "self.local is a dict: which of the handlers reads it, which one writes to it?",
        "A load pushes and a store pops. self.find(name) looks up globals and builtins.",
        "COPY(1) copies the top, which is self.stack[-1]; SWAP exchanges self.stack[-1] and "
        "self.stack[-depth]. An unbound local is an UnboundLocalError with CPython's message.",
    ),
)

OPERATORS = _exercise(
    finished.Operators,
    programs.OPERATORS,
    "Every operator takes its operands in the right order and leaves one value.",
    (
        "Two operands lie on the stack. Which one was pushed last?",
        "The right operand is on top: right, left = self.pop(), self.pop().",
        "Push ARITHMETIC[sign](left, right). IS_OP and CONTAINS_OP are given 1 for `is not` and "
        "`not in`: compare the answer with bool(inverted).",
    ),
)

JUMPS = _exercise(
    finished.Jumps,
    programs.JUMPS,
    "Branches go where CPython goes, and loops end with a clean stack.",
    (
        "Both kinds of jump look at the top of the stack. What happens to it afterwards?",
        "POP_JUMP_IF_… always pops, and jumps only on its condition. None is tested by identity.",
        "FOR_ITER: push next(self.stack[-1]); on StopIteration, self.pop() and self.jump(after).",
    ),
)

CALLS = _exercise(
    finished.Calls,
    programs.CALLS,
    "Calls reach Python and C functions, with their arguments in order.",
    (
        "The callable was pushed first, then its arguments from left to right. Which is on top?",
        "values = [self.pop() for _ in range(count)][::-1], and then the callable is on top.",
        "The last len(names) of the values are keyword arguments: dict(zip(names, …)). Let "
        "self.call(fn, *positional, **keywords) do the call, and push what it returns.",
    ),
)

CLOSURES = _exercise(
    finished.Closures,
    programs.CLOSURES,
    "Functions are made while running, and share their cells.",
    (
        "A closure is a tuple of cells. Which instruction pushes a cell, which one its contents?",
        "self.cells[name] is the cell; .cell_contents is what it holds, to read and to write.",
        "MAKE_FUNCTION: pop the code, then given = {part: self.pop() for part in reversed(parts)}, "
        "and push self.function(code, **given).",
    ),
)

EXCEPTIONS = _exercise(
    finished.Exceptions,
    programs.EXCEPTIONS,
    "Your machine handles, matches and raises again as CPython does.",
    (
        "The loop has found the handler and pushed the error. Who remembers what is being handled?",
        "PUSH_EXC_INFO leaves [handled before, error], and sets self.handled to the error; "
        "POP_EXCEPT sets it back.",
        "CHECK_EXC_MATCH pops the class and pushes a bool, the error stays. RAISE_VARARGS(0) "
        "raises self.handled, (1) the top, (2) the value below the top, from the top.",
    ),
)

STEP_EXERCISES = (NAMES, OPERATORS, JUMPS, CALLS, CLOSURES, EXCEPTIONS)
