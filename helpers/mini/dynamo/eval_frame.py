"""The two doors, a decorator and a frame hook; and the cache of ways to run a function.

Mirrors torch/_dynamo/eval_frame.py, and torch/csrc/dynamo/cache_entry.cpp.
"""

import functools
import inspect
from contextlib import contextmanager
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo import convert_frame
from helpers.mini.dynamo.call_function import UNSUPPORTED
from helpers.mini.dynamo.convert_frame import Entry, frame_of
from helpers.mini.dynamo.parts import PARTS, Parts
from helpers.safety.arguments import printable, real_type_name

LIMIT = 8  # entries per function


def eager(module, example_inputs):
    """Run the graph call by call: the backend that compiles nothing."""
    return module.forward


class Compiled:
    """A function that is traced when it is called. It never gives what plain Python would not.

    `entries` is its cache, `misses` the first failing guard of each entry at the last call that
    none fitted.
    """

    def __init__(self, frame, backend=eager, parts=PARTS, resumes=None):
        functools.update_wrapper(self, frame.fn)  # first: the function may have a `fn` as well
        self.fn = frame.fn
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

    @property
    def why(self) -> str:
        """Return why a part of this ran as plain Python; nothing if none did."""
        return next((part._why for part in self._parts_of_it() if part._why), "")

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

    def _parts_of_it(self) -> list["Compiled"]:
        seen, waiting = [], [self]
        while waiting:
            compiled = waiting.pop(0)
            if compiled not in seen:
                seen.append(compiled)
                waiting += [rest for entry in compiled.entries for rest in entry.resumes]
        return seen

    def _all_entries(self) -> list[Entry]:
        return [entry for part in self._parts_of_it() for entry in part.entries]


def compile(fn=None, backend=None, parts=PARTS):
    """Return `fn`, traced when it is called; also `@compile` and `@compile(backend=...)`.

    `fn`: a Python function. `backend(graph_module, example_inputs)` returns what runs instead of
    the graph. TypeError for anything else.
    """
    _check_backend(backend)
    if type(parts) is not Parts:
        raise TypeError(f"parts must be the five parts, such as PARTS, not {real_type_name(parts)}")
    if fn is None:
        return functools.partial(compile, backend=backend, parts=parts)
    _check_function(fn, "compile needs a Python function")
    return Compiled(frame_of(fn), backend or eager, parts)


def _check_function(fn, needed: str) -> None:
    if type(fn) is not FunctionType:
        instead = "write a function that calls it" if callable(fn) else "such as def makes"
        raise TypeError(f"{needed}, not {real_type_name(fn)}: {instead}")


def _check_backend(backend) -> None:
    if backend is not None and not callable(backend):
        raise TypeError(f"backend must be something to call, not {real_type_name(backend)}")


def entry_for(fn, *values) -> Entry:
    """Return the cache entry that a call of `fn` with these values makes."""
    compiled = Compiled(frame_of(fn), eager)
    names = compiled._frame.parameters
    if len(values) != len(names):
        raise TypeError(
            f"{printable(fn.__name__)} has {len(names)} parameters, and {len(values)} were given"
        )
    compiled.ready(values)
    return compiled.entries[0]


@contextmanager
def hooked(backend=None, only=()):
    """Trace the frames of these functions in a `with` block, whoever calls them.

    `only`: one function or a list of them. Gives a dict: each -> its Compiled. Until the block ends
    each has a code object of its own, an equal one: others that were made from the same lines are
    not traced. TypeError or ValueError for a wrong argument, RuntimeError without a frame hook.
    """
    from helpers.mini import frame_hook

    _check_backend(backend)
    functions = list(only) if isinstance(only, (list, tuple, set, frozenset)) else [only]
    if not functions:
        raise ValueError("only is empty: name the functions whose frames are to be traced")
    for fn in functions:
        _check_function(fn, "each of only must be a Python function")
    before = {fn: fn.__code__ for fn in functions}
    by_code = {}

    def instead(code, values):
        one = by_code.get(id(code))
        return one.frame_ready(values) if one else None

    try:
        for fn, code in before.items():
            fn.__code__ = code.replace()
            by_code[id(fn.__code__)] = Compiled(frame_of(fn), backend or eager)
        with frame_hook.watching(instead, only=[fn.__code__ for fn in before]):
            yield {fn: by_code[id(fn.__code__)] for fn in functions}
    finally:
        for one in by_code.values():
            if one.fn.__code__ is one._code:
                one.fn.__code__ = before[one.fn]
            one._code = before[one.fn]
