"""A Python function -> a cache of ways to run it, asked at each call; and what came of it.

Mirrors torch/_dynamo/eval_frame.py, and torch/csrc/dynamo/cache_entry.cpp.
"""

import functools
from dataclasses import dataclass, field
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo import convert_frame
from helpers.mini.dynamo.cache_entry import Entry
from helpers.mini.dynamo.call_function import UNSUPPORTED
from helpers.mini.dynamo.global_state import calls_forward, found, hookless
from helpers.mini.dynamo.parts import PARTS
from helpers.safety.arguments import kind_of, printable

LIMIT = 8  # entries per function
LAYERS = 50  # a partial of a method of a partial …
TAKEN = "a Python function, or a method, a partial, a module or an object whose call is one"


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

    def _parts_of_it(self) -> list:
        """Return the caches and what goes on after their breaks, in the order of the source."""
        seen, waiting = [], self._tracing()
        while waiting:
            compiled = waiting.pop(0)
            if compiled not in seen:
                seen.append(compiled)
                waiting += [rest for entry in compiled.entries for rest in entry.resumes]
        return seen

    def _all_entries(self):
        return [entry for part in self._parts_of_it() for entry in getattr(part, "entries", ())]


@dataclass(frozen=True)
class Behind:
    """A Python function, and what a call puts before and beside its arguments.

    `plainly` says why the target has to be called as it is, where it has to.
    """

    fn: FunctionType
    first: tuple = ()
    named: dict = field(default_factory=dict)
    plainly: str = ""


def behind(target) -> Behind:
    """Return what a call of `target` comes down to now; TypeError if that is no Python function."""
    first, named, why, at = (), {}, "", target
    for _ in range(LAYERS):
        kind = type(at)
        if kind is FunctionType:
            return Behind(at, first, named, why)
        if kind is MethodType:
            first, at = (at.__self__, *first), at.__func__
        elif kind is functools.partial:
            first, named, at = (*at.args, *first), {**at.keywords, **named}, at.func
        elif issubclass(kind, Door):
            at = at.target
        elif issubclass(kind, torch.nn.Module):
            if not (calls_forward(kind) and hookless(at)):
                why = why or "a module with hooks, or with a call of its own, is called"
            first, at = (at, *first), found(kind, "forward")
        elif type(call := found(kind, "__call__")) is FunctionType and not issubclass(kind, type):
            first, at = (at, *first), call
        else:
            of = "" if at is target else f", which is behind this {kind_of(target)}"
            raise TypeError(f"compile needs {TAKEN}, not {kind_of(at)}{of}")
    raise TypeError(f"compile needs {TAKEN}, not one behind more than {LAYERS} others")


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
            self._why = convert_frame.unsupported(code)
            return None
        names, count = self._frame.parameters, code.co_argcount
        defaults, by_name = fn.__defaults__ or (), fn.__kwdefaults__ or {}
        if len(args) > count or kwargs.keys() & set(
            names[: max(len(args), code.co_posonlyargcount)]
        ):
            return None
        given = dict(zip(names, args, strict=False)) | kwargs
        usual = dict(zip(names[count - len(defaults) :], defaults, strict=False)) | by_name
        values = {**usual, **given}
        fits = values.keys() == set(names)
        return tuple(values[name] for name in names) if fits else None

    def _tracing(self) -> list["Compiled"]:
        return [self]
