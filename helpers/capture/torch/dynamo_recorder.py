"""One call of a function under `torch.compile` -> a record of what Dynamo did, event by event.

And the words for it: the one place where addresses, ids, counters and folders are taken out of
what Dynamo says. Nothing here makes Dynamo look at a value that it has not looked at yet.
"""

import re
import sys
import warnings
from collections import defaultdict, deque
from contextlib import nullcontext
from os.path import basename
from types import CodeType, FunctionType, SimpleNamespace
from weakref import WeakKeyDictionary

from ...internals import torch_private
from ...internals.dynamo_state import as_if_new
from ...mini.frame_hook import guarded, installed
from ...mini.versions import one_name
from ...model.graphs import Graph
from ...model.phrase import clipped, ended, listed
from ...safety import PACKAGE
from ...safety.restoring import note_end, note_interrupt
from ...safety.standard_output import redirected
from ...safety.users_frames import is_library
from ..cpython import disassembly
from ..cpython.bytecode import argument
from ..cpython.settrace import Printed
from ..text.error import error_message
from ..text.value import plain, short_repr, type_name
from .fx_graph import drawn_node, fx_graph, last_nodes

SO_FAR, RENAMED = "graph so far", " gets the name "
MOST_INSTRUCTIONS = 500
LONGEST, MOST_KINDS = 300, 3
KINDS = {"RestartAnalysis": "start over", "SkipFrame": "skipped", "Unsupported": "given up"}
SKIPPED = "Dynamo decided to skip the frame while tracing: "
UNSAID = (
    "an error was suppressed during compilation",
    "frame is in the Dynamo skipfiles list",
    "frame is already Dynamo-generated code",  # that Dynamo does not compile again what it made
)
JUMP = "Data-dependent branching"
JUMP_WHY = "where to jump depends on a value that Dynamo does not know while it translates"
EMPTY_HEADING, MOST_LINES = "Developer debug context:", 40
LINK = "For more details about this graph break, please visit:"
RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
RESUME, COMPILED = re.compile(r"__resume_at_(\d+)"), re.compile("__compiled_fn")
HEADING = re.compile(r"(?m)^ *(Explanation|Hint|Developer debug context|from user code): ?")
IMPORTED = re.compile(r"G\['__import_(\w+?)'\]")
# code -> line of a break -> why Dynamo leaves what follows to Python; it decides that once
RESTS: WeakKeyDictionary[CodeType, dict[int, str]] = WeakKeyDictionary()
_SAME = (
    (re.compile(r"__compiled_fn_\d+\w*"), "__compiled_fn"),
    (re.compile(r"__resume_at_(\d+)_\d+"), r"__resume_at_\1"),
    (re.compile(r"__builtins_dict___\d+"), "builtins"),
    (re.compile(r"(?: at )?0x[0-9a-fA-F]{4,}"), ""),
    (re.compile(r"[^\s'\"`]*site-packages[/\\]"), ""),
    (re.compile(r"(?:[A-Za-z]:)?[^\s'\"`(]*[/\\]ipykernel_\d+[/\\]\d+\.py"), "<cell>"),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[\w.+ -]+[/\\])+(?=[\w.-]+\.py)"), ""),
    (re.compile(r"(?<![\w.])\d{9,}(?![\w.])"), "<id>"),
)


class Event(SimpleNamespace):
    """One instruction, or what Dynamo did between two.

    Of a break: `cause`, the whole message, `inner`, the FrameSummary of the innermost frame, and
    `raises`: no break is allowed here, so the call raises.
    """

    words = cause = opname = argrepr = failed = result = ""
    graph, inner, empty, offset, prologue = None, None, False, -1, False
    raises = False
    at, entered, jumped = 0, False, False  # of an instruction: what came of it
    positions = stack = guards = made = guarded = ()

    def __init__(self, kind: str, code: CodeType, lineno: int, **more):
        super().__init__(kind=kind, code=code, lineno=lineno, **more)


class Record:
    """All events of one call, as `torch_private.translating` tells them, and how it ended."""

    def __init__(self, home: dict, steps: int):
        self.events, self.graphs, self.printed = [], [], Printed()
        self.value = self.error = self._cause = self._broken = None
        self.cut_off, self.elsewhere = False, False
        self._home, self._steps, self._seen = home, steps, set()
        self._open, self._known, self._real = {}, {}, {}
        self.skipped: dict[str, str] = {}  # function -> reason
        self.rewritten_as, self.barred, self.left_out, self.unsupported = [], [], [], []
        self.beside = False  # whether another thread compiled, too
        self.without_own_backend = False  # whether a backend of the user's was not called
        self.turned_off = torch_private.turned_off()
        self.stuck = installed()[0].owner == "torch" and not torch_private.callback()

    def passed(self, frame, reason: str):
        """Note a frame that Dynamo leaves to Python; one that it gave up has an event."""
        code, (name, lineno) = frame.f_code, resumed(frame.f_code.co_name)
        reason = reason.removeprefix(SKIPPED).partition(". ")[0].replace("No ops", "no ops")
        module = str(frame.f_globals.get("__name__")).partition(".")[0]
        if reason in UNSAID or name.startswith("__"):  # that of an attribute tells nothing
            return
        if lineno:
            RESTS.setdefault(torch_private.resumed_from(code), {})[lineno] = reason
        elif module not in {"torch", PACKAGE, *sys.stdlib_module_names}:
            self.skipped[f"{name}{in_file(code.co_filename, code.co_firstlineno)}"] = reason

    def given(self, graph_module):
        """Write down a graph that the backend gets."""
        if self._broken is not None:
            self._broken.empty = False
        self.graphs.append(fx_graph(graph_module, f"graph {len(self.graphs) + 1}"))

    def before(self, tx):
        """Note the instruction that `tx` is about to translate."""
        if tx.instruction_pointer is None:
            return
        if tx.f_globals is not self._home and is_library(tx.f_code.co_filename):
            self.elsewhere = True  # users' own functions are always shown
            return
        self._seen.add(tx.f_code)
        self._steps -= 1
        if self._steps < 0:
            self.cut_off = True
        else:
            self._open[id(tx)] = self._instruction(tx)

    def after(self, tx, error):
        """Note what the instruction added, and what went wrong with it."""
        event = self._open.pop(id(tx), None)
        if event is not None:
            made, guarded = self._known[id(tx.output)].growth()
            event.made, event.guarded = event.made + made, event.guarded + guarded
            event.result = symbol(tx.stack[-1]) if tx.stack else ""
            event.entered = self.events[-1] is not event
            event.jumped = tx.instruction_pointer != event.at + 1
        names, words = {kind.__name__ for kind in type(error).__mro__}, _message(error)
        if "TorchDynamoException" not in names:
            return
        kind = next((KINDS[name] for name in KINDS if name in names), "error")
        if kind == "start over" and words.startswith("Unknown fail_and_restart"):
            words = _message(self._cause) or words
        if event is not None:
            event.failed = words
        if tx.parent is None and kind == "given up":
            self._cause = error
            self._add_break(kind, tx, words, ())
        elif tx.parent is None and tx.f_globals is self._home:
            self.events.append(Event(kind, tx.f_code, tx.lineno or 0, words=words))

    def broken(self, error):
        """Keep what breaks a graph; Dynamo may start over before it ends that graph."""
        self._cause = error

    def cut(self, tx, reason):
        """Note that the graph of `tx` ends here."""
        self._broken = None
        if reason.graph_break:
            # "step_unsupported" is all that torch says here: the reason came when it started over.
            unsaid = reason.reason == "step_unsupported" and self._cause is not None
            words = _message(self._cause) if unsaid else reason.reason
            self._add_break("break", tx, words, reason.user_stack)
        elif tx.f_globals is self._home:
            graph = fx_graph(tx.output.graph, SO_FAR)
            self.events.append(Event("graph", tx.f_code, tx.lineno or 0, graph=graph))

    def _add_break(self, kind: str, tx, words: str, stack):
        cause, self._cause, graph = self._cause, None, fx_graph(tx.output.graph, SO_FAR)
        inner = next(reversed(getattr(cause, "real_stack", None) or stack or ()), None)
        told = {"words": words, "cause": _message(cause) or words, "graph": graph, "empty": True}
        told["raises"] = kind == "given up" and bool(
            getattr(tx, "one_graph", False) or getattr(tx, "error_on_graph_break", False)
        )
        self._broken = Event(kind, tx.f_code, tx.lineno or 0, inner=inner, **told)
        self.events.append(self._broken)

    def rewritten(self, old: CodeType, new: CodeType):
        """Note that Dynamo has made new code for a code object that was translated here."""
        RESTS.get(torch_private.resumed_from(old), {}).pop(resumed(old.co_name)[1], None)
        if old in self._seen:
            was, now = (len(disassembly.instructions(code)) for code in (old, new))
            found = filter(None, map(RESUME.match, new.co_names))
            resumes = " or ".join(f"the resume function at {one[1]}" for one in found)
            graph = "its graph" * any(map(COMPILED.match, new.co_names))
            calls = ", then ".join(filter(None, (graph, resumes)))
            words = f"new code, {now} instructions instead of {was}"
            words += f"; it calls {calls}" * bool(calls)
            self.events.append(Event("code", old, 0, words=words))

    def _instruction(self, tx) -> Event:
        step, real = tx.instructions[tx.instruction_pointer], self._find_real(tx)
        known = self._known.setdefault(id(tx.output), _Known(tx.output))
        made, guarded = known.growth()
        argrepr = argument(real, tx.f_code) if real else ""
        event = Event(
            "instruction",
            tx.f_code,
            getattr(step.positions, "lineno", 0) or tx.lineno or 0,
            graph=known.graph,
            offset=real.offset if real else -1,
            at=tx.instruction_pointer,
            opname=step.opname,
            argrepr=argrepr,
            positions=tuple(step.positions or (None,) * 4),
            prologue=bool(getattr(tx, "is_tracing_resume_prologue", False)),
            stack=tuple(map(symbol, tx.stack)),
            guards=tuple(known.guards),
            made=made,
            guarded=guarded,
        )
        self.events.append(event)
        return event

    def _find_real(self, tx):
        """Return the code's own instruction behind one of Dynamo's, which counts offsets anew."""
        code = tx.f_code
        if id(code) not in self._real:  # by id: equal code objects differ in their places
            waiting = defaultdict(deque)
            for one in disassembly.instructions(code):
                waiting[one.opname, one.positions].append(one)
            found = (waiting[one.opname, one.positions] for one in tx.instructions)
            self._real[id(code)] = code, [same.popleft() if same else None for same in found]
        return self._real[id(code)][1][tx.instruction_pointer]


def record(
    call, function, args=(), kwargs=None, steps=MOST_INSTRUCTIONS, kept_for=None, own_backends=True
) -> Record:
    """Compile `call` with a backend that runs the graph as it is, call it once, and tell all.

    Followed are the functions of the module of `function`, with which `call` starts; of others,
    graph breaks are told, and instructions counted. All is compiled anew, and nothing of it stays.
    `rewritten_as`: Dynamo's new codes for `kept_for`, else for `function`. `barred`: what Dynamo
    does not compile outside of this run. `left_out`: what it would skip after it. `unsupported`:
    what Dynamo said without a place in a function, as of a generator that it does not start with.
    `own_backends`: whether the backends of what `call` calls are called for what it compiles.
    """
    torch_private.needed("hook", "dynamo", "tracing", "cache")
    import torch

    kept, code = Record(function.__globals__, steps), (kept_for or function).__code__
    backends = torch_private.running_graphs_as_they_are
    with (
        as_if_new(code) as fresh,
        nullcontext() if own_backends else backends(fresh.is_of_block) as not_called,
        torch_private.unmarked(call),
        torch_private.logs(),
        torch_private.translating(kept) as lost,
        redirected(kept.printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        said = torch_private.unsupported_messages()
        try:
            compiled = torch.compile(call, backend=torch_private.run_as_it_is)
            with guarded():
                kept.value = compiled(*args, **(kwargs or {}))
        except KeyboardInterrupt as error:
            kept.error = error
            note_interrupt(error)
        except BaseException as error:
            kept.error = error
            note_end(error)
        kept.rewritten_as = [entry.code for entry in torch_private.cache_entries(code)]
        kept.unsupported = [*(torch_private.unsupported_messages() - said)]
    kept.beside, kept.without_own_backend = bool(fresh.lent), bool(not_called)
    kept.barred, kept.left_out = fresh.barred, fresh.skipped
    kept.lost = error_message(lost[0]) if lost else ""
    return kept


def _message(error) -> str:
    told = (getattr(error, name, None) for name in ("restart_reason", "msg"))
    return next(filter(None, told), str(error or ""))


class _Known:
    """The graph and the guards of one translation, as they were when last read."""

    def __init__(self, output):
        self._output = output  # kept, so that its id stays its own; so are the guards met
        self._nodes, self._met, self.guards, self.graph = {}, {}, [], Graph(SO_FAR, (), ())

    def growth(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines that the graph grew by since the last reading, and the new guards."""
        nodes = {node: node.name for node in self._output.graph.nodes if node.op != "output"}
        made, told = [], []
        for node, name in nodes.items() if nodes != self._nodes else ():
            before = self._nodes.get(node)
            if before is None:
                box = drawn_node(node, "")
                made.append(f"{box.label}  {box.detail}".rstrip())
            elif before != name:
                made.append(f"{before}{RENAMED}{name}")
        if nodes != self._nodes:
            self.graph, self._nodes = last_nodes(self._output.graph, SO_FAR), nodes
        for guard in self._output.guards:
            if id(guard) not in self._met:
                self._met[id(guard)] = guard
                name = source_words(guard.name) if guard.name else "torch's global state"
                told.append(f"{name}: {guard.create_fn_name()}")
        told = [words for words in told if words not in self.guards]
        self.guards += told
        return tuple(made), tuple(group_guards(told))


# ------------------------------------------------------------------ words


def same(text: str) -> str:
    """Return a text of Dynamo's with all that differs from run to run replaced or left out."""
    return steady(text.partition(LINK)[0]).rstrip()


def steady(text: str) -> str:
    """Return a whole text of Dynamo's without addresses, ids, counters and folders."""
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    return text


def all_words(error: BaseException) -> str:
    """Return the whole message of an error, as lines; "" if it has one short line only.

    Torch puts the cause, the hint and your own line on different lines. Carets below a line and
    empty headings are left out, and the middle of a message of very many lines.
    """
    try:
        message = str(error)
    except Exception:  # its own `__str__` may raise anything
        return ""
    lines = [line.rstrip() for line in steady(message).split("\n")]
    lines = [line for line in lines if line.strip(" ^~") and line.strip() != EMPTY_HEADING]
    if len(lines) < 2 and len(message) <= LONGEST:
        return ""
    if rest := lines[MOST_LINES // 2 : -MOST_LINES // 2]:
        lines[MOST_LINES // 2 : -MOST_LINES // 2] = [f"… {len(rest):,} more lines …"]
    return "\n".join(lines)


def source_words(name: str) -> str:
    """Return where a value comes from as a learner writes it: `G['torch'].abs` is `torch.abs`."""
    name = IMPORTED.sub(lambda found: f"G['{found[1].replace('_dot_', '.')}']", same(name))
    name = re.sub(r"[LG]\['([\w.]+)'\]", r"\1", name)
    name = re.sub(r"\bbuiltins\['(\w+)'\]", r"\1", name)
    return plain(re.sub(r"___stack(\d+)", r"stack \1", name))


def group_guards(guards) -> list[str]:
    """Return the words of guards with those that look at the same thing in one line."""
    kinds = {}
    for guard in guards:
        named, _, kind = guard.rpartition(": ")
        kinds.setdefault(named, []).append(kind)
    for named, found in kinds.items():
        if len(found) > MOST_KINDS:
            kinds[named] = [listed(sorted(found, key=lambda kind: (len(kind), kind)), 2)]
    return [f"{named}: {', '.join(found)}" for named, found in kinds.items()]


def split_message(words: str) -> tuple[str, str]:
    """Return the cause and the explanation in a message of Dynamo's about a graph break.

    A message without an explanation of its own is all cause: what follows its first line explains.
    """
    if words.startswith("generic_jump"):
        return JUMP, JUMP_WHY
    first, *rest = same(words).strip().split("\n")
    told = parts_of(words, "Explanation")
    if not told and not parts_of(words, "Hint"):
        told = [" ".join(line.strip(" ^~") for line in rest)]
    return first.strip().rstrip(".") or "no reason given", " ".join(" ".join(told).split())


def why(event: Event) -> tuple[str, str]:
    """Return the cause and the explanation of what happened.

    Of a jump, torch gives the reason for the graph's end without both; the error has them.
    """
    unsaid = event.words.startswith("generic_jump") and HEADING.search(event.cause)
    return split_message(event.cause if unsaid else event.words)


def parts_of(words: str, heading: str) -> list[str]:
    """Return what a message of Dynamo's says after each `heading:`, to the end of that part."""
    found, part = [], None
    for line in same(words).split("\n"):
        if begun := HEADING.match(line):
            part = begun[1] == heading
            if part:
                found.append(line[begun.end() :].strip())
        elif part and line.strip():
            found[-1] += f" {line.strip()}"
    return found


def in_file(path: str, lineno: int) -> str:
    """Return a file's name and a line of it; nothing for a cell or other text in memory."""
    name = same(path)
    return "" if name.startswith("<") else f" ({basename(name)}:{lineno})"


def resumed(name: str) -> tuple[str, int]:
    """Return the name of the function that a resume function continues, and its line, else 0."""
    found = RESUMED.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


def symbol(value) -> str:
    """Return the words of one symbolic value (a `VariableTracker`), whatever it is."""
    kind = type_name(value).replace("NullVariable", "NULL").removesuffix("Variable")
    try:
        return plain(_symbol_words(vars(value)) or kind)
    except Exception:  # a field that this torch does not have
        return kind


def _symbol_words(fields: dict) -> str:
    found = {name: one for name, one in fields.items() if one is not None}
    lazy = found.get("_cache")  # of a LazyVariableTracker: asking it for anything makes it look
    if lazy and lazy.vt is not None:
        return symbol(lazy.vt)
    if "obj" in found:
        return f"{symbol(found['obj'])}.{fields.get('name', '?')}"
    if "proxy" in found:
        return getattr(found["proxy"], "node", found["proxy"]).name
    if "items" in found:
        return f"[{listed(map(symbol, [*found['items']]), 4)}]"
    if source := found.get("source"):
        words = source_words(source.name() if callable(source.name) else source.name)
        return f"{words} (lazy)" if lazy else words
    value = found.get("value", found.get("fn"))
    if type(value) is FunctionType:
        return value.__name__
    return "" if value is None else short_repr(value)


def does(event: Event, cause: str) -> str:
    """Return in a sentence what an instruction does, or the `cause` why it is not translated."""
    if cause:
        return ended(cause)
    name = one_name(event.opname).replace("COMPARE", "BINARY").replace("METHOD", "ATTR")
    stack = ["", "", *(w.removesuffix(" (lazy)") for w in event.stack if w != "NULL")]
    arg = re.sub(r"^NULL(\|self)? \+ ", "", event.argrepr)
    words = next((words for start, words in _WORDS.items() if name.startswith(start)), _OTHER)
    if type(words) is tuple:
        recorded = any(" = " in made for made in event.made)
        words = words[-1 if event.entered else 0 if recorded else 1]
    jumps = "and jumps" if event.jumped else "and does not jump"
    told = {"top": stack[-1], "second": stack[-2], "result": event.result, "jumps": jumps}
    parts = [words.format(arg=arg, **told)]
    parts += [f"in the graph, {made}" for made in event.made if RENAMED in made]
    if gained := [made for made in event.made if RENAMED not in made]:
        parts.append(f"the graph gains {' and '.join(gained)}")
    if guarded := ", ".join(event.guarded):
        parts.append("guards are added" + f": {guarded}" * (len(guarded) <= 40))
    return ended(clipped("; ".join(parts), LONGEST))


_STACK, _JUMPS = "changes only the symbolic stack", "pops {top} {jumps}"
_OTHER = "Dynamo records it", _STACK, _STACK
# start of an opcode's name -> what its handler does; the first that fits. Of several: when it adds
# to the graph, when it does not, and when more happened before it was done.
_WORDS = {
    "LOAD_FAST": "pushes the symbolic value of {arg}",
    "LOAD_CONST": "pushes the constant {arg}, whose value Dynamo knows",
    "LOAD_GLOBAL": "looks up {arg} and pushes its symbolic value",
    "LOAD_ATTR": "pops {top} and pushes the symbolic value of its attribute {arg}",
    "STORE_FAST": "pops {top}; for Dynamo, {arg} is {top} from now on",
    "BINARY_OP": (
        "Dynamo records {second} {arg} {top}",
        "Dynamo computes {second} {arg} {top} itself: {result}",
        "Dynamo continues inside the method for {second} {arg} {top}, which returns {result}",
    ),
    "BINARY_SUBSCR": (
        "Dynamo records {second}[{top}]",
        "Dynamo looks {second}[{top}] up itself: {result}",
        "Dynamo continues inside the method for {second}[{top}], which returns {result}",
    ),
    "PRECALL": "prepares the call; the stack does not change",
    "CALL": (
        "Dynamo records the call",
        "Dynamo makes the call itself: {result}",
        "Dynamo continues inside the function, which returns {result}",
    ),
    "POP_JUMP_IF": (_JUMPS, _JUMPS, "pops {top}, and cannot know whether to jump"),
    "RETURN_VALUE": "ends the function: {top} is its result",
    "RESUME": "starts; the stack does not change",
}
