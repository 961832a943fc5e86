"""The steps of the learner's machine: each class of handlers is judged in a machine of its own.

The other steps are finished ones, so that a step can be judged before the ones below it are done.
"""

from collections.abc import Callable
from inspect import getsource

from helpers.mini import ladder
from helpers.mini.ladder import steps as finished
from helpers.study.chapter_3 import programs
from helpers.study.chapter_3.compare_runs import difference
from helpers.study.check import Exercise, Mistake, edited


def _judge_step(step: type, cases) -> Callable[[type], str | None]:
    wanted = ladder.opcodes(step)

    def judge(answer) -> str | None:
        if not isinstance(answer, type):
            return (
                f"give the class itself, such as check.vm_{step.__name__.lower()}({step.__name__})"
            )
        if not ladder.opcodes(answer):
            names = ", ".join(sorted(wanted))
            return f"{answer.__name__} has no method that is named for an opcode; it needs {names}"
        others = [other for other in ladder.STEPS if other is not step]
        machine = ladder.machine(answer, *others)
        for program, args in cases:
            because = difference(machine, program, *args)
            if because:
                return because
        return None

    return judge


def _sample(step: type, old: str, new: str) -> str:
    """Return the finished class with one piece exchanged."""
    source = f"from helpers.mini.ladder.steps import ARITHMETIC, COMPARISON\n\n{getsource(step)}"
    return edited(source, old, new)


def _exercise(step: type, cases, praise: str, hints: tuple[str, ...], *wrong) -> Exercise:
    """Make the exercise of one step; `wrong` are (old line, new line, words of the verdict)."""
    name = step.__name__
    mistakes = tuple(Mistake(_sample(step, old, new), says) for old, new, says in wrong)
    return Exercise(f"vm_{name.lower()}", _judge_step(step, cases), praise, hints, mistakes)


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
    ("self.local[name] = self.pop()", "self.local[name] = self.stack[-1]", "left on the stack"),
    ("self.push(self.find(name))", "self.find(name)", "was not pushed"),
    ("self.push(self.stack[-depth])", "self.push(self.stack[depth - 1])", "COPY(1) means the top"),
    (
        "self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]",
        "self.stack[-1], self.stack[-depth - 1] = self.stack[-depth - 1], self.stack[-1]",
        "at SWAP",
    ),
    ("if name not in self.local:", "if False:", "CPython raised UnboundLocalError"),
    ("def COPY", "def copied", "no method COPY"),
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
    (
        "right, left = self.pop(), self.pop()\n        self.push(ARITHMETIC",
        "left, right = self.pop(), self.pop()\n        self.push(ARITHMETIC",
        "right operand is on top",
    ),
    (
        "right, left = self.pop(), self.pop()\n        self.push(COMPARISON",
        "left, right = self.pop(), self.pop()\n        self.push(COMPARISON",
        "COMPARE_OP",
    ),
    ("self.push(ARITHMETIC[sign](left, right))", "ARITHMETIC[sign](left, right)", "not pushed"),
    ("self.push((left is right) != bool(inverted))", "self.push(left is right)", "at IS_OP"),
    ("self.push(not self.pop())", "self.push(not self.stack[-1])", "left on the stack"),
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
    (
        "        if not self.pop():\n            self.jump(target)",
        "        if self.pop():\n            self.jump(target)",
        "where it should",
    ),
    (
        "self.push(next(self.stack[-1]))",
        "self.push(next(self.pop()))",
        "iterator stays below the item",
    ),
    (
        "            self.pop()\n            self.jump(after)",
        "            self.jump(after)",
        "FOR_ITER",
    ),
    (
        "        if not self.pop():\n            self.jump(target)",
        "        if not self.stack[-1]:\n            self.jump(target)",
        "left on the stack",
    ),
    (
        "        if self.pop() is None:\n",
        "        if not self.pop():\n",
        "jumped where it should fall through",
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
    (
        "values = [self.pop() for _ in range(count)][::-1]",
        "values = [self.pop() for _ in range(count)]",
        "last argument is on top",
    ),
    (
        "self.push(self.call(fn, *values[:split], **keywords))",
        "self.call(fn, *values[:split], **keywords)",
        "not pushed",
    ),
    ("*values[:split], **keywords", "*values", "and CPython"),
    (
        "key, container = self.pop(), self.pop()",
        "container, key = self.pop(), self.pop()",
        "BINARY_SUBSCR",
    ),
    (
        "self.push([self.pop() for _ in range(count)][::-1])",
        "self.push([self.pop() for _ in range(count)])",
        "last item is on top",
    ),
    ("self.push(getattr(self.pop(), name))", "self.push(getattr(self.stack[-1], name))", "left on"),
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
    (
        "self.push(self.cells[name])",
        "self.push(self.cells[name].cell_contents)",
        "LOAD_CLOSURE",
    ),
    (
        "self.cells[name].cell_contents = self.pop()",
        "self.local[name] = self.pop()",
        "CPython gave",
    ),
    ("for part in reversed(parts)", "for part in parts", "MAKE_FUNCTION"),
    ("self.push(self.function(code, **given))", "self.push(self.function(code))", "MAKE_FUNCTION"),
    ("self.push(self.function(code, **given))", "self.function(code, **given)", "not pushed"),
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
    (
        "self.push(self.handled)\n        self.push(error)",
        "self.push(error)\n        self.push(self.handled)",
        "PUSH_EXC_INFO",
    ),
    ("isinstance(self.stack[-1], wanted)", "isinstance(self.pop(), wanted)", "was not pushed"),
    ("self.push(isinstance(self.stack[-1], wanted))", "self.push(True)", "CHECK_EXC_MATCH"),
    ("        self.handled = self.pop()", "        self.pop()\n        self.pop()", "POP_EXCEPT"),
    ("raise error from cause[0]", "raise error", "CPython gave"),
    ("        self.handled = error\n", "", "RAISE_VARARGS"),
    ("        raise self.pop()\n", "        self.pop()\n", "RERAISE"),
)

STEP_EXERCISES = (NAMES, OPERATORS, JUMPS, CALLS, CLOSURES, EXCEPTIONS)
