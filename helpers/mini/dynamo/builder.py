"""A value from outside -> its symbolic value, and the guards on what was assumed of it.

Everything that a frame reads comes in through `take`. Mirrors torch/_dynamo/variables/builder.py,
the sources of torch/_dynamo/source.py, and of torch/_dynamo/guards.py CONSTANT_MATCH and ID_MATCH.
"""

import re
from functools import cache
from types import BuiltinFunctionType, FunctionType

import torch

from ...internals import torch_private
from .symbolic_values import SCALARS, Items, Known, Refuse, Tensor, Unread

LONGEST = 200  # characters of what is written into generated source
# What guards call, whatever someone makes of the builtins later.
BUILTINS = {fn.__name__: fn for fn in (type, len, str, float, int, tuple, list)}
# Found once: guards ask them at every call. Each is true where something is on.
_STATES = (
    *(torch.is_inference_mode_enabled, torch_private.is_any_autocast_enabled),
    *(torch_private.len_torch_function_stack, torch_private.len_torch_dispatch_stack),
    *(torch_private.is_tracing, torch_private.maybe_current_level),
)
_keys = torch_private.dispatch_keys
_usual_keys = cache(lambda device: _keys(torch.empty(0, device=device)))
UNUSUAL_STATE = (
    "something is on that changes what torch does: inference mode, autocast, a mode such as a "
    "default device, a transform such as vmap, or torch.jit"
)
UNUSUAL_TENSOR = (
    "an unusual tensor: sparse, quantized, a lazy view, of inference mode, or with autograd hooks "
    "or attributes of its own"
)


def usual_state() -> bool:
    """Return whether nothing is on that changes what torch's functions do."""
    return not any(is_on() for is_on in _STATES)


def usual(tensor) -> bool:
    """Return whether a tensor is just numbers with a dtype and a shape."""
    return (
        tensor._backward_hooks is None
        and _keys(tensor) == _usual_keys(tensor.device)
        and all(name.startswith("_dynamo") for name in tensor.__dict__)
    )


ALWAYS = {"torch": torch, "usual": usual, "usual_state": usual_state}


class VariableBuilder:
    """The guards so far, and the names that they and generated code use."""

    def __init__(self, parts, taken):
        if clash := sorted({*ALWAYS, *BUILTINS}.intersection(taken)):
            raise Refuse(f"a variable named {clash[0]} hides what the guards need")
        self.parts, self.recorder = parts, parts.recorder()
        self.names = dict(ALWAYS)
        self._taken = set(taken)
        # id of an object -> its name; `names` keeps the object alive
        self._named = {id(thing): name for name, thing in ALWAYS.items()}
        self.guards, self.tensors = [], {}
        self.mode = torch_private.FakeTensorMode()
        if not usual_state():
            raise Refuse(UNUSUAL_STATE)
        self.guard("usual_state()")
        self.guard(f"torch.is_grad_enabled() is {torch.is_grad_enabled()}")
        self.guard(f"torch.get_default_dtype() is {torch.get_default_dtype()}")

    def guard(self, *texts: str) -> None:
        """Demand that expressions are true, each once."""
        self.guards += [text for text in texts if text not in self.guards]

    def name(self, thing: object, hint: str) -> str:
        """Return a name under which generated code finds an object; the same for the same one."""
        if id(thing) not in self._named:
            self._named[id(thing)] = free = self.free_name(hint)
            self.names[free] = thing
        return self._named[id(thing)]

    def free_name(self, hint: str) -> str:
        """Return a name that nothing has yet, and take it."""
        stem = re.sub(r"\W|^(?=\d)", "_", hint)
        name, count = stem, 1
        while name in self._taken or name in self.names:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name

    def take(self, value: object, source: str):
        """Return the symbolic value of an object from outside, and guard what is assumed of it."""
        kind = type(value)
        if kind in (torch.Tensor, torch.nn.Parameter):
            return self._take_tensor(value, source)
        if issubclass(kind, torch.Tensor):
            raise Refuse(f"{source} is a {kind.__name__}, a subclass of torch.Tensor")
        if is_short(value):
            self.guard(*self.parts.guards(source, value))
            return Known(value, source)
        if kind in (tuple, list):
            self.guard(f"type({source}) is {kind.__name__} and len({source}) == {len(value)}")
            return Items(kind, [Unread(v, f"{source}[{i}]") for i, v in enumerate(value)], source)
        hint = own_name(value) or re.findall(r"[A-Za-z0-9_]+", source)[-1]
        named = self.name(value, f"the_{hint}")
        self.guard(f"{source} is {named}")
        return Known(value, named)  # from here on it need not be looked up again

    def _take_tensor(self, value, source) -> Tensor:
        if source in self.tensors:
            return self.tensors[source]
        if not usual(value):
            raise Refuse(f"{source} is {UNUSUAL_TENSOR}")
        self.guard(*self.parts.guards(source, value))
        if not value.is_cpu:
            self.guard(f"str({source}.device) == {str(value.device)!r}")
        self.guard(f"usual({source})")
        node = self.recorder.input(source)
        node.meta["example_value"] = fake = self.mode.from_tensor(value)
        self.tensors[source] = Tensor(node, fake, source)
        return self.tensors[source]

    def resolve(self, value):
        """Return a value that has been looked at."""
        return self.take(value.value, value.source) if isinstance(value, Unread) else value

    def take_global(self, fn: FunctionType, name: str):
        """Return the symbolic value of a global or builtin name; Refuse if there is none."""
        space, builtins = fn.__globals__, fn.__builtins__
        named = self.name(space, "G")
        if name in space:
            return self.take(space[name], f"{named}[{name!r}]")
        if name not in builtins:
            raise Refuse(f"the name {name} is not defined")
        self.guard(f"{name!r} not in {named}")
        return self.take(builtins[name], f"{self.name(builtins, 'builtins')}[{name!r}]")

    def take_cell(self, fn: FunctionType, name: str):
        """Return the symbolic value of what a cell of a function holds."""
        cell = fn.__closure__[fn.__code__.co_freevars.index(name)]
        return self.take(cell.cell_contents, f"{self.name(cell, f'cell_of_{name}')}.cell_contents")


def is_short(value) -> bool:
    """Return whether it is a number or a string whose short source is that value again."""
    if type(value) not in SCALARS:
        return False
    return len(repr(value)) <= LONGEST and repr(value) not in ("inf", "-inf", "nan")


def own_name(value) -> str:
    """Return the name of a function or a class; nothing for what may make one up when asked."""
    return value.__name__ if type(value) in (type, FunctionType, BuiltinFunctionType) else ""
