"""The two doors: a decorator, and a frame hook. Mirrors torch/_dynamo/eval_frame.py."""

import functools
from contextlib import contextmanager
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo import compiling
from helpers.mini.dynamo.calls import UNSUPPORTED
from helpers.mini.dynamo.entries import Entry
from helpers.mini.dynamo.parts import PARTS

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
        self.fn, self._code = frame.fn, frame.fn.__code__
        functools.update_wrapper(self, frame.fn)
        self.entries, self.misses, self._why = [], [], ""
        self._frame, self._backend, self._parts = frame, backend, parts
        self._resumes = {} if resumes is None else resumes
        by_name_only = frame.fn.__code__.co_kwonlyargcount
        self._count = -1 if by_name_only else len(frame.parameters)
        self._variable = bool(frame.fn.__code__.co_flags & UNSUPPORTED)

    def __call__(self, *args, **kwargs):
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
        return f"<{self._frame.fn.__name__}, compiled by the mini-Dynamo>"

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
            self._why = compiling.unsupported(self.fn.__code__)
            return None
        return self.ready(values)

    def plain(self, *values):
        """Run the function as it is, on the values of its parameters."""
        code = self.fn.__code__
        names = code.co_varnames[: code.co_argcount]
        given = dict(zip(self._frame.parameters, values, strict=True))
        args = [given.pop(name, None) for name in names]
        given.pop("ignored", None)
        return self.fn(*args, **given)

    def _new_entry(self, values, misses) -> Entry:
        self.misses = misses
        if len(self.entries) >= LIMIT:
            why = f"{LIMIT} entries are the limit, and none fits"
            return compiling.refused(self._frame, None, why)
        try:
            entry = compiling.compile_frame(
                self._frame, values, self._backend, self._parts, self._resumed
            )
        except RecursionError:
            return compiling.refused(self._frame, None, "no room left to trace in")
        self.entries.append(entry)
        return entry

    def _resumed(self, key, stem: str, make) -> "Compiled":
        """Return the rest of the function for a place; the same one for the same place."""
        if key not in self._resumes:
            names = [one.__name__ for one in self._resumes.values()]
            alike = sum(name == stem or name.startswith(f"{stem}_") for name in names)
            frame = make(f"{stem}_{alike + 1}" if alike else stem)
            self._resumes[key] = Compiled(frame, self._backend, self._parts, self._resumes)
        return self._resumes[key]

    def _bound(self, args, kwargs):
        """Return the values of all parameters in order, None where they do not fit or vary."""
        code, fn = self.fn.__code__, self.fn
        if self._variable:
            self._why = compiling.unsupported(code)
            return None
        names = self._frame.parameters
        if len(args) > code.co_argcount or kwargs.keys() & set(names[: len(args)]):
            return None
        given = dict(zip(names, args, strict=False)) | kwargs
        if kwargs.keys() - set(names) or kwargs.keys() & set(names[: code.co_posonlyargcount]):
            return None
        defaults = fn.__defaults__ or ()
        usual = dict(zip(names[code.co_argcount - len(defaults) :], defaults, strict=False))
        usual |= fn.__kwdefaults__ or {}
        values = {**usual, **given}
        return tuple(values[name] for name in names) if len(values) == len(names) else None

    # --- to look at

    @property
    def why(self) -> str:
        """Return why a part of this function ran as plain Python; nothing if none did."""
        return next((one._why for one in self._parts_of_it() if one._why), "")

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
        """Return this and what goes on after its graph breaks, in the order of the source."""
        seen, waiting = [], [self]
        while waiting:
            compiled = waiting.pop(0)
            if compiled not in seen:
                seen.append(compiled)
                waiting += [rest for entry in compiled.entries for rest in entry.resumes]
        return seen

    def _all_entries(self):
        return [entry for part in self._parts_of_it() for entry in part.entries]


def compile(fn=None, backend=None, parts=PARTS):
    """Return `fn`, traced when it is called; also `@compile` and `@compile(backend=...)`.

    `backend(graph_module, example_inputs)` returns what runs instead of the graph. TypeError for
    what is no Python function.
    """
    if fn is None:
        return functools.partial(compile, backend=backend, parts=parts)
    if backend is not None and not callable(backend):
        raise TypeError(f"backend must be something to call, not {type(backend).__name__}")
    return Compiled(frame_of(fn), backend or eager, parts)


def frame_of(fn) -> compiling.Frame:
    """Return a Python function as what can be traced; TypeError for anything else."""
    if type(fn) is not FunctionType:
        raise TypeError(f"compile needs a Python function, not {type(fn).__name__}")
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return compiling.Frame(fn, names)


def entry_for(fn, *values) -> Entry:
    """Return the cache entry that a call of `fn` with these values makes."""
    compiled = compile(fn)
    compiled.ready(values)
    return compiled.entries[0]


@contextmanager
def hooked(backend=None, only=()):
    """Trace the frames of these functions in a `with` block, whoever calls them.

    Gives a dict: function -> Compiled. RuntimeError where this machine has no frame hook.
    """
    from helpers.mini import frame_hook

    compiled = {fn: compile(fn, backend) for fn in only}
    by_code = {id(fn.__code__): one for fn, one in compiled.items()}

    def instead(code, values):
        one = by_code.get(id(code))
        return one.frame_ready(values) if one else None

    with frame_hook.watching(instead, only=list(compiled)):
        yield compiled
