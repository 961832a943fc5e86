"""A value from outside -> its symbolic value, and the guards on what was assumed of it.

Everything that a frame reads comes in through `take`. Mirrors torch/_dynamo/variables/builder.py,
the sources of torch/_dynamo/source.py, and of torch/_dynamo/guards.py CONSTANT_MATCH and ID_MATCH.
"""

import re
from functools import cache
from types import BuiltinFunctionType, FunctionType

import torch

from ...internals import torch_private
from .symbolic_values import SCALARS, Items, Known, LazyVariable, Refuse, Tensor

LONGEST = 200  # characters of what is written into generated source
# What guards call, whatever someone makes of the builtins later.
BUILTINS = {
    "type": type,
    "len": len,
    "str": str,
    "float": float,
    "int": int,
    "tuple": tuple,
    "list": list,
}
# Found once: guards ask them at every call. Each is true where something is on.
_STATES = (
    torch.is_inference_mode_enabled,
    torch_private.is_any_autocast_enabled,
    torch_private.len_torch_function_stack,
    torch_private.len_torch_dispatch_stack,
    torch_private.is_tracing,
    torch_private.maybe_current_level,
)
_dispatch_keys = torch_private.dispatch_keys
UNUSUAL_STATE = (
    "something is on that changes what torch does: inference mode, autocast, a mode such as a "
    "default device, a transform such as vmap, or torch.jit"
)
UNUSUAL_TENSOR = (
    "an unusual tensor: sparse, quantized, a lazy view, of inference mode, or with autograd hooks "
    "or attributes of its own"
)


@cache
def _usual_keys(device):
    """Return the dispatch keys of a plain tensor on this device."""
    return _dispatch_keys(torch.empty(0, device=device))


def usual_state() -> bool:
    """Return whether nothing is on that changes what torch's functions do."""
    return not any(is_on() for is_on in _STATES)


def usual(tensor) -> bool:
    """Return whether a tensor is just numbers with a dtype and a shape.

    It has no hooks, only the dispatch keys of a plain tensor, and no attributes but Dynamo's marks.
    """
    return (
        tensor._backward_hooks is None
        and _dispatch_keys(tensor) == _usual_keys(tensor.device)
        and all(name.startswith("_dynamo") for name in tensor.__dict__)
    )


# The names that guards always use -> what they mean.
ALWAYS = {"torch": torch, "usual": usual, "usual_state": usual_state}


class VariableBuilder:
    """The guards so far, and the names that they and generated code use."""

    def __init__(self, parts, taken):
        """Begin with the guards on torch's state.

        `parts` are the learner's or finished `parts.Parts`, and `taken` the names that the traced
        function uses itself. Refuse is raised if one of these hides a name that guards need, or if
        torch's state is unusual.
        """
        clashes = sorted({*ALWAYS, *BUILTINS}.intersection(taken))
        if clashes:
            raise Refuse(f"a variable named {clashes[0]} hides what the guards need")
        self.parts = parts
        self.recorder = parts.recorder()
        self.names = dict(ALWAYS)  # name -> object, the globals of generated code
        self._taken = set(taken)
        # `names` keeps each object alive, so no other gets its id.
        self._names_by_id = {id(value): name for name, value in ALWAYS.items()}
        self.guards = []  # expressions over the function's parameters and `names`
        self.tensors = {}  # source -> symbolic tensor
        self.mode = torch_private.FakeTensorMode()
        if not usual_state():
            raise Refuse(UNUSUAL_STATE)
        self.guard("usual_state()")
        self.guard(f"torch.is_grad_enabled() is {torch.is_grad_enabled()}")
        self.guard(f"torch.get_default_dtype() is {torch.get_default_dtype()}")

    def guard(self, *texts: str) -> None:
        """Add guards: expressions that must be true. One that is there already is not added."""
        self.guards += [text for text in texts if text not in self.guards]

    def name(self, value: object, hint: str) -> str:
        """Return the name under which generated code finds an object, always the same one.

        A new name begins with `hint`.
        """
        if id(value) not in self._names_by_id:
            name = self.free_name(hint)
            self._names_by_id[id(value)] = name
            self.names[name] = value
        return self._names_by_id[id(value)]

    def free_name(self, hint: str) -> str:
        """Return a name that nothing has yet, and take it. It is made of `hint`, and a number."""
        # What no identifier may have becomes "_", also the place before a digit at the start.
        stem = re.sub(r"\W|^(?=\d)", "_", hint)
        name = stem
        count = 1
        while name in self._taken or name in self.names:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name

    def take(self, value: object, source: str):
        """Return the symbolic value of an object from outside, and guard what is assumed of it.

        `source` is the expression by which generated code reaches the object.
        """
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
            items = [LazyVariable(v, f"{source}[{i}]") for i, v in enumerate(value)]
            return Items(kind, items, source)

        # Any other object is guarded by identity. Its name ends with the last word of its source.
        hint = own_name(value) or re.findall(r"[A-Za-z0-9_]+", source)[-1]
        name = self.name(value, f"the_{hint}")
        self.guard(f"{source} is {name}")
        return Known(value, name)  # from here on it need not be looked up again

    def _take_tensor(self, value, source) -> Tensor:
        """Return the symbolic tensor for a tensor from outside: an input of the graph."""
        if source in self.tensors:
            return self.tensors[source]
        if not usual(value):
            raise Refuse(f"{source} is {UNUSUAL_TENSOR}")
        self.guard(*self.parts.guards(source, value))
        if not value.is_cpu:
            self.guard(f"str({source}.device) == {str(value.device)!r}")
        self.guard(f"usual({source})")
        node = self.recorder.input(source)
        fake = self.mode.from_tensor(value)
        node.meta["example_value"] = fake
        self.tensors[source] = Tensor(node, fake, source)
        return self.tensors[source]

    def resolve(self, value):
        """Return a symbolic value as it is; of a LazyVariable what `take` makes of its object."""
        if isinstance(value, LazyVariable):
            return self.take(value.value, value.source)
        return value

    def take_global(self, fn: FunctionType, name: str):
        """Return the symbolic value of a global or builtin name; Refuse if there is none."""
        space = fn.__globals__
        space_name = self.name(space, "G")
        if name in space:
            return self.take(space[name], f"{space_name}[{name!r}]")

        builtins = fn.__builtins__
        if name not in builtins:
            raise Refuse(f"the name {name} is not defined")
        self.guard(f"{name!r} not in {space_name}")  # such a global would hide the builtin
        builtins_name = self.name(builtins, "builtins")
        return self.take(builtins[name], f"{builtins_name}[{name!r}]")

    def take_cell(self, fn: FunctionType, name: str):
        """Return the symbolic value of what a cell of a function holds."""
        index = fn.__code__.co_freevars.index(name)
        cell = fn.__closure__[index]
        cell_name = self.name(cell, f"cell_of_{name}")
        return self.take(cell.cell_contents, f"{cell_name}.cell_contents")


def is_short(value) -> bool:
    """Return whether `value` is a scalar whose `repr` is short, and is that value as source."""
    if type(value) not in SCALARS:
        return False
    return len(repr(value)) <= LONGEST and repr(value) not in ("inf", "-inf", "nan")


def own_name(value) -> str:
    """Return the name of a function or a class; "" of any other object, which may run code."""
    if type(value) in (type, FunctionType, BuiltinFunctionType):
        return value.__name__
    return ""
