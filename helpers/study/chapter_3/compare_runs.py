"""A learner's machine and a program -> how its run parts from CPython's, in words, or None.

Output, value and exception are compared with CPython's. Where they differ, the stacks before every
instruction are laid beside those that CPython itself kept, read from its memory, and the first
place where they part is told.
"""

import contextlib
import io
from dataclasses import dataclass

from helpers.capture.cpython.disassembly import instructions
from helpers.capture.cpython.opcode_recorder import Moment
from helpers.capture.cpython.value_stack import record
from helpers.capture.text.value import brief
from helpers.mini import vm
from helpers.study.check import Untried
from helpers.study.expect import said

MOST_STEPS = 20_000


class _Stub(vm.Halt):
    """A handler returned `...`: it is not written yet."""


class _TooLong(vm.Halt):
    """The machine goes on and on."""


@dataclass(frozen=True)
class Run:
    """What a run did: what it gave or raised, in words, and what it printed."""

    end: str
    printed: str


def difference(machine: type, program, *args) -> str | None:
    """Return how the machine's run of `program(*args)` differs from CPython's, or None.

    Untried if a handler returns `...`.
    """
    ours = []
    try:
        theirs = _run(watched(machine, ours)().run, program, *args)
    except (_Stub, vm.Unwritten):
        raise Untried from None
    except vm.Missing as missing:
        return str(missing)
    real, moments = _run(program, *args), plain_moments(program, args)
    called = f"{program.__name__}({', '.join(map(repr, args))})"
    if real.end != theirs.end:
        parting = _parting(ours, moments, program)
        return f"{called} {theirs.end}, and CPython {real.end}. {parting}"
    if real.printed != theirs.printed:
        return f"{called} printed {theirs.printed!r}, and CPython {real.printed!r}"
    if moments and ours != moments:
        parting = _parting(ours, moments, program)
        return f"{called} {theirs.end}, as in CPython, but by another way. {parting}"
    return None


def watched(machine: type, moments: list) -> type:
    """Return the machine with every instruction of its first frame written to `moments`.

    They are (offset, opname, stack).
    """
    count = iter(range(MOST_STEPS))

    def watching(name):
        def run_it(self, *arguments):
            if next(count, None) is None:
                raise _TooLong
            step = self.steps[self.at - 1]
            if self.back is None and step.first:
                moments.append((step.offset, name, tuple(map(brief, self.stack))))
            if getattr(super(Watched, self), name)(*arguments) is ...:
                raise _Stub

        return run_it

    names = vm.opcodes(machine)
    Watched = type("frame", (machine,), {name: watching(name) for name in names})  # noqa: N806
    return Watched


def _run(call, *args) -> Run:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            end = f"gave {brief(call(*args))}"
    except _TooLong:
        end = "gave nothing: it never ends"
    except vm.Halt:
        raise
    except Exception as error:
        end = f"raised {said(error)}"
    return Run(end, printed.getvalue())


def kept_by_cpython(fn, args) -> list[tuple[int, tuple[str, ...]]]:
    """Return (offset, stack) before every instruction of the first frame of `fn(*args)`.

    Read from CPython's memory, the NULLs left out.
    """
    run = record(fn, args, fold=False, most=MOST_STEPS)
    first = [m for m in run.moments if type(m) is Moment and m.activation.number == 1]
    if not first:
        return []
    tables, kept = first[0].activation.tables, []
    opnames = {i.offset: i.opname for i in instructions(tables.code)}
    for moment in (m for m in first if m.found is not None):
        told = _behind(moment.offset, opnames), _values(moment.found[len(tables.names) :])
        # An instruction with a prefix is told at the prefix, or at both.
        if kept[-1:] != [told] or opnames.get(moment.offset - 2) != "EXTENDED_ARG":
            kept.append(told)
    return kept


def _behind(offset, opnames):
    while opnames[offset] == "EXTENDED_ARG":
        offset += 2
    return offset


def _values(stack):
    return tuple(words for words in stack if words != "NULL")


def plain_moments(program, args) -> list:
    """Return what CPython kept, in the plain instructions' form: (offset, opname, stack)."""
    steps, _ = vm.plain(program.__code__)
    plain = {step.offset: step.opname for step in steps if step.first}
    named = {i.offset for i in instructions(program.__code__) if i.opname == "CALL_KW"}
    return [
        (offset, plain[offset], stack[:-1] if offset in named else stack)
        for offset, stack in kept_by_cpython(program, args)
        if offset in plain
    ]


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
    steps, _ = vm.plain(program.__code__)
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
