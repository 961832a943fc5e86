"""A learner's machine and a program -> how its run parts from CPython's, in words, or None.

Output, value and exception are compared with CPython's. Where they differ, the stacks before every
instruction are laid beside those of the finished machine (`vm.trace`), and the first place where
they part is told.
"""

import contextlib
import io
from dataclasses import dataclass, field

from helpers.mini import ladder, vm
from helpers.mini.vm.record import words
from helpers.study.check import Untried
from helpers.study.expect import said

MOST_STEPS = 3000


class _Stub(BaseException):
    """A handler returned `...`: it is not written yet."""


class _TooLong(BaseException):
    """The machine goes on and on."""


@dataclass
class Run:
    """What a run did. `moments` are (offset, opname, stack) before every instruction."""

    value: str = ""
    raised: str = ""
    printed: str = ""
    moments: list = field(default_factory=list)

    @property
    def end(self) -> str:
        """What came of it, in words."""
        return f"raised {self.raised}" if self.raised else f"gave {self.value}"


def watched(machine: type, moments: list) -> type:
    """Return the machine with every instruction of its first frame written to `moments`."""

    class Watched(machine):
        def __init__(self):
            self.is_first = not moments
            moments.append(None) if self.is_first else None

        def __getattribute__(self, name):
            found = super().__getattribute__(name)
            if not name.isupper():
                return found
            step = self.steps[self.at - 1]
            if self.is_first and step.first:
                moments.append((step.offset, name, tuple(map(words, self.stack))))
            if len(moments) > MOST_STEPS:
                raise _TooLong
            return _refusing_stubs(found)

    return Watched


def _refusing_stubs(handler):
    def run_it(*arguments):
        if handler(*arguments) is ...:
            raise _Stub

    return run_it


def difference(machine: type, program, *args) -> str | None:
    """Return how the machine's run of `program(*args)` differs from CPython's, or None.

    Untried if a handler returns `...`.
    """
    try:
        theirs = _run_watched(machine, program, *args)
    except _Stub:
        raise Untried from None
    except ladder.Missing as missing:
        return str(missing)
    real, moments = _run(program, *args), truth(program, args)
    called = f"{program.__name__}({', '.join(map(repr, args))})"
    if (real.value, real.raised) != (theirs.value, theirs.raised):
        parting = _parting(theirs.moments, moments, program)
        return f"{called} {theirs.end}, and CPython {real.end}. {parting}"
    if real.printed != theirs.printed:
        return f"{called} printed {theirs.printed!r}, and CPython {real.printed!r}"
    if theirs.moments != moments:
        parting = _parting(theirs.moments, moments, program)
        return f"{called} {theirs.end}, as in CPython, but by another way. {parting}"
    return None


def _run(program, *args) -> Run:
    run, printed = Run(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            run.value = words(program(*args))
    except Exception as error:
        run.raised = said(error)
    run.printed = printed.getvalue()
    return run


def _run_watched(machine, program, *args) -> Run:
    moments = []
    run, printed = Run(moments=moments), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            run.value = words(watched(machine, moments)().run(program, *args))
    except ladder.Missing:
        raise
    except _TooLong:
        run.value = "nothing: it never ends"
    except Exception as error:
        run.raised = said(error)
    del moments[:1]
    run.printed = printed.getvalue()
    return run


def truth(program, args) -> list:
    """Return the moments of the finished machine, in the plain instructions' form."""
    steps, _ = ladder.plain(program.__code__)
    plain = {step.offset: step.opname for step in steps if step.first}
    with contextlib.redirect_stdout(io.StringIO()):
        traced = vm.trace(program, *args)
    return [
        (step.offset, plain[step.offset], _without_nulls(step))
        for step in traced.steps
        if step.depth == 0 and step.offset in plain
    ]


def _without_nulls(step):
    stack = step.stack[:-1] if step.opname == "CALL_KW" else step.stack
    return tuple(value for value in stack if value != "NULL")


def _parting(ours: list, real: list, program) -> str:
    """Return where the two runs part first, and what that usually means."""
    last = next((k for k, (a, b) in enumerate(zip(real, ours, strict=False)) if a != b), None)
    if last is None:
        last = min(len(real), len(ours))
    if last == 0:
        return "They part before the first instruction."
    offset, opname, _ = ours[last - 1]
    where = f"They part at {opname} (offset {offset})"
    if last >= len(ours) or last >= len(real):
        return f"{where}, where one of the two ends. {_advice(opname, (), ())}".strip()
    (there, _, expected), (here, _, got) = real[last], ours[last]
    if there != here:
        jumped = here != _next_offset(program, offset)
        return f"{where}: it went on at {here}, CPython at {there}. {_jump_advice(opname, jumped)}"
    shown = f"it left {_stack(got)}, CPython {_stack(expected)}"
    return f"{where}: {shown}. {_advice(opname, expected, got)}".strip()


def _next_offset(program, offset) -> int:
    """Return where the run goes on after an instruction that does not jump."""
    steps, _ = ladder.plain(program.__code__)
    return min((s.offset for s in steps if s.first and s.offset > offset), default=offset)


def _stack(values) -> str:
    return f"[{', '.join(values)}]"


def _jump_advice(opname, jumped) -> str:
    if opname == "FOR_ITER":
        return "FOR_ITER jumps only when the iterator has no next item."
    if "IF" in opname:
        did, should = ("jumped", "fall through") if jumped else ("fell through", "jump")
        return f"It {did} where it should {should}."
    return ""


ORDER = {
    "BINARY_OP": "The right operand is on top, so it is popped first.",
    "COMPARE_OP": "The right operand is on top, so it is popped first.",
    "CONTAINS_OP": "The container is on top, so it is popped first.",
    "BINARY_SUBSCR": "The key is on top, so it is popped first.",
    "CALL": "The last argument is on top: what is popped comes in reverse order.",
    "BUILD_LIST": "The last item is on top: what is popped comes in reverse order.",
    "BUILD_TUPLE": "The last item is on top: what is popped comes in reverse order.",
    "MAKE_FUNCTION": "The code is on top; below it lie the parts, the last one first to be popped.",
    "COPY": "COPY(1) means the top itself, COPY(2) the value below it.",
    "SWAP": "SWAP(2) exchanges the top with the value just below it.",
}


def _advice(opname, expected, got) -> str:
    if opname == "FOR_ITER":
        return "The iterator stays below the item, and goes only when the loop ends."
    if len(got) < len(expected):
        return "Something was not pushed: a result goes back on the stack."
    if len(got) > len(expected):
        return "Something was left on the stack that should have been popped."
    return ORDER.get(opname, "")
