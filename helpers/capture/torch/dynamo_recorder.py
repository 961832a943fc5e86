"""One call of a function under `torch.compile` -> a record of what Dynamo did, event by event.

And the words for it, which are the same in every run: the one place where addresses, uuids, ids,
counters, times and folders are taken out of what Dynamo says. Nothing here makes Dynamo look at a
value that it has not looked at yet.
"""

import re
import warnings
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import islice
from os.path import basename, dirname
from traceback import FrameSummary
from types import CodeType, FunctionType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.bytecode import argument
from helpers.capture.cpython.settrace import Printed
from helpers.capture.text.error import error_message
from helpers.capture.text.value import plain, short_repr, type_name
from helpers.capture.torch.fx_graph import drawn_node, fx_graph, last_nodes
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.mini.versions import one_name
from helpers.model.graphs import Graph
from helpers.model.phrase import clipped, ended, listed
from helpers.safety.restoring import redirected, running_user_code

SO_FAR, RENAMED = "graph so far", " gets the name "
MOST_INSTRUCTIONS, MOST_EVENTS = 500, 1000
LONGEST, MOST_READ, MOST_KINDS, MOST_ITEMS = 300, 5_000, 3, 4
UNKNOWN = "Unknown fail_and_restart"  # what torch writes where an instruction gives no reason
KINDS = {"RestartAnalysis": "start over", "SkipFrame": "skipped", "Unsupported": "given up"}
JUMP = "Data-dependent branching"
JUMP_WHY = "where to jump depends on a value that Dynamo does not know while it translates"
LINK = "For more details about this graph break, please visit:"
RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)")
IMPORTED = re.compile(r"G\['__import_(\w+?)'\]")
_SAME = (
    (re.compile(r"__compiled_fn_\d+\w*"), "__compiled_fn"),
    (re.compile(r"__resume_at_(\d+)_\d+"), r"__resume_at_\1"),
    (re.compile(r"__builtins_dict___\d+"), "builtins"),
    (re.compile(r"[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"(?: at )?0x[0-9a-fA-F]{4,}"), ""),
    (re.compile(r"[^\s'\"`]*site-packages[/\\]"), ""),
    (re.compile(r"(?:[A-Za-z]:)?[^\s'\"`(]*[/\\]ipykernel_\d+[/\\]\d+\.py"), "<cell>"),
    (re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[\w.+ -]+[/\\])+(?=[\w.-]+\.py)"), ""),
    (re.compile(r"(?<![\w.])\d{9,}(?![\w.])"), "<id>"),
    (re.compile(r"(?<![\w.])\d+\.\d+ ?(?:s|ms|us|seconds)\b"), "<time>"),
)


@dataclass
class Event:
    """One instruction, or what Dynamo did between two: `kind` as in `helpers.model.dynamo.KINDS`.

    Of the list `guards`, which grows, an instruction knew the first `guard_count`. Of a break:
    `cause`, the whole message; `inner`, the innermost frame outside torch; `empty`: the backend got
    no graph.
    """

    kind: str
    code: CodeType
    lineno: int
    words: str = ""
    graph: Graph | None = None
    cause: str = ""
    inner: FrameSummary | None = None
    empty: bool = False
    names: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    offset: int = -1
    opname: str = ""
    argrepr: str = ""
    positions: tuple = ()
    prologue: bool = False
    stack: tuple[str, ...] = ()
    guards: list[str] = field(default_factory=list)
    guard_count: int = 0
    made: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    failed: str = ""


@dataclass
class Record:
    """All events of one call, the graphs the backend got, what it printed and how it ended."""

    events: list[Event] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    printed: Printed = field(default_factory=Printed)
    value: object = None
    error: BaseException | None = None
    cut_off: bool = False
    elsewhere: int = 0
    lost: str = ""


def record(call, function, args=(), kwargs=None, steps: int = MOST_INSTRUCTIONS) -> Record:
    """Compile `call` with a backend that runs the graph as it is, call it once, and tell all.

    Followed are the functions of the module of `function`, with which `call` starts; of others,
    graph breaks are told, and instructions counted. What Dynamo compiled before is dropped first,
    as a shape seen before would change what it does.
    """
    torch_private.needed("dynamo", "tracing")
    import torch

    kept = Record()
    watcher = _Watcher(kept, function.__globals__, steps)
    torch_private.reset()
    with (
        torch_private.logs(),
        torch_private.translating(watcher) as lost,
        redirected(kept.printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            compiled = torch.compile(call, backend=watcher.backend)
            with guarded(), running_user_code():
                kept.value = compiled(*args, **(kwargs or {}))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            kept.error = error
    kept.lost = error_message(lost[0]) if lost else ""
    return kept


class _Watcher:
    """What `torch_private.translating` tells, written down."""

    def __init__(self, kept: Record, home: dict, steps: int):
        self.kept, self._home, self._steps = kept, home, steps
        self._open, self._known, self._real, self._seen = {}, {}, {}, set()
        self._cause = self._broken = None

    def backend(self, graph_module, example_inputs):
        """Write the graph down and run it as it is."""
        if self._broken is not None:
            self._broken.empty = False
        self.kept.graphs.append(fx_graph(graph_module, f"graph {len(self.kept.graphs) + 1}"))
        return graph_module.forward

    def before(self, tx):
        """Note the instruction that `tx` is about to translate."""
        if tx.instruction_pointer is None:
            return
        if tx.f_globals is not self._home:
            self.kept.elsewhere += 1
            return
        self._seen.add(tx.f_code)
        if self._steps <= 0:
            self.kept.cut_off = True
            return
        self._steps -= 1
        self._open[id(tx)] = self._add(self._instruction(tx))

    def after(self, tx, error):
        """Note what the instruction added, and what went wrong with it."""
        event = self._open.pop(id(tx), None)
        if event is not None:
            made, guarded = self._read(tx).growth()
            event.made, event.guarded = event.made + made, event.guarded + guarded
        names = {kind.__name__ for kind in type(error).__mro__}
        if "TorchDynamoException" not in names:
            return
        kind, words = next((KINDS[n] for n in KINDS if n in names), "error"), _message(error)
        if kind == "start over" and words.startswith(UNKNOWN):
            words = _message(self._cause) or words
        if event is not None:
            event.failed = words
        if tx.parent is None and kind == "given up":
            self._cause = error
            self._add_break(kind, tx, words)
        elif tx.parent is None and tx.f_globals is self._home:
            self._add(Event(kind, tx.f_code, tx.lineno or 0, words))

    def broken(self, error):
        """Keep what breaks a graph; Dynamo may start over before it ends that graph."""
        self._cause = error

    def cut(self, tx, reason):
        """Note that the graph of `tx` ends here."""
        self._broken = None
        if reason.graph_break:
            # "step_unsupported" is all that torch says here: the reason came when it started over.
            unsaid = reason.reason == "step_unsupported" and self._cause is not None
            self._add_break("break", tx, _message(self._cause) if unsaid else reason.reason)
        elif tx.f_globals is self._home:
            graph = fx_graph(tx.output.graph, SO_FAR)
            self._add(Event("graph", tx.f_code, tx.lineno or 0, reason.reason, graph))

    def _add_break(self, kind: str, tx, words: str):
        import torch

        cause, self._cause, graph = self._cause, None, fx_graph(tx.output.graph, SO_FAR)
        whole, home = _message(cause) or words, dirname(torch.__file__)
        frames = reversed(getattr(cause, "real_stack", ()))
        inner = next((one for one in frames if not one.filename.startswith(home)), None)
        self._broken = Event(kind, tx.f_code, tx.lineno or 0, words, graph, whole, inner, True)
        self._add(self._broken)

    def rewritten(self, old: CodeType, new: CodeType):
        """Note that Dynamo has made new code for a code object that was translated here."""
        if old in self._seen:
            sizes = tuple(len(disassembly.instructions(code)) for code in (old, new))
            self._add(Event("code", old, 0, names=tuple(new.co_names), sizes=sizes))

    def _add(self, event: Event) -> Event:
        self.kept.cut_off = self.kept.cut_off or len(self.kept.events) >= MOST_EVENTS
        if len(self.kept.events) < MOST_EVENTS:
            self.kept.events.append(event)
        return event

    def _read(self, tx) -> "_Known":
        return self._known.setdefault(id(tx.output), _Known(tx.output))

    def _instruction(self, tx) -> Event:
        step, real = tx.instructions[tx.instruction_pointer], self._find_real(tx)
        known = self._read(tx)
        made, guarded = known.growth()
        event = Event(
            "instruction", tx.f_code, getattr(step.positions, "lineno", 0) or tx.lineno or 0
        )
        event.offset, event.opname = real.offset if real else -1, step.opname
        event.stack = tuple(map(symbol, tx.stack))
        if real is not None:
            event.argrepr = argument(real, tx.f_code)
        elif step.target is None and step.argval is not None:
            event.argrepr = same(str(step.argval))
        event.positions = tuple(step.positions or (None,) * 4)
        event.prologue = bool(getattr(tx, "is_tracing_resume_prologue", False))
        event.graph, event.guards, event.guard_count = known.graph, known.guards, len(known.guards)
        event.made, event.guarded = made, guarded
        return event

    def _find_real(self, tx):
        """Return the code's own instruction behind one of Dynamo's; None where it put one in.

        Dynamo inserts and replaces some (`cleaned_instructions`, torch/_dynamo/
        bytecode_transformation.py) and counts offsets anew; a name with its place stays the same.
        """
        code = tx.f_code
        if id(code) not in self._real:  # by id: equal code objects differ in their places
            waiting = defaultdict(deque)
            for one in disassembly.instructions(code):
                waiting[one.opname, one.positions].append(one)
            found = (waiting[one.opname, one.positions] for one in tx.instructions)
            self._real[id(code)] = code, [same.popleft() if same else None for same in found]
        return self._real[id(code)][1][tx.instruction_pointer]


def _message(error) -> str:
    if error is None:
        return ""
    return getattr(error, "restart_reason", None) or getattr(error, "msg", None) or str(error)


class _Known:
    """The graph and the guards of one translation, as they were when last read."""

    def __init__(self, output):
        self._output = output  # kept, so that its id stays its own; so are the guards met
        self._nodes, self._met, self.guards, self.graph = {}, {}, [], Graph(SO_FAR, (), ())

    def growth(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines that the graph grew by since the last reading, and the new guards."""
        nodes = {node: node.name for node in self._output.graph.nodes if node.op != "output"}
        made = []
        for node, name in nodes.items() if nodes != self._nodes else ():
            before = self._nodes.get(node)
            if before is None:
                box = drawn_node(node, "")
                made.append(f"{box.label}  {box.detail}".rstrip())
            elif before != name:
                made.append(f"{before}{RENAMED}{name}")
        if nodes != self._nodes:
            self.graph, self._nodes = last_nodes(self._output.graph, SO_FAR), nodes
        fresh = [guard for guard in self._output.guards if id(guard) not in self._met]
        self._met.update((id(guard), guard) for guard in fresh)
        told = []
        for guard in fresh:
            name = source_words(guard.name) if guard.name else "torch's global state"
            told.append(f"{name}: {guard.create_fn_name()}")
        told = [words for words in told if words not in self.guards]
        self.guards += told
        return tuple(made), tuple(group_guards(told))


# ------------------------------------------------------------------ words


def same(text: str) -> str:
    """Return a text of Dynamo's with all that differs from run to run replaced or left out."""
    text, link, _ = text.partition(LINK)
    lines = (text.rstrip() if link else text).split("\n")
    text = "\n".join(clipped(line, MOST_READ) for line in lines)
    for pattern, instead in _SAME:
        text = pattern.sub(instead, text)
    return text


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
    """Return the cause and the explanation in a message of Dynamo's about a graph break."""
    if words.startswith("generic_jump"):
        return JUMP, JUMP_WHY
    lines = [line.strip() for line in same(words).split("\n") if line.strip()]
    told = [line.partition(":")[2].strip() for line in lines if line.startswith("Explanation:")]
    cause = lines[0].rstrip(".") if lines else "no reason given"
    return clipped(cause, LONGEST), clipped(told[0] if told else "", LONGEST)


def find_advice(words: str) -> tuple[str, str]:
    """Return the first hint in a message about a graph break, and the address of its page."""
    told, _, page = words.partition(LINK)
    hint = re.search(r"^ *Hint: (.+)$", same(told), re.MULTILINE)
    return clipped(hint[1] if hint else "", LONGEST), "".join(page.split()[:1])


def in_file(path: str, lineno: int) -> str:
    """Return a file's name and a line of it; nothing for a cell or other text in memory."""
    name = same(path)
    return "" if name.startswith("<") else f" ({basename(name)}:{lineno})"


def resumed(name: str) -> tuple[str, int]:
    """Return the name of the function that a resume function goes on with, and its line, else 0."""
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
    lazy = "_cache" in found  # a LazyVariableTracker: asking it for anything makes it look
    if lazy and found["_cache"].vt is not None:
        return symbol(found["_cache"].vt)
    if "obj" in found:
        return f"{symbol(found['obj'])}.{fields.get('name', '?')}"
    if "proxy" in found:
        return getattr(found["proxy"], "node", found["proxy"]).name
    if isinstance(items := found.get("items"), dict):
        return f"dict of {len(items)}"
    if items is not None:
        parts = [symbol(item) for item in islice(items, MOST_ITEMS)]
        return f"[{', '.join(parts + ['…'] * (len(items) > MOST_ITEMS))}]"
    if source := found.get("source"):
        words = source_words(source.name() if callable(source.name) else source.name)
        return f"{words} (lazy)" if lazy else words
    value = found.get("value", found.get("fn"))
    if type(value) is FunctionType:
        return value.__name__
    return "" if value is None else short_repr(value)


# ------------------------------------------------------------------ one step of the translation


def does(event: Event, after: Event | None, cause: str) -> str:
    """Return in a sentence what an instruction does, and what comes of it.

    `after`: the instruction translated next, if nothing lay between; `cause`: why this one is not.
    """
    if cause:
        return ended(cause)
    parts = [_moves(event, after)]
    recorded = [made for made in event.made if RENAMED not in made]
    if recorded:
        parts.append(f"the graph grows by {clipped('; '.join(recorded), LONGEST)}")
    parts += [f"in the graph, {made}" for made in event.made if RENAMED in made]
    if event.guarded:
        more = f", and {len(event.guarded) - 1} more" if len(event.guarded) > 1 else ""
        parts.append(f"takes a guard: {clipped(event.guarded[0], LONGEST)}{more}")
    return ended("; ".join(part for part in parts if part))


def _moves(event, after) -> str:
    name, arg = one_name(event.opname), event.argrepr
    inside = after is not None and after.code is not event.code
    here = after if after is not None and not inside else None
    stack, then = (
        [words for words in one.stack if words != "NULL"] if one else [] for one in (event, here)
    )
    second, top, result = ("", "", *stack)[-2], ("", *stack)[-1], ("", *then)[-1]
    for start, template in _WORDS.items():
        if name.startswith(start):
            lazy = result.endswith("(lazy)") and name.startswith("LOAD_")
            plain_arg = arg.removeprefix("NULL + ").removeprefix("NULL|self + ")
            told = template.format(arg=plain_arg, top=top, result=result).removesuffix(", ")
            return told + ": not looked at yet" * lazy
    recorded = any(RENAMED not in made for made in event.made)
    if name.startswith("CALL"):
        if recorded:
            return "the call is not made but recorded"
        if inside:
            return "Dynamo goes on inside the function that is called: its graph is the same one"
        return f"Dynamo makes this call itself, while it translates: {result}" if result else ""
    if name == "FOR_ITER":
        if here is not None and len(here.stack) <= len(event.stack):
            return f"there is no next value: the loop is over, and Dynamo goes {arg}"
        return f"the next value is {result}: Dynamo translates the loop's body for it"
    if "JUMP_IF" in name:
        return f"takes {top} off the stack and goes the way that it decides, while it translates"
    if name in ("BINARY_OP", "COMPARE_OP", "BINARY_SUBSCR"):
        words = f"{second} {arg} {top}"
        if event.opname == "BINARY_SUBSCR":
            words = f"item {top} of {second}"
        if recorded:
            return f"{words} is not computed but recorded"
        return f"Dynamo works {words} out itself: {result}" if result else f"takes {words}"
    return "" if event.made or event.guarded else "works on the symbolic stack alone"


# start of an opcode's name -> what its handler does; the first that fits
_WORDS = {
    "LOAD_FAST_AND_CLEAR": "puts what stands for {arg} on the stack and unbinds the name",
    "LOAD_FAST": "puts what stands for {arg} on the stack, {result}",
    "LOAD_CONST": "puts the constant {arg} on the stack: Dynamo knows its value",
    "LOAD_GLOBAL": "looks {arg} up and puts what stands for it on the stack, {result}",
    "LOAD_DEREF": "reads the cell of {arg} and puts what stands for its value there, {result}",
    "LOAD_ATTR": "takes {top} and puts what stands for its attribute {arg} there, {result}",
    "LOAD_METHOD": "takes {top} and puts what stands for its attribute {arg} there, {result}",
    "STORE_FAST_": "takes {top} off the stack; the names {arg} are tracked on",
    "STORE_ATTR": "notes that {top}.{arg} changes; the change is made after the graph has run",
    "STORE_FAST": "takes {top} off the stack: for Dynamo, {arg} is {top} from now on",
    "STORE_DEREF": "takes {top} off the stack: for Dynamo, the cell of {arg} holds {top}",
    "POP_TOP": "takes {top} off the stack; nobody wants it",
    "PUSH_NULL": "puts an empty slot (NULL) on the stack, for the call to come",
    "GET_ITER": "takes {top} and puts an iterator over it there",
    "JUMP": "goes {arg}",
    "RETURN_VALUE": "ends the function: {top} is its result",
    "RETURN_CONST": "ends the function: {arg} is its result",
    "COPY_FREE_VARS": "copies the cells that outer functions share into this frame",
    "RESUME": "begins: nothing moves",
    "PRECALL": "gets ready for the call: nothing moves",
    "KW_NAMES": "notes which of the arguments are given by name: nothing moves",
    "BUILD_": "takes its items off the stack and puts {result} there; the graph does not see it",
}
