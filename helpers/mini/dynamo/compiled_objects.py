"""Methods, partials, modules, objects with a `__call__` -> the same, traced when they are called.

What is called is looked up at each call, as Python does. Mirrors OptimizedModule in
torch/_dynamo/eval_frame.py.
"""

import functools
from types import FunctionType, MethodType

import torch

from helpers.mini.dynamo.callables import Door, behind
from helpers.mini.dynamo.compiled_function import Compiled
from helpers.mini.dynamo.convert_frame import frame_of
from helpers.mini.dynamo.explain import Seen
from helpers.mini.dynamo.global_state import HOOKS
from helpers.safety.arguments import kind_of


class CompiledCall(Door, Seen):
    """A method, a partial or an object with a `__call__`, traced as the function behind it."""

    def __init__(self, target, backend, parts):
        if type(target) is MethodType and type(target.__func__) is FunctionType:
            functools.update_wrapper(self, target)
        self.target = self.__wrapped__ = target
        self._backend, self._parts, self._why, self.entries = backend, parts, "", []
        self._by_function = {}  # id of a function -> its cache, which keeps it alive
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

    def __reduce__(self):
        return CompiledCall, (self.target, self._backend, self._parts)

    @property
    def misses(self) -> list[str]:
        """Return the first failing guard of each entry at the last call that none fitted."""
        return [text for one in self._by_function.values() for text in one.misses]

    def _for(self, fn: FunctionType) -> Compiled:
        if id(fn) not in self._by_function:
            made = Compiled(frame_of(fn), self._backend, self._parts)
            self._by_function[id(fn)] = made
        return self._by_function[id(fn)]

    def _tracing(self) -> list:
        return [*self._by_function.values()]

    def _parts_of_it(self) -> list:
        return [*super()._parts_of_it(), self]


class CompiledModule(Door, Seen, torch.nn.Module):
    """A module that calls another one, traced; all that it is asked for is the other one's.

    It is a module as OptimizedModule is one: `_orig_mod` is the other, `state_dict` names it.
    """

    def __init__(self, module, backend, parts):
        super().__init__()
        self._modules["_orig_mod"] = module
        object.__setattr__(self, "_call", CompiledCall(module, backend, parts))

    def __call__(self, /, *args, **kwargs):
        """Return what the module returns; a hook for all modules runs once, for the module."""
        if any(self.__dict__[hooks] for hooks in HOOKS):
            return super().__call__(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def forward(self, /, *args, **kwargs):
        """Return what the module returns."""
        return self._call(*args, **kwargs)

    @property
    def target(self):
        """Return the module that is traced."""
        return self._modules["_orig_mod"]

    @property
    def training(self) -> bool:
        """Return whether the module is in training mode."""
        return self.target.training

    @training.setter
    def training(self, value: bool) -> None:
        if "_orig_mod" in self.__dict__.get("_modules", ()):
            self.target.training = value

    @property
    def entries(self) -> list:
        """Return the cache entries, of every `forward` that was met."""
        return [entry for one in self._call._tracing() for entry in one.entries]

    @property
    def misses(self) -> list[str]:
        """Return the first failing guard of each entry at the last call that none fitted."""
        return self._call.misses

    def _parts_of_it(self) -> list:
        return self._call._parts_of_it()

    def __getattr__(self, name: str):
        modules = self.__dict__.get("_modules", {})
        if "_orig_mod" not in modules:
            raise AttributeError(name)
        return modules["_orig_mod"] if name == "_orig_mod" else getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value) -> None:
        if hasattr(type(self), name):  # such as `forward`, or `training`
            object.__setattr__(self, name, value)
        else:
            setattr(self.target, name, value)

    def __delattr__(self, name: str) -> None:
        if hasattr(type(self), name):
            object.__delattr__(self, name)
        else:
            delattr(self.target, name)

    def __dir__(self):
        return dir(self.target)

    def __len__(self) -> int:
        return len(self.target)

    def __reduce__(self):
        return CompiledModule, (self.target, self._call._backend, self._call._parts)
