"""What Dynamo reports while it translates -> events, graphs and skipped functions.

Nothing here makes Dynamo look at a value that it has not looked at yet.
"""

import sys
from collections import defaultdict, deque
from types import CodeType, FrameType
from weakref import WeakKeyDictionary

from ...internals import dynamo_codes, dynamo_settings, torch_private
from ...mini.frame_hook import installed
from ...safety import PACKAGE
from ...safety.users_frames import is_library
from ..cpython import disassembly
from ..cpython.bytecode import format_argument
from ..cpython.settrace import Printed
from .dynamo_events import GRAPH_SO_FAR, DynamoEvent
from .dynamo_growth import TranslationGrowth
from .dynamo_instructions import format_variable
from .dynamo_messages import (
    GRAPH_GLOBAL,
    RESUME_GLOBAL,
    format_file_line,
    split_resume_name,
)
from .fx_graph import build_fx_graph

# class of torch/_dynamo/exc.py -> the kind of event that its exception is
KINDS_BY_ERROR = {
    "RestartAnalysis": "start over",
    "SkipFrame": "skipped",
    "Unsupported": "given up",
}
SKIPPED = "Dynamo decided to skip the frame while tracing: "
# Reasons that are left out: another event says the first, a user can do nothing about the others.
UNSAID_REASONS = (
    "an error was suppressed during compilation",
    "frame is in the Dynamo skipfiles list",
    "frame is already Dynamo-generated code",  # that Dynamo does not compile again what it made
)

# Code -> line of a break -> why Dynamo leaves what follows to Python. Dynamo decides that once for
# a code object and says nothing at later runs, so the reasons outlive the run that heard them.
SKIPPED_RESTS: WeakKeyDictionary[CodeType, dict[int, str]] = WeakKeyDictionary()


class TranslationRecorder:
    """All events of one call, and how it ended.

    `dynamo_translation.report_translation` calls `before`, `after`, `broken`, `cut`, `given`,
    `rewritten` and `passed` while Dynamo translates. An error in one of them does not reach the
    user's call. Their argument `tx` is Dynamo's InstructionTranslator, which translates one frame.
    """

    def __init__(self, module_globals: dict, step_limit: int):
        """Prepare to record.

        `module_globals`: the globals of the function that is watched, whose module is followed
        although it may be a library's. `step_limit`: how many instructions are recorded.
        """
        # What happened.
        self.events: list[DynamoEvent] = []
        self.graphs: list = []  # that the backend got, as `Graph`
        self.skipped: dict[str, str] = {}  # function and place -> why Dynamo left it to Python
        self.is_cut_off = False  # whether there were more instructions than `step_limit`
        self.has_other_modules = False  # whether instructions of libraries were left out

        # How the call ended, which `record_translation` fills in.
        self.printed = Printed()
        self.value = None
        self.error: BaseException | None = None
        self.reading_error = ""  # the first error in a method of this class
        self.rewritten_as: list[CodeType] = []  # Dynamo's new codes for the function
        self.barred: list = []  # (code, action) of what Dynamo does not compile outside of this run
        self.left_out: list[CodeType] = []  # what Dynamo would skip after this run
        self.unsupported: list[str] = []  # messages without a place in a function
        self.shares_dynamo = False  # whether another thread compiled, too
        self.without_own_backend = False  # whether a backend of the user's was not called

        # How things are before the call.
        self.turned_off = dynamo_settings.find_setting_off()
        in_slot = installed()[0]
        # an error of torch may leave torch's evaluator in the interpreter's slot without a callback
        self.is_slot_stuck = in_slot.owner == "torch" and not torch_private.callback()

        # What is needed while events come in.
        self._module_globals = module_globals
        self._steps_left = step_limit
        self._followed: set[CodeType] = set()
        # An event by the id of its translator, from `before` an instruction to `after` it.
        self._open_events: dict[int, DynamoEvent] = {}
        # By the id of the translation's OutputGraph, which a growth keeps alive.
        self._growths: dict[int, TranslationGrowth] = {}
        # By the id of a code object: that code object, and its instruction, or None, for each of
        # Dynamo's. By id, as equal code objects differ in their positions.
        self._own_instructions: dict[int, tuple[CodeType, list]] = {}
        self._last_cause: BaseException | None = None  # what is about to break a graph
        self._last_break: DynamoEvent | None = None  # whose graph the backend may still get

    def passed(self, frame: FrameType, reason: str) -> None:
        """Note a frame that Dynamo leaves to Python, and its `reason`.

        Left out are frames whose reason another event tells, or of no use to a learner.
        """
        code = frame.f_code
        name, lineno = split_resume_name(code.co_name)
        reason = reason.removeprefix(SKIPPED).partition(". ")[0].replace("No ops", "no ops")
        package = str(frame.f_globals.get("__name__")).partition(".")[0]

        # of a special method, such as the one that reads an attribute, the reason tells nothing
        if reason in UNSAID_REASONS or name.startswith("__"):
            return
        if lineno:  # a resume function: the rest of a function after the break at that line
            reasons_by_line = SKIPPED_RESTS.setdefault(dynamo_codes.find_original_code(code), {})
            reasons_by_line[lineno] = reason
        elif package not in {"torch", PACKAGE, *sys.stdlib_module_names}:
            place = format_file_line(code.co_filename, code.co_firstlineno)
            self.skipped[f"{name}{place}"] = reason

    def given(self, graph_module) -> None:
        """Note a graph that the backend gets: that of the last break, if there was one."""
        if self._last_break is not None:
            self._last_break.empty = False
        self.graphs.append(build_fx_graph(graph_module, f"graph {len(self.graphs) + 1}"))

    def before(self, tx) -> None:
        """Note the instruction that the translator `tx` is about to translate."""
        if tx.instruction_pointer is None:  # it has not begun
            return

        # the user's functions are always followed, and so is the module of the function watched
        is_of_module = tx.f_globals is self._module_globals
        if not is_of_module and is_library(tx.f_code.co_filename):
            self.has_other_modules = True
            return

        self._followed.add(tx.f_code)
        self._steps_left -= 1
        if self._steps_left < 0:
            self.is_cut_off = True
        else:
            self._open_events[id(tx)] = self._add_instruction(tx)

    def after(self, tx, error: BaseException | None) -> None:
        """Complete the event of the instruction, and note what Dynamo decided because of `error`.

        `error` is the exception with which the handler of the instruction ended, or None.
        """
        event = self._open_events.pop(id(tx), None)
        if event is not None:
            self._complete_instruction(event, tx)

        message = _read_message(error)
        error_names = {kind.__name__ for kind in type(error).__mro__}
        if "TorchDynamoException" not in error_names:  # none, or an error of the program
            return

        kinds = (kind for name, kind in KINDS_BY_ERROR.items() if name in error_names)
        kind = next(kinds, "error")
        # Torch gives no reason there; what broke the graph is one.
        if kind == "start over" and message.startswith("Unknown fail_and_restart"):
            message = _read_message(self._last_cause) or message
        if event is not None:
            event.failed = message

        # an error of a function inside comes again from the one that called it
        if tx.parent is not None:
            return
        if kind == "given up":
            self._last_cause = error
            self._add_break(kind, tx, message, stack=())
        elif tx.f_globals is self._module_globals:
            self.events.append(DynamoEvent(kind, tx.f_code, tx.lineno or 0, message=message))

    def broken(self, error: BaseException) -> None:
        """Keep what breaks a graph, as Dynamo may start over before it ends that graph."""
        self._last_cause = error

    def cut(self, tx, reason) -> None:
        """Note that the graph of `tx` ends here: at a break, or because the function ends.

        `reason` is torch's `GraphCompileReason`, whose `graph_break` says which of the two.
        """
        self._last_break = None
        if reason.graph_break:
            # "step_unsupported" is all that torch says here: the reason came when it started over.
            is_unsaid = reason.reason == "step_unsupported" and self._last_cause is not None
            message = _read_message(self._last_cause) if is_unsaid else reason.reason
            self._add_break("break", tx, message, reason.user_stack)
        elif tx.f_globals is self._module_globals:
            graph = build_fx_graph(tx.output.graph, GRAPH_SO_FAR)
            self.events.append(DynamoEvent("graph", tx.f_code, tx.lineno or 0, graph=graph))

    def rewritten(self, old: CodeType, new: CodeType) -> None:
        """Note that Dynamo has made new code for a code object that was translated here."""
        # the rest that Dynamo once left to Python is compiled now
        _, resume_line = split_resume_name(old.co_name)
        SKIPPED_RESTS.get(dynamo_codes.find_original_code(old), {}).pop(resume_line, None)

        if old in self._followed:
            self.events.append(DynamoEvent("code", old, 0, message=_describe_new_code(old, new)))

    def _add_break(self, kind: str, tx, message: str, stack) -> None:
        """Add the event of a break, or of a function given up; `stack`: torch's, of its frames."""
        cause = self._last_cause
        self._last_cause = None  # the next break has a cause of its own
        frames = getattr(cause, "real_stack", None) or stack or ()
        is_one_graph = getattr(tx, "one_graph", False)
        is_error = getattr(tx, "error_on_graph_break", False)  # newer releases of torch have it

        self._last_break = DynamoEvent(
            kind,
            tx.f_code,
            tx.lineno or 0,
            message=message,
            cause=_read_message(cause) or message,
            graph=build_fx_graph(tx.output.graph, GRAPH_SO_FAR),
            inner=next(reversed(frames), None),
            empty=True,  # until the backend gets the graph
            raises=kind == "given up" and bool(is_one_graph or is_error),
        )
        self.events.append(self._last_break)

    def _add_instruction(self, tx) -> DynamoEvent:
        """Add the event of the instruction that `tx` is about to translate, and return it."""
        # Dynamo's own instruction, which has no positions if Dynamo added it
        instruction = tx.instructions[tx.instruction_pointer]
        own_instruction = self._find_own_instruction(tx)
        growth = self._growths.setdefault(id(tx.output), TranslationGrowth(tx.output))
        made, guarded_now = growth.read_new_lines()

        event = DynamoEvent(
            "instruction",
            tx.f_code,
            getattr(instruction.positions, "lineno", 0) or tx.lineno or 0,
            graph=growth.graph,
            offset=own_instruction.offset if own_instruction else -1,
            index=tx.instruction_pointer,
            opname=instruction.opname,
            argrepr=format_argument(own_instruction, tx.f_code) if own_instruction else "",
            positions=tuple(instruction.positions or (None,) * 4),
            # older releases of torch do not say where the prologue is
            prologue=bool(getattr(tx, "is_tracing_resume_prologue", False)),
            stack=tuple(map(format_variable, tx.stack)),
            guards=tuple(growth.guards),
            made=made,
            guarded=guarded_now,
        )
        self.events.append(event)
        return event

    def _complete_instruction(self, event: DynamoEvent, tx) -> None:
        """Write into the event of an instruction what came of it."""
        made, guarded_now = self._growths[id(tx.output)].read_new_lines()
        # Reading the lines before the instruction and after it tells which are due to it.
        event.made += made
        event.guarded += guarded_now
        event.result = format_variable(tx.stack[-1]) if tx.stack else ""
        event.entered = self.events[-1] is not event  # events of a function that it called
        event.jumped = tx.instruction_pointer != event.index + 1

    def _find_own_instruction(self, tx):
        """Return the code's own instruction for the one that `tx` translates, or None.

        Dynamo works on a list of its own, in which offsets are counted anew and instructions are
        added. An instruction is the code's own if name and position are equal; equal ones come in
        the same order.
        """
        code = tx.f_code
        if id(code) not in self._own_instructions:
            unmatched = defaultdict(deque)
            for instruction in disassembly.decode_instructions(code):
                unmatched[instruction.opname, instruction.positions].append(instruction)

            matches = []
            for instruction in tx.instructions:
                candidates = unmatched[instruction.opname, instruction.positions]
                matches.append(candidates.popleft() if candidates else None)
            self._own_instructions[id(code)] = code, matches

        _, matches = self._own_instructions[id(code)]
        return matches[tx.instruction_pointer]


def _read_message(error: BaseException | None) -> str:
    """Return the message of an error of Dynamo's, for which torch has several attributes."""
    for attribute in ("restart_reason", "msg"):
        message = getattr(error, attribute, None)
        if message:
            return message
    return str(error or "")


def _describe_new_code(old: CodeType, new: CodeType) -> str:
    """Return how long Dynamo's new code is, and whether it calls a graph and resume functions."""
    old_length = len(disassembly.decode_instructions(old))
    new_length = len(disassembly.decode_instructions(new))
    description = f"new code, {new_length} instructions instead of {old_length}"

    calls = []
    if any(map(GRAPH_GLOBAL.match, new.co_names)):
        calls.append("its graph")
    matches = filter(None, map(RESUME_GLOBAL.match, new.co_names))
    resume_functions = [f"the resume function at {match[1]}" for match in matches]
    if resume_functions:
        calls.append(" or ".join(resume_functions))

    if not calls:
        return description
    return f"{description}; it calls {', then '.join(calls)}"
