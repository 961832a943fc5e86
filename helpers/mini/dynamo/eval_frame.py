"""The two doors, a decorator and a frame hook; and the cache of ways to run a function.

Mirrors torch/_dynamo/eval_frame.py, and torch/csrc/dynamo/cache_entry.cpp.
"""

import functools
import inspect
from contextlib import contextmanager
from types import FunctionType, MethodType

import torch

from ...safety.arguments import real_type_name
from .convert_frame import Entry, Frame, compile_frame, refused
from .parts import PARTS, Parts

LIMIT = 8  # entries per function


def eager(module, example_inputs):
    """Run the graph call by call: the backend that compiles nothing."""
    return module.forward


class Compiled:
    """A function that is traced when it is called. It never gives what plain Python would not.

    `entries` is its cache, `misses` the first failing guard of each entry at the last call that
    none fitted.
    """

    def __init__(self, frame: Frame, backend=eager, parts: Parts = PARTS, resumes=None):
        """Make a compiled function without entries.

        `resumes` has the compiled rests of the whole function by key, which all its rests share;
        None makes an empty dict.
        """
        functools.update_wrapper(self, frame.fn)  # first: the function may have a `fn` as well
        self.fn = frame.fn
        self.entries = []
        self.misses = []
        self._code = frame.fn.__code__
        self._why = ""  # why the last call that ran as plain Python did so
        self._frame = frame
        self._backend = backend
        self._parts = parts
        self._resumes = {} if resumes is None else resumes
        # With so many arguments by position there is nothing to bind; -1: there always is.
        self._plain_count = -1 if self._code.co_kwonlyargcount else len(frame.parameters)

    def __call__(self, /, *args, **kwargs):
        """Return what the function returns, by a cache entry that fits or as plain Python."""
        if torch.compiler.is_compiling():  # the real one is tracing: it sees the function itself
            return self.fn(*args, **kwargs)
        is_plain = not kwargs and len(args) == self._plain_count
        is_current = self.fn.__code__ is self._code
        values = args if is_plain and is_current else self._bind(args, kwargs)
        run = None if values is None else self.ready(values)  # None: as plain Python
        if run is None:
            return self._frame.run_plainly(*args, **kwargs)
        return run(*values)

    def __get__(self, owner, kind=None):
        """Return a bound method, as a function in a class does."""
        if owner is None:
            return self
        return MethodType(self, owner)

    def _bind(self, args, kwargs):
        """Return the values of the parameters, in order; None where plain Python has to run."""
        if self.fn.__code__ is not self._code:
            self._why = "its code has been replaced since it was compiled"
            return None
        try:
            bound = inspect.signature(self.fn, follow_wrapped=False).bind(*args, **kwargs)
        except TypeError:  # plain Python raises the same, in its own words
            return None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._frame.parameters)

    def ready(self, values: tuple):
        """Return what to run for these values, None for plain Python."""
        entry, misses = self._parts.lookup(self.entries, values)
        if entry is None:
            self.misses = misses
            entry = self._make_entry(values)
        self._why = entry.why or self._why
        return entry.run

    def _make_entry(self, values: tuple) -> Entry:
        """Return a new entry for these values; beyond `LIMIT` one that nobody keeps."""
        if len(self.entries) >= LIMIT:
            reason = f"{LIMIT} entries are the limit, and none matches"
            return refused(self._frame, None, reason)
        entry = compile_frame(self._frame, values, self._backend, self._parts, self._resumed)
        self.entries.append(entry)
        return entry

    def _resumed(self, key, stem: str, make_frame) -> "Compiled":
        """Return the compiled rest of the function under this key, made if there is none yet.

        `make_frame(name)` returns its Frame. The name is `stem`, with a number if that is taken.
        """
        if key in self._resumes:
            return self._resumes[key]
        names = [rest.__name__ for rest in self._resumes.values()]
        alike_count = sum(name == stem or name.startswith(f"{stem}_") for name in names)
        name = f"{stem}_{alike_count + 1}" if alike_count else stem
        rest = Compiled(make_frame(name), self._backend, self._parts, self._resumes)
        self._resumes[key] = rest
        return rest

    @property
    def why(self) -> str:
        """Return why a part of this ran as plain Python; nothing if none did."""
        for compiled in self._with_rests():
            if compiled._why:
                return compiled._why
        return ""

    @property
    def source(self) -> str:
        """Return the Python that was generated: of every entry, then of what continues after it."""
        return "\n".join(self._of_entries("source"))

    @property
    def graphs(self) -> list:
        """Return the FX graphs, in the order of `source`."""
        return self._of_entries("graph")

    @property
    def breaks(self) -> list[str]:
        """Return why the graph broke, once for each break."""
        return self._of_entries("broke")

    def _with_rests(self) -> list["Compiled"]:
        """Return this and every rest that continues after a graph break, each once."""
        every = [self]
        for compiled in every:  # it grows
            for entry in compiled.entries:
                for rest in entry.resumes:
                    if rest not in every:
                        every.append(rest)
        return every

    def _of_entries(self, name: str) -> list:
        """Return the attribute of this name of every entry of `_with_rests`, less empty ones."""
        values = []
        for compiled in self._with_rests():
            values += [getattr(entry, name) for entry in compiled.entries]
        return [value for value in values if value not in (None, "")]


def compile(fn=None, backend=None, parts=PARTS):
    """Return `fn`, traced when it is called; also `@compile` and `@compile(backend=...)`.

    `fn`: a Python function. `backend(graph_module, example_inputs)` returns what runs instead of
    the graph. TypeError for anything else.
    """
    _require_callable(backend)
    if fn is None:
        return functools.partial(compile, backend=backend, parts=parts)
    _require_function(fn, "compile needs a Python function")
    return Compiled(Frame(fn), backend or eager, parts)


def _require_function(fn, needed: str) -> None:
    """Raise TypeError for what is no Python function; the sentence begins with `needed`."""
    if type(fn) is not FunctionType:
        advice = "write a function that calls it" if callable(fn) else "such as one made by def"
        raise TypeError(f"{needed}, not {real_type_name(fn)}: {advice}")


def _require_callable(backend) -> None:
    """Raise TypeError for a backend that cannot be called; None stands for `eager`."""
    if backend is not None and not callable(backend):
        raise TypeError(f"backend must be callable, not {real_type_name(backend)}")


def entry_for(fn, *values) -> Entry:
    """Return the cache entry that a call of `fn` with these values, one a parameter, makes."""
    compiled = Compiled(Frame(fn))
    compiled.ready(values)
    return compiled.entries[0]


@contextmanager
def hooked(backend=None, only=()):
    """Trace the frames of these functions in a `with` block, from any caller.

    `only`: one function or a list of them. Gives a dict: each -> its Compiled. Until the block ends
    each has a code object of its own, an equal one: others that were made from the same lines are
    not traced. TypeError or ValueError for a wrong argument, RuntimeError without a frame hook.
    """
    from .. import frame_hook

    _require_callable(backend)
    functions = only if isinstance(only, (list, tuple)) else [only]
    for fn in functions:
        _require_function(fn, "each of only must be a Python function")
    codes = {fn: fn.__code__ for fn in functions}
    compiled = {}
    try:
        for fn, code in codes.items():
            fn.__code__ = code.replace()
            compiled[fn] = Compiled(Frame(fn), backend or eager)
        ready_by_code_id = {id(fn.__code__): entry.ready for fn, entry in compiled.items()}

        def find_replacement(code, values):
            return ready_by_code_id[id(code)](values)

        with frame_hook.watching(find_replacement, only=functions):
            yield compiled
    finally:
        for fn, entry in compiled.items():
            fn.__code__ = codes[fn]
            entry._code = codes[fn]  # or a later call would find that the code was replaced
