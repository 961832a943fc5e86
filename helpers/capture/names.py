"""Names in a namespace -> the graph of what they refer to, by identity; a run -> one per line."""

import contextlib
import functools
import inspect
import io
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType, ModuleType

from helpers.capture.words import detail, label
from helpers.model.graph import Edge, Graph, Node
from helpers.model.timeline import Panel, Step, Timeline

DEEPEST = 4
MOST_ITEMS = 12
MOST_STEPS = 200
PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...))


def names_graph(namespace: Mapping[str, object], names, title: str = "", note: str = "") -> Graph:
    """Return the graph of `names` (str) in `namespace`: one box per name, one per object.

    Two names of one object lead to one box. Containers, closures, defaults, partials, bound
    methods, classes and instances of Python classes are followed, `DEEPEST` arrows deep. NameError
    names the first name that the namespace does not have.
    """
    missing = [name for name in names if name not in namespace]
    if missing:
        raise NameError(f"there is no name {missing[0]!r} here yet; run the cell that makes it")
    draft = _Draft()
    for name in names:
        draft.name(name, namespace[name])
    draft.follow()
    return Graph(title, tuple(draft.nodes.values()), tuple(draft.edges), note)


def names_timeline(fn: Callable, *args, **kwargs) -> Timeline:
    """Return one step per line that `fn(*args, **kwargs)` runs: its local names after that line.

    What it prints and what it raises are part of the steps. TypeError if `fn` is no Python
    function. The tracer that was set before is set again afterwards.
    """
    if type(fn) is not FunctionType:
        raise TypeError(f"watch_names needs a Python function, not {label(fn)}")
    run = _Run(fn)
    run.go(args, kwargs)
    note = f"Only the first {MOST_STEPS} lines that ran are shown." if run.capped else ""
    return Timeline(f"{fn.__name__}, line by line", run.source, tuple(run.steps), note)


class _Draft:
    """A graph being made; objects are told apart by identity and kept alive meanwhile."""

    def __init__(self):
        self.nodes, self.edges = {}, []
        self._alive, self._queue = {}, deque()

    def name(self, name: str, value: object):
        """Add a name and the arrow to what it refers to."""
        key = f"name {name}"
        self.nodes[key] = Node(key, name, "name")
        self.edges.append(Edge(key, self._object(value, DEEPEST)))

    def follow(self):
        """Add what the objects hold, breadth first."""
        while self._queue:
            key, parts, depth = self._queue.popleft()
            for words, part in parts:
                self.edges.append(Edge(key, self._object(part, depth - 1), words))

    def _object(self, value: object, depth: int) -> str:
        if id(value) in self._alive:
            return self._alive[id(value)][0]
        key = f"object {len(self._alive) + 1}"
        self._alive[id(value)] = (key, value)
        parts = _parts(value) if depth else ()
        self.nodes[key] = Node(key, label(value), _kind(value, parts), detail(value))
        self._queue.append((key, parts, depth))
        return key


def _kind(value: object, parts) -> str:
    if type(value) is FunctionType:
        return "function"
    return "holder" if parts else "object"


def _parts(value: object) -> list[tuple[str, object]]:
    """Return what the object holds, as (how, what); nothing of the object's own is called."""
    kind = type(value)
    if kind in (list, tuple):
        return [(f"[{i}]", item) for i, item in enumerate(value[:MOST_ITEMS])]
    if kind is dict:
        items = list(value.items())[:MOST_ITEMS]
        return [(f"[{label(key)}]", item) for key, item in items]
    if kind in (staticmethod, classmethod):
        return [("__func__", value.__func__)]
    if kind is functools.partial:
        return [("func", value.func)]
    if kind is MethodType:
        return [("__func__", value.__func__), ("__self__", value.__self__)]
    if kind is FunctionType:
        return _function_parts(value)
    return _attributes(value)


def _function_parts(fn: FunctionType) -> list[tuple[str, object]]:
    free = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    cells = [(f"closure {name}", cell.cell_contents) for name, cell in free if _is_full(cell)]
    defaults = [("default", value) for value in fn.__defaults__ or () if not _is_plain(value)]
    wrapped = [(name, value) for name, value in vars(fn).items() if name == "__wrapped__"]
    return cells + defaults + wrapped


def _attributes(value: object) -> list[tuple[str, object]]:
    if issubclass(type(value), type):
        return _class_parts(value)
    if type(value).__module__ in ("builtins", "numpy") or type(value) is ModuleType:
        return []
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return [(f".{name}", item) for name, item in list(own.items())[:MOST_ITEMS]]


def _class_parts(cls: type) -> list[tuple[str, object]]:
    own = type.__dict__["__dict__"].__get__(cls)
    functions = (FunctionType, staticmethod, classmethod)
    return [(f".{k}", v) for k, v in own.items() if type(v) in functions][:MOST_ITEMS]


def _is_full(cell) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _is_plain(value: object) -> bool:
    return type(value) in PLAIN


class _Run:
    """One traced run of one function; `steps` fills up as its lines are done."""

    def __init__(self, fn: FunctionType):
        self.fn, self.steps, self.capped = fn, [], False
        self._frame, self._line, self._raised = None, 0, ""
        self._printed = io.StringIO()
        self.source, self._first = _source(fn)

    def go(self, args, kwargs):
        """Run the function; an exception that leaves it is told by the last step."""
        before = sys.gettrace()
        with contextlib.redirect_stdout(self._printed), contextlib.suppress(Exception, SystemExit):
            sys.settrace(self._enter)
            try:
                self.fn(*args, **kwargs)
            finally:
                sys.settrace(before)

    def _enter(self, frame, event, argument):
        if frame.f_code is self.fn.__code__ and self._frame is None:
            self._frame = frame
            return self._on_event
        return None

    def _on_event(self, frame, event, argument):
        if event == "exception":
            self._raised = label(argument[0]).removeprefix("class ")
        elif self._line:
            self._step(frame.f_locals)
        if event == "line":
            self._line, self._raised = frame.f_lineno, ""
        return self._on_event

    def _step(self, names: Mapping[str, object]):
        if len(self.steps) >= MOST_STEPS:
            self.capped = True
            return
        line = self._line - self._first + 1
        words = f"line {line} raised {self._raised}" if self._raised else f"after line {line}"
        graph = names_graph(names, [name for name in names if not name.startswith("_")])
        panels = (Panel("names and objects", graph), Panel("printed", self._printed.getvalue()))
        self.steps.append(Step(words, line, panels))


def _source(fn: FunctionType) -> tuple[str, int]:
    """Return the dedented source and its first line's number; no source is an empty text."""
    try:
        lines, first = inspect.getsourcelines(fn)
    except (OSError, TypeError):
        return "", fn.__code__.co_firstlineno
    return textwrap.dedent("".join(lines)).rstrip(), first
