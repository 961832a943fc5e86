"""One call of a function under `torch.compile` -> a record of what Dynamo did, event by event."""

import warnings
from collections import defaultdict, deque
from dataclasses import dataclass, field
from os.path import dirname
from traceback import FrameSummary
from types import CodeType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.bytecode import argument
from helpers.capture.cpython.settrace import Printed
from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch import dynamo_words as words
from helpers.capture.torch.fx_graph import drawn_node, fx_graph, last_nodes
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.model.graph import Graph
from helpers.safety.restoring import redirected, theirs

SO_FAR = "graph so far"
MOST_INSTRUCTIONS, MOST_EVENTS, MOST_STACK = 500, 1000, 40
UNKNOWN = "Unknown fail_and_restart"  # what torch writes where an instruction gives no reason


@dataclass
class Instruction:
    """One instruction, with what was known before it and what it added."""

    code: CodeType
    offset: int
    opname: str
    argrepr: str
    positions: tuple  # line, end line, column, end column: Dynamo's own, which may be None
    lineno: int
    prologue: bool
    stack: tuple[str, ...]
    graph: Graph
    guards: list[str]
    guard_count: int  # of the list, which grows; it is the same one in all steps
    made: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    failed: str = ""


@dataclass
class Happened:
    """What Dynamo did between two instructions: `kind` as in `helpers.model.dynamo.KINDS`.

    Of a break: `cause`, the whole message; `inner`, the innermost frame outside torch; `empty`,
    whether the backend got no graph.
    """

    kind: str
    code: CodeType | None
    words: str
    lineno: int = 0
    graph: Graph | None = None
    names: tuple[str, ...] = ()
    sizes: tuple[int, int] = (0, 0)
    cause: str = ""
    inner: FrameSummary | None = None
    empty: bool = False


@dataclass
class Record:
    """All events of one call, the graphs the backend got, what it printed and how it ended."""

    events: list = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    printed: Printed = field(default_factory=Printed)
    value: object = None
    error: BaseException | None = None
    cut_off: bool = False
    missed_breaks: int = 0
    elsewhere: int = 0
    lost: str = ""


def record(call, function, args=(), kwargs=None, steps: int = MOST_INSTRUCTIONS) -> Record:
    """Compile `call` with a backend that runs the graph as it is, call it once, and tell all.

    `function`: what `call` starts with. Followed are the functions of its module; of others, graph
    breaks are told, and instructions counted. No more than `steps` of these are written down.
    What Dynamo compiled before is dropped first, as a shape seen before would change what it does.
    RuntimeError, in one sentence, where torch is missing or does not have what this reads.
    """
    torch_private.needed("dynamo", "tracing")
    kept = Record()
    watcher = _Watcher(kept, function.__globals__, steps)
    torch_private.reset()
    with torch_private.logs(), torch_private.translating(watcher) as lost:
        _run(call, watcher, args, kwargs)
    kept.lost = said(lost[0]) if lost else ""
    return kept


def _run(call, watcher, args, kwargs):
    import torch

    kept = watcher.kept
    with redirected(kept.printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compiled = torch.compile(call, backend=watcher.backend)
            with guarded(), theirs():
                kept.value = compiled(*args, **(kwargs or {}))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            kept.error = error


class _Watcher:
    """What `torch_private.translating` tells, written down."""

    def __init__(self, kept: Record, home: dict, steps: int):
        self.kept, self._home, self._steps = kept, home, steps
        self._open: dict[int, Instruction] = {}
        self._known: dict[int, _Known] = {}
        self._names: dict[int, tuple[CodeType, list]] = {}
        self._seen: set[CodeType] = set()
        self._cause = self._broken = None

    def backend(self, graph_module, example_inputs):
        """Write the graph down and run it as it is."""
        if self._broken is not None:
            self._broken.empty = False
        graph = fx_graph(graph_module, f"graph {len(self.kept.graphs) + 1}")
        self.kept.graphs.append(graph)
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
        self._open[id(tx)] = self._instruction(tx)

    def after(self, tx, error):
        """Note what the instruction added, and what went wrong with it."""
        event = self._open.pop(id(tx), None)
        if event is not None:
            made, guarded = self._read(tx).growth(tx.output)
            event.made, event.guarded = event.made + made, event.guarded + guarded
        if error is not None and _is_internal(error):
            self._failed(tx, event, error)

    def broken(self, error):
        """Keep what breaks a graph; Dynamo may start over before it ends that graph."""
        self._cause = error

    def cut(self, tx, reason):
        """Note that the graph of `tx` ends here."""
        if reason.graph_break:
            # "step_unsupported" is all that torch says here: the reason came when it started over.
            unsaid = reason.reason == "step_unsupported" and self._cause is not None
            self._broke("break", tx, _message(self._cause) if unsaid else reason.reason)
            return
        self._broken = None
        if tx.f_globals is self._home:
            self._happened("graph", tx, reason.reason, fx_graph(tx.output.graph, SO_FAR))

    def _broke(self, kind: str, tx, said: str):
        cause, self._cause = self._cause, None
        told = {"cause": _message(cause) or said, "inner": _innermost(cause), "empty": True}
        self._happened(kind, tx, said, fx_graph(tx.output.graph, SO_FAR), **told)

    def _happened(self, kind: str, tx, said: str, graph=None, **told):
        event = Happened(kind, tx.f_code, said, tx.lineno or 0, graph, **told)
        self._broken = event
        self._add(event)

    def rewritten(self, old: CodeType, new: CodeType):
        """Note that Dynamo has made new code for a code object that was translated here."""
        if old in self._seen:
            sizes = _length(old), _length(new)
            self._add(Happened("code", old, "", names=tuple(new.co_names), sizes=sizes))

    def _add(self, event):
        if len(self.kept.events) < MOST_EVENTS:
            self.kept.events.append(event)
        else:
            self.kept.cut_off = True
            kind = event.kind if isinstance(event, Happened) else ""
            self.kept.missed_breaks += kind in ("break", "given up")

    def _instruction(self, tx) -> Instruction:
        step, real = tx.instructions[tx.instruction_pointer], self._real(tx, tx.instruction_pointer)
        known = self._read(tx)
        made, guarded = known.growth(tx.output)
        event = Instruction(
            tx.f_code,
            real.offset if real else -1,
            step.opname,
            self._argument(tx, step, real),
            tuple(step.positions or (None,) * 4),
            getattr(step.positions, "lineno", None) or tx.lineno or 0,
            bool(getattr(tx, "is_tracing_resume_prologue", False)),
            _stack(tx.stack),
            known.graph,
            known.guards,
            len(known.guards),
            made,
            guarded,
        )
        self._add(event)
        return event

    def _real(self, tx, index: int):
        """Return the code's own instruction behind one of Dynamo's; None where it put one in."""
        code = tx.f_code
        if id(code) not in self._names:  # by id: see `decoded`
            self._names[id(code)] = code, _matched(tx.instructions, disassembly.instructions(code))
        return self._names[id(code)][1][index]

    def _argument(self, tx, step, real) -> str:
        if real is not None:
            return argument(real, tx.f_code)
        if step.target is not None:
            target = self._real(tx, tx.indexof[step.target])
            return f"to {target.offset}" if target else ""
        if step.opname == "LOAD_CONST":
            return brief(step.argval)
        return "" if step.argval is None else words.same(str(step.argval))

    def _read(self, tx) -> "_Known":
        known = self._known.get(id(tx.output))
        if known is None:
            known = self._known[id(tx.output)] = _Known(tx.output)
        return known

    def _failed(self, tx, event, error):
        kind, said = _kind(error), _message(error)
        if kind == "start over" and said.startswith(UNKNOWN):
            said = _message(self._cause) or said
        if event is not None:
            event.failed = said
        if tx.parent is not None:
            return
        if kind == "given up":
            self._cause = error
            self._broke(kind, tx, said)
        elif tx.f_globals is self._home:
            self._happened(kind, tx, said)


def _matched(made, real) -> list:
    """Return for each of Dynamo's instructions that of the code which it is, None for a new one.

    Dynamo inserts and replaces some (`cleaned_instructions`, torch/_dynamo/
    bytecode_transformation.py) and counts offsets anew; a name with its place stays the same.
    """
    waiting = defaultdict(deque)
    for one in real:
        waiting[one.opname, one.positions].append(one)
    found = (waiting[one.opname, one.positions] for one in made)
    return [same.popleft() if same else None for same in found]


def _message(error) -> str:
    if error is None:
        return ""
    return getattr(error, "restart_reason", None) or getattr(error, "msg", None) or str(error)


def _innermost(error) -> FrameSummary | None:
    """Return the innermost frame that is not torch's own."""
    import torch

    frames, home = getattr(error, "real_stack", ()), dirname(torch.__file__)
    return next((one for one in reversed(frames) if not one.filename.startswith(home)), None)


def _stack(values) -> tuple[str, ...]:
    """Return the words of the symbolic stack, bottom first; of a deep one, those at the top."""
    below = len(values) - MOST_STACK
    told = tuple(words.symbol(value) for value in values[max(below, 0) :])
    return (f"… {below} more below", *told) if below > 0 else told


class _Known:
    """The graph and the guards of one translation, as they were when last read.

    What is read of one node or guard is kept: a step costs what is new in it, not what there is.
    """

    def __init__(self, output):
        self._output = output  # kept, so that its id stays its own
        self._nodes, self.guards = {}, []
        self._met, self._words = {}, set()  # guards by id, held so that the ids stay theirs
        self.graph = Graph(SO_FAR, (), ())

    def growth(self, output) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines that the graph grew by since the last reading, and the new guards."""
        nodes = {node: node.name for node in output.graph.nodes if node.op != "output"}
        made = ()
        if nodes != self._nodes:
            self.graph = last_nodes(output.graph, SO_FAR)
            new = [node for node in nodes if self._is_new(node)]
            made = tuple(self._told(node) for node in new)
            self._nodes = nodes
        return made, tuple(words.grouped(self._new_guards(output)))

    def _new_guards(self, output) -> list[str]:
        fresh = [guard for guard in output.guards if id(guard) not in self._met]
        self._met.update((id(guard), guard) for guard in fresh)
        told = [guard for guard in map(words.guard_words, fresh) if guard not in self._words]
        self._words.update(told)
        self.guards += told
        return told

    def _is_new(self, node) -> bool:
        return self._nodes.get(node) != node.name

    def _told(self, node) -> str:
        before = self._nodes.get(node)
        return f"{before} gets the name {node.name}" if before else line(drawn_node(node, ""))


def line(node) -> str:
    """Return one node of a graph as a line, with the dtype and shape where they are known."""
    return f"{node.label}  {node.detail}".rstrip()


def _kind(error: BaseException) -> str:
    names = {kind.__name__ for kind in type(error).__mro__}
    if "RestartAnalysis" in names:
        return "start over"
    kinds = {"SkipFrame": "skipped", "Unsupported": "given up"}
    return next((kind for name, kind in kinds.items() if name in names), "error")


def _is_internal(error: BaseException) -> bool:
    return any(kind.__name__ == "TorchDynamoException" for kind in type(error).__mro__)


def _length(code: CodeType) -> int:
    return len(disassembly.instructions(code))
