"""The events of a translation -> the steps that a learner plays.

Each step is one instruction with the symbolic stack before it, the graph and the guards so far.
Instructions that only repeat or prepare something become one step.
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
    """One line of a panel."""

    #: its number, from 1
    place: str
    #: what it says
    words: str


class StepBuilder:
    """Builds the steps of a run, and the graph breaks that are met on the way."""

    def __init__(self, function: FunctionType, shown: ShownCode):
        """`function`: what the user watches; `shown`: the sources in which steps have lines."""
        self._function_name = qualified_name(function.__code__)
        self._shown = shown
        self.breaks: list[Break] = []

    def build_steps(self, events: Sequence[DynamoEvent]) -> Iterator[DynamoStep]:
        """Yield the steps for all events; several instructions may have one step together."""
        index = 0
        earlier_try: Sequence[DynamoEvent] = ()

        while index < len(events):
            event = events[index]
            if event.kind != "instruction":
                # After a restart Dynamo translates again what it had done: shown as one step.
                is_restart = event.kind == "start over"
                earlier_try = _find_earlier_try(events[:index]) if is_restart else ()
                yield self._build_decision(event)
                index += 1
                continue

            remaining = events[index:]
            repeated_count = _count_repeated(remaining, earlier_try)
            prologue_count = 0 if repeated_count else _count_prologue(remaining)
            earlier_try = ()
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
        """Return a step at the line of an event; `fields` are further ones of `DynamoStep`.

        The label begins with the function, unless that is the one which the user watches.
        """
        function = self._shown.name_function(event.code)
        line = self._shown.find_line(event.code, event.lineno)
        if function != self._function_name:
            inner_name = function.removeprefix(f"{self._function_name}, ")
            label = f"{inner_name} · {label}"
        return DynamoStep(label, line, function=function, **fields)

    def _build_group(self, events: Sequence[DynamoEvent], label: str) -> DynamoStep:
        """Return one step for several instructions; `label` has a place for their number."""
        made = tuple(line for event in events for line in event.made)
        guarded = tuple(guard for event in events for guard in event.guarded)
        last = events[-1]
        return self._build_step(
            last,
            label.format(len(events)),
            kind="again",
            lane=_choose_lane(made, guarded),
            made=made,
            guarded=guarded,
            panels=_build_progress_panels(last),
        )

    def _build_instruction(self, event: DynamoEvent) -> DynamoStep:
        """Return the step of one instruction."""
        cause = ""
        if event.failed:
            cause = f"cannot be translated: {split_message(event.failed)[0]}"

        name = f"{event.opname} {event.argrepr}".rstrip()
        label = name
        if event.offset >= 0:  # Dynamo added the others, so they have no offset in the code
            label = f"{event.offset} {label}"
        if cause:
            label = f"{label} · {cause}"

        stack_panel = _build_stack_panel(event.stack)
        return self._build_step(
            event,
            label,
            lane="break" if cause else _choose_lane(event.made, event.guarded),
            short=name,
            span=self._shown.find_span(event.code, event.positions),
            says=describe_instruction(event, cause),
            panels=(stack_panel, *_build_progress_panels(event)),
            opname=event.opname,
            argrepr=event.argrepr,
            stack=event.stack,
            made=event.made,
            guarded=event.guarded,
        )

    def _build_decision(self, event: DynamoEvent) -> DynamoStep:
        """Return the step of what Dynamo did between two instructions; note a break."""
        if event.kind in ("graph", "code"):
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


def _find_earlier_try(events: Sequence[DynamoEvent]) -> list[DynamoEvent]:
    """Return the instructions at the end of these events, in the order in which they came."""
    newest_first = takewhile(lambda event: event.kind == "instruction", reversed(events))
    return [*newest_first][::-1]


def _count_repeated(events: Sequence[DynamoEvent], earlier_try: Sequence[DynamoEvent]) -> int:
    """Return how many instructions repeat the try before a restart.

    `events` begin with the new try, and `earlier_try` are the instructions of the one before. The
    instruction at which the new try stops is not counted, so that it has a step of its own.
    """
    count = 0
    for event, earlier in zip(events, earlier_try, strict=False):  # a try may be longer
        if (event.kind, event.code, event.offset) != (earlier.kind, earlier.code, earlier.offset):
            break
        count += 1

    stops_here = count < len(events) and events[count].kind != "instruction"
    if count and stops_here:
        return count - 1
    return count


def _count_prologue(events: Sequence[DynamoEvent]) -> int:
    """Return how many instructions from here on are the prologue of a resume function.

    Dynamo puts the prologue in front of the function's own code, to restore the stack. The count is
    0 where `events` do not begin with the first instruction of a resume function.
    """
    code = events[0].code
    _, resume_lineno = split_resume_name(code.co_name)
    if events[0].offset or not resume_lineno:
        return 0

    instructions = [
        *takewhile(lambda event: event.kind == "instruction" and event.code is code, events),
    ]
    indices = [index for index, event in enumerate(instructions) if event.prologue]
    if not indices:
        return 0

    # The jump to where the code stopped belongs to the prologue, but is not marked by torch.
    count = indices[-1] + 1
    has_jump = count < len(instructions) and instructions[count].opname.startswith("JUMP")
    return count + 1 if has_jump else count


def _choose_lane(made: Sequence[str], guarded: Sequence[str]) -> str:
    """Return the lane of the stage in which an instruction is: what it changed most visibly."""
    if made:
        return "graph"
    if guarded:
        return "guard"
    return "stack"


def _build_progress_panels(event: DynamoEvent) -> tuple[Panel, Panel]:
    """Return the panels of the graph so far and of the guards so far."""
    graph = event.graph if event.graph.nodes else "empty"
    return Panel(GRAPH_SO_FAR, graph), _build_guards_panel(group_guards(event.guards))


def _build_stack_panel(values: Sequence[str]) -> Panel:
    """Return the symbolic stack as a panel, the top first, with the place of each value."""
    shown_columns = build_columns("words", place="place", words="value")
    rows = _build_numbered_lines(values)
    note = "" if values else "empty"
    title = "symbolic stack"
    return Panel(title, Listing(title, shown_columns, tuple(reversed(rows)), note))


def _build_guards_panel(guards: Sequence[str]) -> Panel:
    """Return the newest guards as a panel, the last one first; the note counts the others."""
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
    """Return the lines with their numbers from 1."""
    return [Line(str(number), line) for number, line in enumerate(lines, 1)]
