"""The two doors: a decorator, and a frame hook. Mirrors torch/_dynamo/eval_frame.py."""

import functools
from contextlib import contextmanager
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo.cache_entry import Entry
from helpers.mini.dynamo.compiled_function import Compiled, Door, behind, eager
from helpers.mini.dynamo.convert_frame import frame_of
from helpers.mini.dynamo.parts import PARTS, Parts
from helpers.safety.arguments import kind_of, printable

LISTS = (list, tuple, set, frozenset)


def compile(fn=None, backend=None, parts=PARTS):
    """Return `fn`, traced when it is called; also `@compile` and `@compile(backend=...)`.

    `fn`: a Python function, or a method, a partial, a module or an object whose `__call__` is one.
    `backend(graph_module, example_inputs)` returns what runs instead of the graph. TypeError for
    anything else.
    """
    _check_backend(backend)
    if type(parts) is not Parts:
        raise TypeError(f"parts must be the five parts, such as PARTS, not {kind_of(parts)}")
    if fn is None:
        return functools.partial(compile, backend=backend, parts=parts)
    backend, kind = backend or eager, type(fn)
    if kind is FunctionType:
        return Compiled(frame_of(fn), backend, parts)
    if kind in (staticmethod, classmethod):
        return kind(compile(fn.__func__, backend, parts))
    if issubclass(kind, Door):
        return compile(fn.target, backend, parts)
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
    """A method, a partial, a module or an object with a `__call__`, traced as what is behind it.

    What is called is looked up at each call, as Python does.
    """

    def __init__(self, target, backend, parts):
        if type(target) is MethodType and type(target.__func__) is FunctionType:
            functools.update_wrapper(self, target)
        self.target = self.__wrapped__ = target
        self._backend, self._parts, self._why = backend, parts, ""
        self._by_function = {}  # a function -> its cache
        self._for(behind(target).fn)

    def __call__(self, /, *args, **kwargs):
        """Return what the target returns; as plain Python where it has to be called as it is."""
        if torch.compiler.is_compiling():
            return self.target(*args, **kwargs)
        try:
            found = behind(self.target)
        except TypeError as error:
            self._why = str(error)
            return self.target(*args, **kwargs)
        if found.plainly:
            self._why = found.plainly
            return self.target(*args, **kwargs)
        return self._for(found.fn)(*found.first, *args, **{**found.named, **kwargs})

    def __repr__(self):
        return f"<a {kind_of(self.target)}, compiled by the mini-Dynamo>"

    @property
    def entries(self) -> list[Entry]:
        """Return the cache entries, of every function that was met behind the target."""
        return [entry for one in self._tracing() for entry in one.entries]

    @property
    def misses(self) -> list[str]:
        """Return the first failing guard of each entry at the last call that none fitted."""
        return [text for one in self._tracing() for text in one.misses]

    def _for(self, fn: FunctionType) -> Compiled:
        if fn not in self._by_function:
            self._by_function[fn] = Compiled(frame_of(fn), self._backend, self._parts)
        return self._by_function[fn]

    def _tracing(self) -> list[Compiled]:
        return list(self._by_function.values())

    def _parts_of_it(self) -> list:
        return [*super()._parts_of_it(), Reason(self._why)]


class Reason:
    """Why a target was called as it is, beside the reasons of the caches."""

    def __init__(self, why: str):
        self._why = why


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
    things = list(only) if isinstance(only, LISTS) else [only]
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
