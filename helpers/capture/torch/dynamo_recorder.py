"""What Dynamo reports while it translates a function -> a list of events, graphs and skips.

Dynamo translates the bytecode of a function one instruction at a time. Before and after each
instruction, and at each graph break, it calls a method of the recorder.

The recorder reads values in such a way that Dynamo does not look at one that it has not needed yet.
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

# Code object of a function -> line of a graph break in it -> why Dynamo leaves the rest of the
# function to Python. Dynamo says why only once for a code object, and nothing in later runs. So the
# reasons are kept longer than a run.
SKIPPED_RESTS: WeakKeyDictionary[CodeType, dict[int, str]] = WeakKeyDictionary()


class TranslationRecorder:
    """All events of one call, and how the call ended.

    `dynamo_translation.report_translation` calls the public methods while Dynamo translates. An
    error in one of them does not reach the user's call. The argument `tx` is Dynamo's
    InstructionTranslator, which translates one frame.
    """

    def __init__(self, module_globals: dict, step_limit: int):
        """Prepare to record.

        Parameters
        ----------
        module_globals : dict
            The globals of the function that is watched. Instructions of functions in this module
            are recorded, even if the module belongs to a library.
        step_limit : int
            How many instructions are recorded.
        """
        # What happened.
        self.events: list[DynamoEvent] = []
        self.graphs: list = []  # the graphs that the backend got, as `Graph`
        self.skipped: dict[str, str] = {}  # function and place -> why Dynamo left it to Python
        self.is_cut_off = False  # whether there were more instructions than `step_limit`
        self.has_other_modules = False  # whether instructions of libraries were left out

        # How the call ended, which `record_translation` fills in.
        self.printed = Printed()
        self.value = None
        self.error: BaseException | None = None
        self.reading_error = ""  # the first error in a method of this class
        self.rewritten_as: list[CodeType] = []  # Dynamo's new code objects for the function
        # (code object, torch's action) of what Dynamo does not compile in the user's program,
        # because of earlier calls. The action is SKIP or RUN_ONLY.
        self.barred_codes: list = []
        # What Dynamo decided in this run to skip from now on; the decision is undone after it.
        self.codes_to_skip: list[CodeType] = []
        # Dynamo's messages about what it does not support; they name no place in a function.
        self.unsupported: list[str] = []
        self.shares_dynamo = False  # whether another thread compiled, too
        self.without_own_backend = False  # whether a backend of the user's was not called

        # How things are before the call.
        # The setting that turns Dynamo off, such as an environment variable; "" if none does.
        self.disabling_setting = dynamo_settings.find_setting_off()
        evaluator = installed()[0]  # the frame evaluator in CPython's slot
        # An error of torch may leave torch's evaluator in the slot without a callback.
        self.is_slot_stuck = evaluator.owner == "torch" and not torch_private.callback()

        # What is needed while events come in.
        self._module_globals = module_globals
        self._steps_left = step_limit
        self._followed_codes: set[CodeType] = set()  # whose instructions are recorded
        # id of a translator -> the event of the instruction that it translates now
        self._open_events: dict[int, DynamoEvent] = {}
        # id of Dynamo's OutputGraph of a translation -> how that graph and its guards have grown
        self._growths: dict[int, TranslationGrowth] = {}
        # id of a code object -> the code object, and a list. The list has for each instruction in
        # Dynamo's own list the one of the code object, or None if Dynamo added it. The key is the
        # id, because equal code objects may differ in their positions.
        self._own_instructions: dict[int, tuple[CodeType, list]] = {}
        self._last_cause: BaseException | None = None  # the error that is about to break a graph
        self._last_break: DynamoEvent | None = None  # the break whose graph the backend may get

    def note_skipped_frame(self, frame: FrameType, reason: str) -> None:
        """Note a frame that Dynamo leaves to Python, and torch's `reason` for that.

        A frame of the standard library, of torch or of this package is not noted, because it says
        nothing about the user's program.
        """
        code = frame.f_code
        name, resume_lineno = split_resume_name(code.co_name)
        reason = reason.removeprefix(SKIPPED).partition(". ")[0].replace("No ops", "no ops")
        package = str(frame.f_globals.get("__name__")).partition(".")[0]

        # Special methods are not noted: Python calls them often, and a learner cannot change that.
        if reason in UNSAID_REASONS or name.startswith("__"):
            return
        if resume_lineno:  # a resume function: the rest of a function after the break at that line
            reasons_by_line = SKIPPED_RESTS.setdefault(dynamo_codes.find_original_code(code), {})
            reasons_by_line[resume_lineno] = reason
        elif package not in {"torch", PACKAGE, *sys.stdlib_module_names}:
            place = format_file_line(code.co_filename, code.co_firstlineno)
            self.skipped[f"{name}{place}"] = reason

    def note_graph(self, graph_module) -> None:
        """Note a graph that the backend gets.

        Dynamo ends a graph first and passes it to the backend then. So the graph is that of the
        last break, if there was one, and that graph was not empty.
        """
        if self._last_break is not None:
            self._last_break.is_graph_empty = False
        self.graphs.append(build_fx_graph(graph_module, f"graph {len(self.graphs) + 1}"))

    def note_instruction(self, tx) -> None:
        """Note the instruction that the translator `tx` is about to translate."""
        if tx.instruction_pointer is None:  # the translator has not begun
            return

        # Functions of libraries are left out, except those of the watched function's module.
        is_of_module = tx.f_globals is self._module_globals
        if not is_of_module and is_library(tx.f_code.co_filename):
            self.has_other_modules = True
            return

        self._followed_codes.add(tx.f_code)
        self._steps_left -= 1
        if self._steps_left < 0:
            self.is_cut_off = True
        else:
            self._open_events[id(tx)] = self._add_instruction(tx)

    def complete_instruction(self, tx, error: BaseException | None) -> None:
        """Complete the event of the instruction, and note what Dynamo decided because of `error`.

        `error` is the exception with which the handler of the instruction ended, or None.
        """
        event = self._open_events.pop(id(tx), None)  # None: the instruction is not recorded
        if event is not None:
            self._complete_instruction(event, tx)

        kind = _find_kind_of_decision(error)
        if not kind:
            return

        message = _read_message(error)
        # Here torch gives no reason for starting over. The reason is what broke the graph before.
        if kind == "start over" and message.startswith("Unknown fail_and_restart"):
            message = _read_message(self._last_cause) or message
        if event is not None:
            event.failure = message

        # The error passes on from a called function to its caller. It is noted only once, for the
        # outermost function.
        if tx.parent is not None:
            return
        if kind == "given up":
            self._last_cause = error
            self._add_break(kind, tx, message, stack=())
        elif tx.f_globals is self._module_globals:
            self.events.append(DynamoEvent(kind, tx.f_code, tx.lineno or 0, message=message))

    def note_break_cause(self, error: BaseException) -> None:
        """Store the error that breaks a graph.

        Dynamo may start over before it ends that graph, and then it no longer gives the reason.
        """
        self._last_cause = error

    def note_graph_end(self, tx, reason) -> None:
        """Note that the graph of `tx` ends here: at a break, or because the function ends.

        `reason` is torch's `GraphCompileReason`, whose `graph_break` says which of the two.
        """
        self._last_break = None
        if reason.graph_break:
            # For an instruction that Dynamo cannot translate, torch says only "step_unsupported".
            # The real reason came before, in the error that made Dynamo start over.
            has_no_reason = reason.reason == "step_unsupported" and self._last_cause is not None
            message = _read_message(self._last_cause) if has_no_reason else reason.reason
            self._add_break("break", tx, message, reason.user_stack)
        elif tx.f_globals is self._module_globals:
            graph = build_fx_graph(tx.output.graph, GRAPH_SO_FAR)
            self.events.append(DynamoEvent("graph", tx.f_code, tx.lineno or 0, graph=graph))

    def note_new_code(self, old: CodeType, new: CodeType) -> None:
        """Note that Dynamo has made new code for a code object that was translated here."""
        # If `old` is a resume function that an earlier run left to Python, that is no longer true.
        _, resume_line = split_resume_name(old.co_name)
        SKIPPED_RESTS.get(dynamo_codes.find_original_code(old), {}).pop(resume_line, None)

        if old in self._followed_codes:
            self.events.append(DynamoEvent("code", old, 0, message=_describe_new_code(old, new)))

    def _add_break(self, kind: str, tx, message: str, stack) -> None:
        """Add the event of a graph break, or of a function that Dynamo gives up.

        Parameters
        ----------
        kind : str
            "break" or "given up".
        tx : InstructionTranslator
            Dynamo's translator of the frame.
        message : str
            Torch's reason.
        stack : sequence of FrameSummary
            The user's frames at the break, the innermost last. It is used if the error has none.
        """
        cause = self._last_cause
        self._last_cause = None  # the next break has an error of its own
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
            inner_frame=next(reversed(frames), None),
            is_graph_empty=True,  # until the backend gets the graph
            call_raises=kind == "given up" and bool(is_one_graph or is_error),
        )
        self.events.append(self._last_break)

    def _add_instruction(self, tx) -> DynamoEvent:
        """Add the event of the instruction that `tx` is about to translate, and return it."""
        # Dynamo works on a list of its own. An instruction that it added has no positions there.
        instruction = tx.instructions[tx.instruction_pointer]
        own_instruction = self._find_own_instruction(tx)
        growth = self._growths.setdefault(id(tx.output), TranslationGrowth(tx.output))
        node_lines, new_guards = growth.read_new_lines()

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
            is_prologue=bool(getattr(tx, "is_tracing_resume_prologue", False)),
            stack=tuple(map(format_variable, tx.stack)),
            guards=tuple(growth.guards),
            node_lines=node_lines,
            new_guards=new_guards,
        )
        self.events.append(event)
        return event

    def _complete_instruction(self, event: DynamoEvent, tx) -> None:
        """Write into the event of an instruction what the instruction changed."""
        # Only what is new since `_add_instruction` is returned.
        node_lines, new_guards = self._growths[id(tx.output)].read_new_lines()
        event.node_lines += node_lines
        event.new_guards += new_guards
        event.result = format_variable(tx.stack[-1]) if tx.stack else ""
        # Later events belong to a function that the instruction called.
        event.entered_function = self.events[-1] is not event
        event.has_jumped = tx.instruction_pointer != event.index + 1

    def _find_own_instruction(self, tx):
        """Return the instruction of the code object that `tx` translates now.

        Return None for an instruction that Dynamo added. Dynamo works on a list of its own, with
        added instructions and other offsets. Two instructions are the same if they have the same
        name and position. Several of the same name and position are matched in their order.
        """
        code = tx.f_code
        if id(code) not in self._own_instructions:
            # (opname, positions) -> instructions of the code object not yet matched, in order
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


def _find_kind_of_decision(error: BaseException | None) -> str:
    """Return the kind of event for an exception with which Dynamo reports a decision.

    It is "start over", "skipped", "given up", or "error" for another exception of Dynamo's. It is
    "" for no exception, and for one that the user's program raises.
    """
    class_names = {cls.__name__ for cls in type(error).__mro__}
    if "TorchDynamoException" not in class_names:
        return ""
    kinds = (kind for name, kind in KINDS_BY_ERROR.items() if name in class_names)
    return next(kinds, "error")


def _read_message(error: BaseException | None) -> str:
    """Return the message of an error of Dynamo's; "" for None.

    Depending on its class, the error has the message in an attribute or as its text.
    """
    for attribute in ("restart_reason", "msg"):
        message = getattr(error, attribute, None)
        if message:
            return message
    return str(error or "")


def _describe_new_code(old: CodeType, new: CodeType) -> str:
    """Return how long Dynamo's new code is, and what it calls.

    Such as `new code, 9 instructions instead of 4; it calls its graph`.
    """
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
