"""Two runs of a program, instruction by instruction -> where they part first, and what it means."""

from collections.abc import Callable
from typing import NamedTuple

from helpers.capture.text.error import said
from helpers.mini import vm


class Place(NamedTuple):
    """Before one instruction: number and name of the call, offset, plain name, the stack."""

    call: int
    function: str
    offset: int
    opname: str
    stack: tuple[str, ...]


def parting(trail, real: list[Place], program, own=(), mends: Callable = bool) -> str:
    """Return where the two runs part first, which handler ran there, and what that usually means.

    `trail` is that of the machine; `own` the handlers that may be to blame, or none for all.
    `mends(opname)` tells whether all would be well if this handler found its operands reversed.
    """
    ours = trail.places
    last = next((k for k, (a, b) in enumerate(zip(real, ours, strict=False)) if a != b), None)
    if last is None:
        last = min(len(real), len(ours))
    if last == 0:
        return "They part before the first instruction."
    opname, offset, is_last = _blamed(trail.handlers, last, own)
    before = ours[last - 1]
    inside = f" in {before.function}" if before.call and before.offset == offset else ""
    where = f"They part at {opname} (offset {offset}{inside})"
    if last >= len(ours) or last >= len(real):
        goes_on = opname == "FOR_ITER" and last < len(ours)
        advice = ONLY_STOP if goes_on else _order(opname, mends)
        return f"{where}, where one of the two ends. {advice}".strip()
    there, here = real[last], ours[last]
    if there.call != here.call and last in trail.raised:
        return f"{where}: yours raised {said(trail.raised[last])}"
    if there.call != here.call:
        return f"{where}: {_other_call(here, there, before)}"
    if not is_last:
        return f"{where}, or at what follows it: {_left(here, there)}"
    if there.offset != here.offset:
        jumped = here.offset != _next_offset(program, offset)
        went = f"it went on at {here.offset}, CPython at {there.offset}"
        return f"{where}: {went}. {_jump_advice(opname, jumped)}".strip()
    left = len(here.stack) - len(there.stack)
    return f"{where}: {_left(here, there)}. {_advice(opname, left, mends)}".strip()


def _blamed(handlers, last: int, own) -> tuple[str, int, bool]:
    """Return the last handler of the step before the two part, and whether it was the very last.

    What a handler of another step did since then, it did with what this one left.
    """
    ran = [(name, offset) for seen, name, offset in handlers if seen <= last]
    for back, (name, offset) in enumerate(reversed(ran)):
        if not own or name in own:
            return name, offset, back == 0
    return *ran[-1], True


def _other_call(here: Place, there: Place, before: Place) -> str:
    if there.call > before.call:
        return (
            f"CPython went on in {there.function}, in a frame of its own; yours had it run "
            "outside the machine. Let self.call make the call"
        )
    return f"it went on in {here.function}, CPython in {there.function}"


def _left(here: Place, there: Place) -> str:
    if there.offset != here.offset:
        return f"it went on at {here.offset}, CPython at {there.offset}"
    return f"it left {_stack(here.stack)}, CPython {_stack(there.stack)}"


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


ONLY_STOP = "Only a StopIteration ends the loop; let every other error through."
REVERSED = "what is popped comes in reverse order."
ORDER = {
    "BINARY_OP": "The right operand is on top, so it is popped first.",
    "COMPARE_OP": "The right operand is on top, so it is popped first.",
    "CONTAINS_OP": "The container is on top, so it is popped first.",
    "BINARY_SUBSCR": "The key is on top, so it is popped first.",
    "CALL": f"The last argument is on top: {REVERSED}",
    "BUILD_LIST": f"The last item is on top: {REVERSED}",
    "BUILD_TUPLE": f"The last item is on top: {REVERSED}",
}
PLACES = {
    "COPY": "COPY(1) means the top itself, COPY(2) the value below it.",
    "SWAP": "SWAP(n) exchanges the top with the n-th value from the top; what is between stays.",
}


def _advice(opname, left: int, mends) -> str:
    """Say what it usually means that so many values more were left than in CPython."""
    if opname == "FOR_ITER":
        return "The iterator stays below the item, and goes only when the loop ends."
    if left < 0:
        return "A value is missing: yours popped one too many, or a result was not pushed."
    if left > 0:
        return "There is a value too many: it was left on the stack, or pushed for nothing."
    return _order(opname, mends)


def _order(opname, mends) -> str:
    """Say in which order the operands lie, where that is what is wrong."""
    return ORDER[opname] if opname in ORDER and mends(opname) else PLACES.get(opname, "")
