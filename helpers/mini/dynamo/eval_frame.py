"""The mini-Dynamo's entry points, `compile` and `hooked`, and the cache of a compiled function. A
cache entry has guards, which are conditions on the arguments, and the code that runs if they hold.
After a graph break, the code calls a *resume function*, which runs the rest of the function and has
a cache of its own.

Mirrors torch/_dynamo/eval_frame.py, and torch/csrc/dynamo/cache_entry.cpp.
"""

import functools
import inspect
from contextlib import contextmanager
from types import FunctionType, MethodType

import torch

from ...safety.arguments import real_type_name
from .convert_frame import Entry, Frame, compile_frame, make_plain_entry
from .parts import PARTS, Parts

LIMIT = 8  # entries per function


def eager(module, example_inputs):
    """Return what runs the graph call by call: the backend that compiles nothing."""
    return module.forward


class Compiled:
    """A function with a cache of compiled code, called like the function itself.

    `entries` is the cache. `misses` is about the last call that no entry fitted: it has the text of
    the first failing guard of each entry.
    """

    def __init__(self, frame: Frame, backend=eager, parts: Parts = PARTS, resume_functions=None):
        """Make a compiled function with an empty cache.

        `resume_functions` is a dict that a function and all its resume functions share: key (see
        `_get_resume_function`) -> Compiled. None makes an empty one.
        """
        functools.update_wrapper(self, frame.fn)  # first: the function may have a `fn` as well
        self.fn = frame.fn
        self.entries = []
        self.misses = []
        self._code = frame.fn.__code__
        self._plain_reason = ""  # why a call ran as plain Python: the last such call
        self._frame = frame
        self._backend = backend
        self._parts = parts
        self._resume_functions = {} if resume_functions is None else resume_functions
        # A call with so many positional arguments already has the value of each parameter, in
        # order. -1 if the function has keyword-only parameters, so that no call is like that.
        self._positional_count = -1 if self._code.co_kwonlyargcount else len(frame.parameters)

    def __call__(self, /, *args, **kwargs):
        """Run the code of the cache entry that fits, or the function as plain Python.

        If no entry fits, the function is compiled for these arguments.
        """
        if torch.compiler.is_compiling():  # torch.compile traces this call, so it gets the function
            return self.fn(*args, **kwargs)
        has_bound_order = not kwargs and len(args) == self._positional_count
        is_current = self.fn.__code__ is self._code
        values = args if has_bound_order and is_current else self._bind(args, kwargs)
        run = None if values is None else self.find_runnable(values)
        if run is None:  # plain Python
            return self._frame.run_plainly(*args, **kwargs)
        return run(*values)

    def __get__(self, owner, kind=None):
        """Return a bound method, as a function in a class does."""
        if owner is None:
            return self
        return MethodType(self, owner)

    def _bind(self, args, kwargs):
        """Return the values of the parameters, in order; None if plain Python has to run."""
        if self.fn.__code__ is not self._code:
            self._plain_reason = "its code has been replaced since it was compiled"
            return None
        try:
            bound = inspect.signature(self.fn, follow_wrapped=False).bind(*args, **kwargs)
        except TypeError:  # wrong arguments: plain Python raises the error, with its own message
            return None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._frame.parameters)

    def find_runnable(self, values: tuple):
        """Return the code to call with these values, one a parameter; None for plain Python.

        If no entry of the cache fits, a new one is compiled.
        """
        entry, misses = self._parts.lookup(self.entries, values)
        if entry is None:
            self.misses = misses
            entry = self._make_entry(values)
        self._plain_reason = entry.why or self._plain_reason
        return entry.run

    def _make_entry(self, values: tuple) -> Entry:
        """Compile an entry for these values and add it to the cache.

        If the cache is full, return an entry for plain Python, and do not add it.
        """
        if len(self.entries) >= LIMIT:
            reason = f"{LIMIT} entries are the limit, and none matches"
            return make_plain_entry(self._frame, None, reason)
        entry = compile_frame(
            self._frame, values, self._backend, self._parts, self._get_resume_function
        )
        self.entries.append(entry)
        return entry

    def _get_resume_function(self, key, stem: str, make_frame) -> "Compiled":
        """Return the compiled resume function for a key; make it if there is none yet.

        The key says where the function continues: (bytecode offset, layout of the stack, names that
        it receives). `make_frame(name)` returns the Frame of a new one. Its name is `stem`, with a
        number if another resume function has that name.
        """
        if key in self._resume_functions:
            return self._resume_functions[key]
        names = [function.__name__ for function in self._resume_functions.values()]
        same_stem_count = sum(name == stem or name.startswith(f"{stem}_") for name in names)
        name = f"{stem}_{same_stem_count + 1}" if same_stem_count else stem
        resume_function = Compiled(
            make_frame(name), self._backend, self._parts, self._resume_functions
        )
        self._resume_functions[key] = resume_function
        return resume_function

    @property
    def why(self) -> str:
        """Return why the function or a resume function ran as plain Python; "" if none did."""
        for compiled in self._list_reachable():
            if compiled._plain_reason:
                return compiled._plain_reason
        return ""

    @property
    def source(self) -> str:
        """Return the generated Python: of each entry, then of the resume functions."""
        return "\n".join(self._collect_from_entries("source"))

    @property
    def graphs(self) -> list:
        """Return the FX graphs, in the order of `source`."""
        return self._collect_from_entries("graph")

    @property
    def breaks(self) -> list[str]:
        """Return why the graph broke, once for each break."""
        return self._collect_from_entries("broke")

    def _list_reachable(self) -> list["Compiled"]:
        """Return this function and all resume functions that its code may call, each once."""
        reached = [self]
        for compiled in reached:  # the list grows while it is iterated over
            for entry in compiled.entries:
                for resume_function in entry.resume_functions:
                    if resume_function not in reached:
                        reached.append(resume_function)
        return reached

    def _collect_from_entries(self, name: str) -> list:
        """Return one attribute of the cache entries of all reachable functions, without empty ones.

        `name` is an attribute of `Entry`, such as "source".
        """
        values = []
        for compiled in self._list_reachable():
            values += [getattr(entry, name) for entry in compiled.entries]
        return [value for value in values if value not in (None, "")]


def compile(fn=None, backend=None, parts=PARTS):
    """Return a Compiled for `fn`; also as a decorator, `@compile` or `@compile(backend=...)`.

    `fn` is a Python function. `backend(graph_module, example_inputs)` returns what runs instead of
    the graph. TypeError for anything else.
    """
    _require_callable(backend)
    if fn is None:  # `@compile(backend=...)`: the function comes in the next call
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
    compiled.find_runnable(values)
    return compiled.entries[0]


@contextmanager
def hooked(backend=None, only=()):
    """Compile the frames of some functions in a `with` block, whoever calls them.

    `only` is one function or a list of them. The block receives a dict: function -> its Compiled.
    The frame hook tells functions apart by their code object. Two closures made by the same `def`
    share one, so until the block ends each function has a copy of its code object. TypeError or
    ValueError for a wrong argument, RuntimeError without a frame hook.
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
        compiled_by_code_id = {id(fn.__code__): target for fn, target in compiled.items()}

        def find_replacement(code, values):
            """Return what runs instead of a frame with these arguments; None for the frame."""
            return compiled_by_code_id[id(code)].find_runnable(values)

        with frame_hook.watching(find_replacement, only=functions):
            yield compiled
    finally:
        for fn, target in compiled.items():
            fn.__code__ = codes[fn]
            target._code = codes[fn]  # otherwise a later call would refuse: code was replaced
