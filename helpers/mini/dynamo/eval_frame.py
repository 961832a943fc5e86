"""The two doors, a decorator and a frame hook; and the cache of ways to run a function.

Mirrors torch/_dynamo/eval_frame.py, and torch/csrc/dynamo/cache_entry.cpp.
"""

import functools
import inspect
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo import convert_frame
from helpers.mini.dynamo.builder import calls_forward, found, hookless
from helpers.mini.dynamo.call_function import UNSUPPORTED
from helpers.mini.dynamo.convert_frame import Entry, frame_of
from helpers.mini.dynamo.parts import PARTS, Parts
from helpers.safety.arguments import kind_of, printable

LIMIT = 8  # entries per function
TAKEN = "a Python function, or a method, a module or an object whose call is one"


def eager(module, example_inputs):
    """Run the graph call by call: the backend that compiles nothing."""
    return module.forward


class Door:
    """What is called in place of its `target`, and traces it.

    `_tracing()` lists the caches behind it, one per function.
    """

    @property
    def why(self) -> str:
        """Return why a part of this ran as plain Python; nothing if none did."""
        return next((one._why for one in [*self._parts_of_it(), self] if one._why), "")

    @property
    def source(self) -> str:
        """Return the Python that was generated: of every entry, then of what goes on after it."""
        return "\n".join(entry.source for entry in self._all_entries() if entry.source)

    @property
    def graphs(self) -> list:
        """Return the FX graphs, in the order of `source`."""
        return [entry.graph for entry in self._all_entries() if entry.graph is not None]

    @property
    def breaks(self) -> list[str]:
        """Return why the graph broke, once for each break."""
        return [entry.broke for entry in self._all_entries() if entry.broke]

    def _parts_of_it(self) -> list:
        seen, waiting = [], self._tracing()
        while waiting:
            compiled = waiting.pop(0)
            if compiled not in seen:
                seen.append(compiled)
                waiting += [rest for entry in compiled.entries for rest in entry.resumes]
        return seen

    def _all_entries(self):
        return [entry for part in self._parts_of_it() for entry in part.entries]


@dataclass(frozen=True)
class Behind:
    """A Python function, and what a call puts before its arguments.

    `plainly` says why the target has to be called as it is, where it has to.
    """

    fn: FunctionType
    first: tuple = ()
    plainly: str = ""


def behind(target) -> Behind:
    """Return what a call of `target` comes down to now; TypeError if that is no Python function."""
    kind, why = type(target), ""
    if kind is FunctionType:
        return Behind(target)
    if kind is MethodType:
        fn, first = target.__func__, target.__self__
    elif issubclass(kind, torch.nn.Module):
        fn, first = found(kind, "forward"), target
        if not (calls_forward(kind) and hookless(target)):
            why = "a module with hooks, or with a call of its own, is called"
    else:
        fn, first = found(kind, "__call__"), target
    if type(fn) is not FunctionType or issubclass(kind, (type, Door)):
        raise TypeError(f"compile needs {TAKEN}, not {kind_of(target)}")
    return Behind(fn, (first,), why)


class Compiled(Door):
    """A function that is traced when it is called. It never gives what plain Python would not.

    `entries` is its cache, `misses` the first failing guard of each entry at the last call that
    none fitted.
    """

    def __init__(self, frame, backend=eager, parts=PARTS, resumes=None):
        functools.update_wrapper(self, frame.fn)  # first: the function may have a `fn` as well
        self.fn = self.target = frame.fn
        self._code = code = frame.fn.__code__
        self.entries, self.misses, self._why = [], [], ""
        self._frame, self._backend, self._parts = frame, backend, parts
        self._resumes = {} if resumes is None else resumes
        self._count = -1 if code.co_kwonlyargcount else len(frame.parameters)
        self._variable = bool(code.co_flags & UNSUPPORTED)

    def __call__(self, /, *args, **kwargs):
        """Return what the function returns, by a cache entry that fits or as plain Python."""
        if torch.compiler.is_compiling():  # the real one is tracing: it sees the function itself
            return self.fn(*args, **kwargs)
        if self.fn.__code__ is not self._code:
            self._why = "its code has been replaced since it was compiled"
            return self.fn(*args, **kwargs)
        if kwargs or len(args) != self._count or self._variable:
            values = self._bound(args, kwargs)
            if values is None:
                return self.fn(*args, **kwargs)
            args = values
        run = self.ready(args)
        return self.plain(*args) if run is None else run(*args)

    def __get__(self, owner, kind=None):
        return self if owner is None else MethodType(self, owner)

    def __repr__(self):
        return f"<{printable(self._frame.fn.__name__)}, compiled by the mini-Dynamo>"

    def ready(self, values: tuple):
        """Return what to run for these values, None for plain Python."""
        entry, misses = self._parts.lookup(self.entries, values)
        if entry is None:
            entry = self._new_entry(values, misses)
        entry.hits += 1
        if entry.run is None:
            self._why = entry.why
        return entry.run

    def frame_ready(self, values: tuple):
        """Return what to run instead of a frame with these values, None for the frame itself."""
        if self._variable:
            self._why = convert_frame.unsupported(self.fn.__code__)
            return None
        return self.ready(values)

    def plain(self, *values):
        """Run the function as it is, on the values of its parameters."""
        code = self.fn.__code__
        given = dict(zip(self._frame.parameters, values, strict=True))
        args = [given.pop(name, None) for name in code.co_varnames[: code.co_argcount]]
        given.pop("ignored", None)
        return self.fn(*args, **given)

    def _new_entry(self, values, misses) -> Entry:
        self.misses = misses
        if len(self.entries) >= LIMIT:
            why = f"{LIMIT} entries are the limit, and none fits"
            return convert_frame.refused(self._frame, None, why)
        try:
            entry = convert_frame.compile_frame(
                self._frame, values, self._backend, self._parts, self._resumed
            )
        except RecursionError:
            return convert_frame.refused(self._frame, None, "no room left to trace in")
        self.entries.append(entry)
        return entry

    def _resumed(self, key, stem: str, make) -> "Compiled":
        if key not in self._resumes:
            names = [one.__name__ for one in self._resumes.values()]
            alike = sum(name == stem or name.startswith(f"{stem}_") for name in names)
            frame = make(f"{stem}_{alike + 1}" if alike else stem)
            self._resumes[key] = Compiled(frame, self._backend, self._parts, self._resumes)
        return self._resumes[key]

    def _bound(self, args, kwargs):
        """Return the values of all parameters in order, None where they do not fit or vary."""
        if self._variable:
            self._why = convert_frame.unsupported(self.fn.__code__)
            return None
        try:
            bound = inspect.Signature.from_callable(self.fn, follow_wrapped=False)
            bound = bound.bind(*args, **kwargs)
        except TypeError:
            return None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._frame.parameters)

    def _tracing(self) -> list["Compiled"]:
        return [self]


def compile(fn=None, backend=None, parts=PARTS):
    """Return `fn`, traced when it is called; also `@compile` and `@compile(backend=...)`.

    `fn`: a Python function, or a method, a module or an object whose `__call__` is one.
    `backend(graph_module, example_inputs)` returns what runs instead of the graph. TypeError for
    anything else.
    """
    _check_backend(backend)
    if type(parts) is not Parts:
        raise TypeError(f"parts must be the five parts, such as PARTS, not {kind_of(parts)}")
    if fn is None:
        return functools.partial(compile, backend=backend, parts=parts)
    backend = backend or eager
    if type(fn) is FunctionType:
        return Compiled(frame_of(fn), backend, parts)
    return CompiledCall(fn, backend, parts)


def _check_backend(backend) -> None:
    if backend is not None and not callable(backend):
        raise TypeError(f"backend must be something to call, not {kind_of(backend)}")


def entry_for(fn, *values) -> Entry:
    """Return the cache entry that a call of `fn` with these values makes.

    `fn` is a Python function, and `values` has one for each of its parameters.
    """
    compiled = Compiled(frame_of(fn), eager)
    names = compiled._frame.parameters
    if len(values) != len(names):
        raise TypeError(
            f"{printable(fn.__name__)} has {len(names)} parameters, and {len(values)} were given"
        )
    compiled.ready(values)
    return compiled.entries[0]


class CompiledCall(Door):
    """A method, a module or an object with a `__call__`, traced as what is behind it.

    What is called is looked up at each call, as Python does.
    """

    def __init__(self, target, backend, parts):
        self.target = target
        self._backend, self._parts, self._why = backend, parts, ""
        self._by_function = {}  # a function -> its cache
        self._for(behind(target).fn)

    def __call__(self, /, *args, **kwargs):
        """Return what the target returns; as plain Python where it has to be called as it is."""
        there = behind(self.target)
        self._why = self._why or there.plainly
        if there.plainly or torch.compiler.is_compiling():
            return self.target(*args, **kwargs)
        return self._for(there.fn)(*there.first, *args, **kwargs)

    def __repr__(self):
        return f"<a {kind_of(self.target)}, compiled by the mini-Dynamo>"

    @property
    def entries(self) -> list[Entry]:
        """Return the cache entries, of every function that was met behind the target."""
        return [entry for one in self._tracing() for entry in one.entries]

    def _for(self, fn: FunctionType) -> Compiled:
        if fn not in self._by_function:
            self._by_function[fn] = Compiled(frame_of(fn), self._backend, self._parts)
        return self._by_function[fn]

    def _tracing(self) -> list[Compiled]:
        return list(self._by_function.values())


@contextmanager
def hooked(backend=None, only=()):
    """Trace the frames of these functions in a `with` block, whoever calls them.

    `only`: what `compile` takes, one or a list of them. Gives a dict: each -> its Compiled. Until
    the block ends each function has a code object of its own, an equal one: others that were made
    from the same lines are not traced. TypeError or ValueError for a wrong argument, RuntimeError
    where this machine has no frame hook.
    """
    from helpers.mini import frame_hook

    _check_backend(backend)
    things = list(only) if isinstance(only, (list, tuple, set, frozenset)) else [only]
    if not things:
        raise ValueError("only is empty: name the functions whose frames are to be traced")
    try:
        functions = {thing: behind(thing).fn for thing in things}
    except TypeError as error:
        words = str(error).replace("compile needs", "each of only must be")
        raise TypeError(words) from None
    before = {fn: fn.__code__ for fn in functions.values()}
    by_code = {}

    def instead(code, values):
        one = by_code.get(id(code))
        return one.frame_ready(values) if one else None

    try:
        for fn, code in before.items():
            fn.__code__ = code.replace()
            by_code[id(fn.__code__)] = Compiled(frame_of(fn), backend or eager)
        with frame_hook.watching(instead, only=[fn.__code__ for fn in before]):
            yield {thing: by_code[id(fn.__code__)] for thing, fn in functions.items()}
    finally:
        for one in by_code.values():
            if one.fn.__code__ is one._code:
                one.fn.__code__ = before[one.fn]
            one._code = before[one.fn]
