"""A Python function -> a cache of ways to run it, asked at each call.

Mirrors torch/_dynamo/eval_frame.py, and torch/csrc/dynamo/cache_entry.cpp.
"""

import functools
import sys
from types import MethodType

import torch

from helpers.mini.dynamo import convert_frame
from helpers.mini.dynamo.cache_entry import Entry
from helpers.mini.dynamo.callables import Door
from helpers.mini.dynamo.explain import Seen
from helpers.mini.dynamo.steps import PARTS
from helpers.mini.dynamo.variables import UNSUPPORTED
from helpers.safety.arguments import printable

LIMIT = 8  # entries per function


def eager(module, example_inputs):
    """Run the graph call by call: the backend that compiles nothing."""
    return module.forward


def again(fn, backend, parts):
    """Return the function traced anew, with an empty cache: what pickle and copy make of one."""
    fn = fn.fn if type(fn) is Compiled else fn  # in the other process its name may be decorated
    return Compiled(convert_frame.frame_of(fn), backend, parts)


class Compiled(Door, Seen):
    """A function that is traced when it is called. It never gives what plain Python would not.

    `entries` is its cache, `misses` the first failing guard of each entry at the last call that
    none fitted.
    """

    def __init__(self, frame, backend=eager, parts=PARTS, resumes=None):
        functools.update_wrapper(self, frame.fn)  # first: the function may have a `fn` as well
        self.fn = self.target = frame.fn
        self._code = frame.fn.__code__
        self.entries, self.misses, self._why = [], [], ""
        self._made = 0  # entries so far, those among them that were dropped since
        self._frame, self._backend, self._parts = frame, backend, parts
        self._resumes = {} if resumes is None else resumes
        by_name_only = frame.fn.__code__.co_kwonlyargcount
        self._count = -1 if by_name_only else len(frame.parameters)
        self._variable = bool(frame.fn.__code__.co_flags & UNSUPPORTED)

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

    def __reduce__(self):
        """A decorated function is found again by its name; any other is compiled anew."""
        at = sys.modules.get(self.fn.__module__)
        for name in self.fn.__qualname__.split("."):
            at = getattr(at, name, None)
        if at is self:
            return self.fn.__qualname__
        return again, (self.fn, self._backend, self._parts)

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
        names = code.co_varnames[: code.co_argcount]
        given = dict(zip(self._frame.parameters, values, strict=True))
        args = [given.pop(name, None) for name in names]
        given.pop("ignored", None)
        return self.fn(*args, **given)

    def _new_entry(self, values, misses) -> Entry:
        self.misses = misses
        if self._made >= LIMIT:
            why = f"{LIMIT} entries are the limit, and none fits"
            return convert_frame.refused(self._frame, None, why)
        try:
            entry = convert_frame.compile_frame(
                self._frame, values, self._backend, self._parts, self._resumed
            )
        except RecursionError:
            return convert_frame.refused(self._frame, None, "no room left to trace in")
        self.entries[:] = [old for old in self.entries if not old.is_over(values)] + [entry]
        self._made += 1
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
        if len(args) > count or len(defaults) > count or kwargs.keys() & set(names[: len(args)]):
            return None
        if any(type(name) is not str for name in kwargs) or type(by_name) is not dict:
            return None
        given = dict(zip(names, args, strict=False)) | kwargs
        if kwargs.keys() - set(names) or kwargs.keys() & set(names[: code.co_posonlyargcount]):
            return None
        usual = dict(zip(names[count - len(defaults) :], defaults, strict=False))
        usual |= {name: by_name[name] for name in names[count:] if name in by_name}
        values = {**usual, **given}
        return tuple(values[name] for name in names) if len(values) == len(names) else None

    def _tracing(self) -> list["Compiled"]:
        return [self]
