"""A timeline -> its *script*: plain data that the page plays step by step.
Texts, values, cards and panels that recur in steps are in the script only once, in a list (a
*pool*). A step has the position of a text in its pool, not the text. A *card* shows one call that
has not ended. A *lane* is a kind of step, such as `load`.
"""

import json
from collections.abc import Sequence

from ...model.dynamo_records import DynamoStep
from ...model.stack_records import LANES, Code, StackStep, Value
from ...model.stage_records import NOWHERE, Card, FrameStep, Panel, Span, Step, Timeline
from ..ceilings import cut_text, limit_rows, list_source_lines
from ..plain_text import escape_invisible, escape_to_one_line, join_nonempty
from .stage_picture import draw_steps
from .timeline_page import PRINTED_TITLES, WHERE_ALL_STEPS, describe_note, draw_panel, get_heading

MOST_BYTES = 700_000  # of a script as JSON
LAZY = " (lazy)"  # the end of a symbolic value that Dynamo has not looked at yet
TAB_WIDTH = 4
INSTRUCTION = "instruction"  # the only kind of a Dynamo step that has a stack

# The titles of panels whose content a stage shows elsewhere: on the value stack, or on cards.
STACK_PANELS = {
    "value stack",
    "value stack (recomputed)",
    "symbolic stack",
    "locals",
    "on an exception",
    "why",  # the sentence of the step says the same
}
CARD_PANELS = {"frames on the stack", "frames off the stack, kept by generators"}


def to_json(value: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stage_script(model: Timeline) -> dict:
    """Return the script of a timeline: the source, the steps, and the pools of what recurs.

    Steps at the end are left out until the script is small enough for a page.
    """
    step_count = len(model.steps)
    while True:
        script = _write_script(model, step_count)
        size = len(to_json(script).encode())
        if size <= MOST_BYTES or step_count <= 1:
            return script
        # So many would fit if all steps were equally large; the next round measures the result.
        fitting_count = step_count * MOST_BYTES // size
        step_count = max(1, min(step_count - 1, fitting_count))


def _write_script(model: Timeline, step_count: int) -> dict:
    """Return the script of the first `step_count` steps of a timeline."""
    _, left_out_note = limit_rows(model.steps, WHERE_ALL_STEPS, "Steps", step_count)
    writer = _ScriptWriter(model, model.steps[:step_count])
    return {
        "title": escape_to_one_line(model.title),
        "note": join_nonempty(describe_note(model), left_out_note),
        "lines": list_source_lines(model),
        "numbers": model.numbers,
        **writer.list_parts(),
    }


class _Pool:
    """Texts, values, cards or panels of a script, each once; a step has only their numbers.

    The number of an item is its position, because each new item gets the next number.
    """

    def __init__(self):
        self._numbers: dict = {}  # item -> its number

    def __iter__(self):
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, item) -> int:
        """Return the number of an item, which is added if it is new."""
        return self._numbers.setdefault(item, len(self._numbers))

    def find(self, item) -> int | None:
        """Return the number of an item, or None if it is not in the pool."""
        return self._numbers.get(item)

    def add_as(self, item, number: int) -> None:
        """Give an item the number of another one, unless it has a number already."""
        self._numbers.setdefault(item, number)


class _ScriptWriter:
    """Writes the steps of a script, and collects what recurs in them; see `list_parts`."""

    def __init__(self, model: Timeline, steps: Sequence[Step]):
        """Begin the script of `steps`, which are the first steps of the timeline `model`."""
        self._steps = steps
        self._source = model.source.split("\n")
        # The functions that the run entered; only a StackRun has them.
        self._codes: tuple[Code, ...] = getattr(model, "codes", ())
        # For each function: name of a variable -> its position among the locals of a step.
        self._slots = [_number_names(code) for code in self._codes]
        self._lanes = _list_lanes(steps)
        self._picture = draw_steps(model, steps)
        # All that the program prints. The output so far is mostly a beginning of it, so a step has
        # only the length of this beginning.
        self._all_printed = max((_find_printed(step) for step in steps), key=len, default="")

        self._words = _Pool()
        self._values = _Pool()
        self._cards = _Pool()
        self._panels = _Pool()
        # Symbolic values on a stack, as (function, position on the stack, text). A value that has
        # the same number as at the step before is the same value, which the page does not move.
        self._symbols = _Pool()
        self._stack_before: tuple[str, ...] = ()  # the texts on the stack at the step before

    def list_parts(self) -> dict:
        """Return the parts of the script: the steps, what they share, and the pools."""
        # The steps come first, because writing them fills the pools.
        steps = [self._write_step(number, step) for number, step in enumerate(self._steps)]
        return {
            "words": list(self._words),
            "values": list(self._values),
            "cards": list(self._cards),
            "panels": list(self._panels),
            "total": len(steps),
            "steps": steps,
            "codes": [self._write_code(code) for code in self._codes],
            "lanes": [lane or "step" for lane in self._lanes],  # the only lane may have no name
            "picture": self._picture.describe() if self._picture else None,
            "printed": escape_invisible(self._all_printed),
        }

    def _write_code(self, code: Code) -> dict:
        """Return a function that the run entered: its name, its instructions, its variables.

        A row is an instruction: offset, name, argument, lane, place in the source, jump target.
        """
        rows = []
        for row in code.rows:
            argument = escape_to_one_line(row.argument)
            lane = LANES.index(row.lane)
            span = self._measure_span(row.span)
            rows.append([row.offset, row.opname, argument, lane, span, row.target])
        return {
            "name": escape_to_one_line(code.function),
            "depth": code.depth,
            "rows": rows,
            "names": [escape_to_one_line(name) for name in code.names],
        }

    # -- a step ------------------------------------------------------------------------------------

    def _write_step(self, number: int, step: Step) -> dict:
        """Return step `number` as plain data, in which a text is its position in the pool."""
        script = {
            "line": step.line,  # the line that runs next
            "span": self._measure_span(step.span),  # the part of the source that runs next
            "left": step.left,  # the line that the run jumped away from, if it jumped
            "label": self._number_text(cut_text(step.label)),
            "says": self._number_text(cut_text(step.says)),
            "short": self._number_text(cut_text(step.short or step.label)),
            # The position of the step's lane, a kind of step such as `load`; -1 for none.
            "lane": self._lanes.index(step.lane) if step.lane in self._lanes else -1,
            # How the run left the line `left`, such as `just raised`.
            "deed": self._number_text(step.deed),
        }
        if self._all_printed:  # the run printed something
            script["printed"] = self._write_printed(_find_printed(step))
        if isinstance(step, StackStep | DynamoStep):  # only these steps have a value stack
            script |= self._write_stack(step)
        script |= self._write_cards(step)
        if self._picture:  # one picture for all steps; a step has the states of its parts
            script["picture"] = self._picture.encode_states(number)

        panels = self._write_panels(step)
        if panels:
            script["panels"] = panels
        return script

    def _write_printed(self, printed: str) -> int | list[int]:
        """Return the output up to a step as its length, if it is a beginning of all output.

        The length is in UTF-16 units. If a step has other output, a list with the position of the
        text in its pool is returned instead.
        """
        if self._all_printed.startswith(printed):
            return _count_units(escape_invisible(printed))
        return [self._number_text(printed)]

    def _write_cards(self, step: Step) -> dict:
        """Return the calls that have not ended, as positions of cards; {} for a step without calls.

        The `shelf` has calls that are suspended, such as those of generators. `handed` is the text
        of the value that the step passes to the caller's frame.
        """
        if isinstance(step, StackStep):
            callers = [self._number_card(card) for card in step.callers]
            return {"callers": callers, "shelf": [self._number_card(card) for card in step.shelf]}
        if isinstance(step, FrameStep):
            return {
                "cards": [self._number_card(card) for card in step.cards],
                "shelf": [self._number_card(card) for card in step.shelf],
                "handed": self._number_text(cut_text(step.handed)),
            }
        return {}

    def _write_panels(self, step: Step) -> list[tuple[str, int]]:
        """Return for each panel of a step its heading, and the position of its HTML in the pool.

        A panel is left out if the page shows its content elsewhere: in the picture, on the value
        stack, as a card, or as output.
        """
        titles_elsewhere = set()
        if self._picture:  # one picture of the graphs that panels of these titles show
            titles_elsewhere.update(self._picture.titles)
        if isinstance(step, StackStep | DynamoStep):
            titles_elsewhere |= STACK_PANELS
        if isinstance(step, FrameStep):
            titles_elsewhere |= CARD_PANELS

        panels = []
        for panel in step.panels:
            if panel.title not in titles_elsewhere and not _is_output(panel):
                content = self._panels.add(draw_panel(panel, "html"))
                panels.append((escape_invisible(get_heading(panel)), content))
        return panels

    # -- the value stack ---------------------------------------------------------------------------

    def _write_stack(self, step: StackStep | DynamoStep) -> dict:
        """Return the value stack of a step, and what else is known of the instruction that ran.

        The dict is empty for a step without a stack: one that stands for steps that were left out,
        or for something that Dynamo did between two instructions.
        """
        if isinstance(step, DynamoStep):
            if step.kind != INSTRUCTION:
                return {}
            # Dynamo's values are symbolic, so there are no values but the texts on the stack.
            return {**self._write_values(step, ()), "call": self._number_text(step.function)}
        if step.left_out:
            return {}

        script = self._write_values(step, step.values)
        if step.code < 0:  # the instructions of this function were not recorded
            script["call"] = self._number_text(step.function)
            return script

        return {
            **script,
            "code": step.code,
            "offset": step.offset,
            "call": step.call,
            "locals": self._write_locals(step),
            "handler": self._number_text(step.handler),
            "ending": self._number_text(step.ending),
            "raised": step.raised,
        }

    def _write_values(self, step: StackStep | DynamoStep, values: Sequence[Value]) -> dict:
        """Return the stack as positions in the pool of values, and how many of them the step pops.

        Without `values`, the stack is known only by its texts, and its values are symbolic.
        """
        if not values:
            values = self._make_symbolic_values(step.function, step.stack)
        numbers = [self._number_value(value) for value in values]
        return {"stack": numbers, "taken": getattr(step, "taken", 0)}

    def _write_locals(self, step: StackStep) -> list[int]:
        """Return for each variable of the function the position of its value; -1 for no value."""
        slots = self._slots[step.code]
        numbers = [-1] * len(slots)
        for (name, _), value in zip(step.names, step.variables, strict=True):
            numbers[slots[name]] = self._number_value(value)
        return numbers

    def _make_symbolic_values(self, function: str, stack: tuple[str, ...]) -> list[Value]:
        """Return a value for each text on a stack of Dynamo.

        Equal texts at the same position of the stack of a function get the same key.
        """
        keys = [self._find_symbol(function, position, stack) for position in range(len(stack))]
        self._stack_before = stack
        return [Value(words, key=key) for words, key in zip(stack, keys, strict=True)]

    def _find_symbol(self, function: str, position: int, stack: tuple[str, ...]) -> int:
        """Return the key of the symbolic value at a position of the stack.

        A lazy value loses its ending ` (lazy)` once Dynamo looks at it, and may then have a quite
        different text. It is still the same value, so it keeps its key.
        """
        words = stack[position]
        symbol = (function, position, words.removesuffix(LAZY))
        words_before = ""
        if position < len(self._stack_before):
            words_before = self._stack_before[position]

        # On the top of the stack, a different text may be another value, which was pushed. So may
        # NULL at any position.
        is_top = position == len(stack) - 1
        was_lazy = words_before.endswith(LAZY)
        if was_lazy and not is_top and words != "NULL":
            symbol_before = (function, position, words_before.removesuffix(LAZY))
            number = self._symbols.find(symbol_before)
            if number is not None:
                self._symbols.add_as(symbol, number)
        return self._symbols.add(symbol)

    # -- pools -------------------------------------------------------------------------------------

    def _number_text(self, text: str) -> int:
        """Return the position of a text in its pool, to which a new text is added."""
        return self._words.add(escape_to_one_line(text))

    def _number_value(self, value: Value) -> int:
        """Return the position of a value in its pool, to which a new value is added."""
        words = self._number_text(value.words)  # a position in the pool of texts, as are the others
        kind = self._number_text(value.kind)
        same = self._number_text(value.same)
        return self._values.add((words, kind, same, value.key))

    def _number_card(self, card: Card) -> int:
        """Return the position of a card in its pool, to which a new card is added."""
        function = self._number_text(card.function)
        state = self._number_text(card.state)
        names = [(self._number_text(name), self._number_text(words)) for name, words in card.names]
        stack = [self._number_text(words) for words in card.stack]
        return self._cards.add(
            (card.number, function, card.line, state, tuple(names), tuple(stack))
        )

    def _measure_span(self, span: Span) -> list[int] | None:
        """Return [line, column, end line, end column] of a span; None if it is not in the source.

        The columns are those of the page: a tab is four wide, and a letter is a unit of UTF-16.
        """
        line, column, end_line, end_column = span
        if span == NOWHERE or end_line > len(self._source):
            return None
        start = self._measure_column(line, column)
        end = self._measure_column(end_line, end_column)
        return [line, start, end_line, end]

    def _measure_column(self, line: int, column: int) -> int:
        """Return the column of the page for a column of a line of the source."""
        before = self._source[line - 1][:column]
        return _count_units(escape_to_one_line(before.expandtabs(TAB_WIDTH)))


def _number_names(code: Code) -> dict[str, int]:
    """Return name of a variable of a function -> its position among the function's variables."""
    return {name: number for number, name in enumerate(code.names)}


def _list_lanes(steps: Sequence[Step]) -> list[str]:
    """Return the lanes of the steps, those of instructions first, in the order of `LANES`.

    If no step has a lane, the list is `[""]`, because then all steps share one lane without a name.
    """
    lanes = dict.fromkeys(step.lane for step in steps if step.lane)

    def rank_lane(lane: str) -> int:
        """Return the position of a lane of instructions; other lanes are behind all of them."""
        return LANES.index(lane) if lane in LANES else len(LANES)

    return sorted(lanes, key=rank_lane) or [""]


def _count_units(text: str) -> int:
    """Return how many units of UTF-16 a text has, which is what JavaScript counts."""
    return len(text.encode("utf-16-le")) // 2


def _is_output(panel: Panel) -> bool:
    """Return whether a panel shows what the program printed."""
    return panel.title in PRINTED_TITLES and type(panel.content) is str


def _find_printed(step: Step) -> str:
    """Return what the program has printed up to this step, from the step's panel of output."""
    for panel in step.panels:
        if _is_output(panel):
            return panel.content
    return ""
