"""One call of a function under `torch.compile` -> a record of what Dynamo did, event by event."""

import threading
import warnings
from types import CodeType

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.bytecode import argument
from helpers.capture.text.error import said
from helpers.capture.torch.dynamo import text as words
from helpers.capture.torch.dynamo.events import SO_FAR, Happened, Instruction, Record
from helpers.capture.torch.dynamo.logs import logged
from helpers.capture.torch.fx_graph import drawn_node, fx_graph, last_nodes
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.model.graph import Graph
from helpers.safety.interpreter_state import theirs
from helpers.safety.output import redirected

MOST_INSTRUCTIONS, MOST_EVENTS, MOST_STACK, DEEPEST = 500, 1000, 40, 20


def record(call, function, args=(), kwargs=None, steps: int = MOST_INSTRUCTIONS) -> Record:
    """Compile `call` with a backend that runs the graph as it is, call it once, and tell all.

    `function`: what `call` starts with. Followed are the functions of its module; instructions of
    others are only counted. No more than `steps` instructions are written down.
    What Dynamo compiled before is dropped first, as a shape seen before would change what it does.
    RuntimeError, in one sentence, where torch is missing or does not have what this reads.
    """
    torch_private.needed("dynamo")
    kept = Record()
    watcher = _Watcher(kept, function.__globals__, steps)
    torch_private.reset()
    if torch_private.missing("tracing"):
        with torch_private.logs(trace_bytecode=True, graph_breaks=True) as messages:
            _run(call, watcher, args, kwargs)
        kept.events = logged(messages, function.__code__)
        kept.from_logs = True
    else:
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
            if _is_ctrl_c(error):
                raise KeyboardInterrupt from None
            kept.error = error


def _is_ctrl_c(error: BaseException) -> bool:
    """Return whether an error stands for a Ctrl-C that torch has caught and told in its own way."""
    for _ in range(DEEPEST):
        if error is None or type(error) is KeyboardInterrupt:
            break
        error = error.__cause__ or error.__context__
    return type(error) is KeyboardInterrupt


class _Watcher:
    """What `torch_private.translating` tells, written down."""

    def __init__(self, kept: Record, home: dict, steps: int):
        self.kept, self._home, self._steps = kept, home, steps
        self._thread = threading.get_ident()
        self._open: dict[int, Instruction] = {}
        self._known: dict[int, _Known] = {}
        self._names: dict[int, tuple[CodeType, dict]] = {}
        self._seen: set[CodeType] = set()

    def backend(self, graph_module, example_inputs):
        """Write the graph down and run it as it is."""
        graph = fx_graph(graph_module, f"graph {len(self.kept.graphs) + 1}")
        self.kept.graphs.append(graph)
        return graph_module.forward

    def before(self, tx):
        """Note the instruction that `tx` is about to translate."""
        if threading.get_ident() != self._thread or tx.instruction_pointer is None:
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
        if threading.get_ident() != self._thread or tx.f_globals is not self._home:
            return
        event = self._open.pop(id(tx), None)
        if event is not None:
            made, guarded = self._read(tx).growth(tx.output)
            event.made, event.guarded = event.made + made, event.guarded + guarded
        if error is not None and _is_internal(error):
            self._failed(tx, event, error)

    def cut(self, tx, reason):
        """Note that the graph of `tx` ends here."""
        if threading.get_ident() != self._thread or tx.f_globals is not self._home:
            return
        kind = "break" if reason.graph_break else "graph"
        graph = fx_graph(tx.output.graph, SO_FAR)
        self._add(Happened(kind, tx.f_code, reason.reason, tx.lineno or 0, graph))

    def rewritten(self, old: CodeType, new: CodeType):
        """Note that Dynamo has made new code for a code object that was translated here."""
        if threading.get_ident() == self._thread and old in self._seen:
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
        step = tx.instructions[tx.instruction_pointer]
        known = self._read(tx)
        made, guarded = known.growth(tx.output)
        event = Instruction(
            tx.f_code,
            step.offset if step.offset is not None else -1,
            step.opname,
            self._argument(tx.f_code, step),
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

    def _argument(self, code: CodeType, step) -> str:
        if id(code) not in self._names:  # by id: see `decoded`
            found = {i.offset: i for i in disassembly.instructions(code)}
            self._names[id(code)] = code, found
        real = self._names[id(code)][1].get(step.offset)
        if real is not None and real.opname == step.opname:
            return argument(real, code)
        return "" if step.argval is None else words.same(str(step.argval))

    def _read(self, tx) -> "_Known":
        known = self._known.get(id(tx.output))
        if known is None:
            known = self._known[id(tx.output)] = _Known(tx.output)
        return known

    def _failed(self, tx, event, error):
        said = getattr(error, "restart_reason", None) or getattr(error, "msg", None) or str(error)
        if event is not None:
            event.failed = said
        if tx.parent is None:
            self._add(Happened(_kind(error), tx.f_code, said, tx.lineno or 0))


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
