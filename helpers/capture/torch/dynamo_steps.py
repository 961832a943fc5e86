"""The events of Dynamo's translation -> the steps of an animation.

A step shows one instruction, with panels for the symbolic stack before it, the graph so far and the
guards so far. Two kinds of instructions have one step for many: those that Dynamo translates again
after it started over, and the prologue of a resume function, which restores the stack.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import FunctionType

from ...model.code_records import build_columns
from ...model.dynamo_records import Break, DynamoStep
from ...model.stage_records import Panel
from ...model.tables import Listing
from .dynamo_breaks import build_break, explain_event
from .dynamo_events import GRAPH_SO_FAR, DynamoEvent
from .dynamo_instructions import describe_instruction
from .dynamo_messages import group_guards, split_message, split_resume_name
from .dynamo_places import ShownCode, qualified_name

MOST_GUARDS = 12  # of the newest guards in a panel
RETURNED = "the function ends here: its graph goes to the backend"
REPEATED = "the same {} instructions again"
PROLOGUE = "{} instructions restore the stack and jump to where the code stopped"
# kind of event -> the beginning of its step's label
LABELS = {
    "start over": "start over, and stop before this instruction",
    "break": "graph break",
    "given up": "given up, Python runs the whole function",
    "skipped": "nothing to compile, Python runs the function",
    "error": "Dynamo raises",
}


@dataclass(frozen=True)
class Line:
    """One row of the table in a panel."""

    #: the row's number as text, from "1"
    place: str
    #: the text of the row
    words: str


class StepBuilder:
    """Builds the steps of a run, and collects its graph breaks in `breaks`."""

    def __init__(self, function: FunctionType, shown: ShownCode):
        """Begin without steps.

        Parameters
        ----------
        function : FunctionType
            The function that the user watches.
        shown : ShownCode
            The sources that the exhibit shows, in which each step has its line.
        """
        self._function_name = qualified_name(function.__code__)
        self._shown = shown
        self.breaks: list[Break] = []

    def build_steps(self, events: Sequence[DynamoEvent]) -> Iterator[DynamoStep]:
        """Yield the steps for all events; several instructions may have one step together."""
        index = 0  # of the first event that has no step yet
        # The instructions that Dynamo is about to translate again, if it has just started over.
        earlier_try: Sequence[DynamoEvent] = ()

        while index < len(events):
            event = events[index]
            if event.kind != "instruction":
                is_restart = event.kind == "start over"
                earlier_try = _find_last_instructions(events[:index]) if is_restart else ()
                yield self._build_decision(event)
                index += 1
                continue

            remaining = events[index:]
            repeated_count = _count_repeated(remaining, earlier_try)
            prologue_count = 0 if repeated_count else _count_prologue(remaining)
            earlier_try = ()  # only the instructions right after a restart are repeated ones
            if repeated_count:
                yield self._build_group(remaining[:repeated_count], REPEATED)
                index += repeated_count
            elif prologue_count:
                yield self._build_group(remaining[:prologue_count], PROLOGUE)
                index += prologue_count
            else:
                yield self._build_instruction(event)
                index += 1

    def _build_step(self, event: DynamoEvent, label: str, **fields) -> DynamoStep:
        """Return a step at the line of an event.

        The label begins with the function's name, such as `helper · 4 LOAD_FAST x`, unless it is
        the function that the user watches. `fields` are further fields of `DynamoStep`.
        """
        function = self._shown.name_function(event.code)
        line = self._shown.find_line(event.code, event.lineno)
        if function != self._function_name:
            # `step, resumed after line 3` is shortened to `resumed after line 3`.
            inner_name = function.removeprefix(f"{self._function_name}, ")
            label = f"{inner_name} · {label}"
        return DynamoStep(label, line, function=function, **fields)

    def _build_group(self, events: Sequence[DynamoEvent], label: str) -> DynamoStep:
        """Return one step for several instructions.

        `label` is the text of the step, with `{}` for the number of instructions.
        """
        node_lines = tuple(line for event in events for line in event.node_lines)
        new_guards = tuple(guard for event in events for guard in event.new_guards)
        last_event = events[-1]
        return self._build_step(
            last_event,
            label.format(len(events)),
            kind="again",
            lane=_choose_lane(node_lines, new_guards),
            made=node_lines,
            guarded=new_guards,
            panels=_build_progress_panels(last_event),
        )

    def _build_instruction(self, event: DynamoEvent) -> DynamoStep:
        """Return the step of one instruction, with a label such as `4 LOAD_FAST x`."""
        failure = ""
        if event.failure:
            cause, _ = split_message(event.failure)
            failure = f"cannot be translated: {cause}"

        name = f"{event.opname} {event.argrepr}".rstrip()
        label = name
        if event.offset >= 0:  # an instruction that Dynamo added has no offset in the code
            label = f"{event.offset} {label}"
        if failure:
            label = f"{label} · {failure}"

        stack_panel = _build_stack_panel(event.stack)
        return self._build_step(
            event,
            label,
            lane="break" if failure else _choose_lane(event.node_lines, event.new_guards),
            short=name,
            span=self._shown.find_span(event.code, event.positions),
            says=describe_instruction(event, failure),
            panels=(stack_panel, *_build_progress_panels(event)),
            opname=event.opname,
            argrepr=event.argrepr,
            stack=event.stack,
            made=event.node_lines,
            guarded=event.new_guards,
        )

    def _build_decision(self, event: DynamoEvent) -> DynamoStep:
        """Return the step of a decision of Dynamo's; add a graph break to `breaks`."""
        if event.kind in ("graph", "code"):  # the function is translated to its end
            label = event.message or RETURNED
            explanation = ""
            lane = "hand over"
        else:
            cause, explanation = explain_event(event)
            label = f"{LABELS[event.kind]}: {cause}"
            lane = "break"
        if event.kind in ("break", "given up"):
            self.breaks.append(build_break(event, self._shown))

        panels = []
        if explanation:
            panels.append(Panel("why", explanation))
        if event.kind in ("break", "graph"):
            panels.append(Panel("the graph passed to the backend", event.graph))
        return self._build_step(
            event,
            label,
            panels=tuple(panels),
            says=explanation,
            lane=lane,
            kind=event.kind,
            ending=explanation,
        )


def _find_last_instructions(events: Sequence[DynamoEvent]) -> list[DynamoEvent]:
    """Return the instructions after the last decision in `events`, in their order."""
    newest_first = takewhile(lambda event: event.kind == "instruction", reversed(events))
    return [*newest_first][::-1]


def _count_repeated(events: Sequence[DynamoEvent], earlier_try: Sequence[DynamoEvent]) -> int:
    """Return how many of the next events repeat instructions that Dynamo translated before.

    Parameters
    ----------
    events : sequence of DynamoEvent
        The events after Dynamo started over.
    earlier_try : sequence of DynamoEvent
        The instructions before Dynamo started over; empty if it has not.
    """
    count = 0
    # strict=False, because one try may be longer than the other
    for event, earlier in zip(events, earlier_try, strict=False):
        if (event.kind, event.code, event.offset) != (earlier.kind, earlier.code, earlier.offset):
            break
        count += 1

    # If a decision follows, the last repeated instruction led to it. That one has its own step.
    is_decision_next = count < len(events) and events[count].kind != "instruction"
    if count and is_decision_next:
        return count - 1
    return count


def _count_prologue(events: Sequence[DynamoEvent]) -> int:
    """Return how many of the next instructions are the prologue of a resume function.

    A resume function runs the rest of a function after a graph break. Its prologue comes before the
    function's own code: it restores the stack and jumps to where the function stopped. The count is
    0 if `events` do not begin with the first instruction of a resume function.
    """
    code = events[0].code
    _, resume_lineno = split_resume_name(code.co_name)
    if events[0].offset or not resume_lineno:
        return 0

    instructions = [
        *takewhile(lambda event: event.kind == "instruction" and event.code is code, events),
    ]
    marked_indices = [index for index, event in enumerate(instructions) if event.is_prologue]
    if not marked_indices:  # an older torch does not mark the prologue
        return 0

    # The jump belongs to the prologue, but torch does not mark it.
    count = marked_indices[-1] + 1
    has_jump = count < len(instructions) and instructions[count].opname.startswith("JUMP")
    return count + 1 if has_jump else count


def _choose_lane(node_lines: Sequence[str], new_guards: Sequence[str]) -> str:
    """Return the lane in which the animation shows an instruction.

    A lane is one row of the picture. An instruction that added nodes is in the row of the graph,
    one that added only guards in that of the guards, and any other in that of the stack.
    """
    if node_lines:
        return "graph"
    if new_guards:
        return "guard"
    return "stack"


def _build_progress_panels(event: DynamoEvent) -> tuple[Panel, Panel]:
    """Return two panels: the graph so far, and the guards so far."""
    graph = event.graph if event.graph.nodes else "empty"
    return Panel(GRAPH_SO_FAR, graph), _build_guards_panel(group_guards(event.guards))


def _build_stack_panel(values: Sequence[str]) -> Panel:
    """Return the symbolic stack as a panel: a numbered row for each value, the top first.

    `values` has a text for each value, the top of the stack last.
    """
    shown_columns = build_columns("words", place="place", words="value")
    rows = _build_numbered_lines(values)
    note = "" if values else "empty"
    title = "symbolic stack"
    return Panel(title, Listing(title, shown_columns, tuple(reversed(rows)), note))


def _build_guards_panel(guards: Sequence[str]) -> Panel:
    """Return the newest guards as a panel, the last one first.

    At most `MOST_GUARDS` are shown. A note says how many lines are left out.
    """
    rows = _build_numbered_lines(guards)
    note = "" if guards else "empty"
    left_out = rows[:-MOST_GUARDS]
    if left_out:
        rows = rows[-MOST_GUARDS:]
        note = f"Earlier steps show the {len(left_out):,} lines before these."
    title = "guards so far"
    shown_columns = build_columns("words", words="newest first")
    return Panel(title, Listing(title, shown_columns, tuple(reversed(rows)), note))


def _build_numbered_lines(lines: Sequence[str]) -> list[Line]:
    """Return a row for each text, numbered from 1."""
    return [Line(str(number), line) for number, line in enumerate(lines, 1)]
