"""A value from outside -> its symbolic value, and the guards on what was assumed of it.

Everything that a frame reads comes in through `take`. Mirrors
torch/_dynamo/variables/builder.py, the sources of torch/_dynamo/source.py, and of
torch/_dynamo/guards.py CONSTANT_MATCH and EQUALS_MATCH.
"""

import builtins
import math
import re
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType

import torch

from helpers.internals import torch_private
from helpers.mini.dynamo import global_state
from helpers.mini.dynamo.cache_entry import BUILTINS
from helpers.mini.dynamo.symbolic_values import (
    SCALARS,
    Items,
    Known,
    Refuse,
    Tensor,
    Unread,
    is_immutable,
)

LONGEST = 200  # letters, or bits, of what is written into generated source
BIGGEST = 1 << 20  # bytes of what is kept as a constant
SINGLE = (torch.dtype, torch.layout, torch.memory_format)
TENSORS = (torch.Tensor, torch.nn.Parameter)
ALWAYS = {
    "torch": torch,
    "usual": global_state.usual,
    "usual_state": global_state.usual_state,
    "hookless": global_state.hookless,
}
USED_IN_GUARDS = {*ALWAYS, *BUILTINS}


class VariableBuilder:
    """The guards so far, and the names that they and generated code use.

    `parts` are the decisive parts, `taken` the names that are in use.
    """

    def __init__(self, parts, taken, fn_globals: dict):
        if clash := sorted(USED_IN_GUARDS & set(taken)):
            raise Refuse(f"a variable named {clash[0]} hides what the guards need")
        self.parts, self.recorder = parts, parts.recorder()
        self.names = dict(ALWAYS)
        self._taken = set(taken)
        # id of an object -> its name; `names` keeps the object alive
        self._named = {id(thing): name for name, thing in ALWAYS.items()}
        self.guards, self.tensors, self.steps = [], {}, 0
        self.mode = torch_private.FakeTensorMode()
        self.name(fn_globals, "G")
        if why := global_state.unusual_state():
            raise Refuse(why)
        self.guard("usual_state()")
        self.guard(f"torch.is_grad_enabled() is {torch.is_grad_enabled()}")
        self.guard(f"torch.get_default_dtype() is {torch.get_default_dtype()}")

    def guard(self, text: str) -> None:
        """Demand that an expression is true, once."""
        if text not in self.guards:
            self.guards.append(text)

    def name(self, thing: object, hint: str) -> str:
        """Return a name under which generated code finds an object; the same for the same one."""
        if id(thing) not in self._named:
            self._named[id(thing)] = free = self.free_name(hint)
            self.names[free] = thing
        return self._named[id(thing)]

    def free_name(self, hint: str) -> str:
        """Return a name that nothing has yet, and take it."""
        stem = re.sub(r"\W", "_", hint) or "thing"
        stem, name, count = f"_{stem}" if stem[0].isdigit() else stem, "", 1
        while not name or name in self._taken or name in self.names:
            name = stem if count == 1 else f"{stem}_{count}"
            count += 1
        self._taken.add(name)
        return name

    def take(self, value: object, source: str):
        """Return the symbolic value of an object from outside, and guard what is assumed of it."""
        kind = type(value)
        if kind in TENSORS:
            return self._tensor(value, source)
        if issubclass(kind, torch.Tensor):
            name = global_state.name_of(kind)
            raise Refuse(f"{source} is a {name}, a subclass of torch.Tensor")
        if kind in SCALARS and is_short(value):
            self._add_guards(source, value)
            return Known(value, source)
        if kind in (tuple, list):
            self.guard(f"type({source}) is {kind.__name__} and len({source}) == {len(value)}")
            return Items(kind, [Unread(v, f"{source}[{i}]") for i, v in enumerate(value)], source)
        if is_immutable(value):
            for text in exactly(source, value, self.name):
                self.guard(text)
            return Known(value, source)
        named = self.name(value, _hint(value, source))
        self.guard(f"{source} is {named}")
        return Known(value, named)  # from here on it need not be looked up again

    def class_of(self, source: str, kind: type) -> None:
        """Guard that the class of an object stays this one."""
        self.guard(f"type({source}) is {self.name(kind, f'class_{global_state.name_of(kind)}')}")

    def _add_guards(self, source, value):
        for text in self.parts.guards(source, value):
            self.guard(text)

    def _tensor(self, value, source) -> Tensor:
        if source in self.tensors:
            return self.tensors[source]
        if why := global_state.unusual_tensor(value):
            raise Refuse(f"{source} is an unusual tensor: {why}")
        self._add_guards(source, value)
        if not value.is_cpu:
            self.guard(f"str({source}.device) == {str(value.device)!r}")
        self.guard(f"usual({source})")
        node = self.recorder.input(source)
        node.meta["example_value"] = fake = self.mode.from_tensor(value)
        self.tensors[source] = Tensor(node, fake, source)
        return self.tensors[source]

    def builtin(self, function, name: str) -> Known:
        """Return a builtin; generated code calls it by its own name where that is free."""
        return Known(function, self.name(function, f"the_{name}") if name in self._taken else name)

    def resolve(self, value):
        """Return a value that has been looked at."""
        return self.take(value.value, value.source) if isinstance(value, Unread) else value


class Spaces:
    """Where a function's names come from besides its locals: globals, builtins and cells.

    Each look-up becomes a guard, because all three can change.
    """

    def __init__(self, fn: FunctionType):
        self.fn = fn
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    def find(self, trace, name: str):
        """Return the symbolic value of a global or builtin name; Refuse if there is none."""
        space, found = self.fn.__globals__, self.fn.__builtins__
        named = trace.name(space, f"globals_of_{self.fn.__module__}")
        if name in space:
            return trace.take(space[name], f"{named}[{name!r}]")
        if name not in found:
            raise Refuse(f"the name {name} is not defined")
        trace.guard(f"{name!r} not in {named}")
        source = f"{trace.name(found, 'builtins')}[{name!r}]"
        if found[name] is getattr(builtins, name, None):
            trace.guard(f"{source} is {trace.name(found[name], f'the_{name}')}")
            return trace.builtin(found[name], name)
        return trace.take(found[name], source)

    def cell(self, trace, name: str):
        """Return the symbolic value of what a cell holds; Refuse for one that is empty or new."""
        cell = self.cells.get(name)
        if cell is None:
            raise Refuse(f"{name} is shared with a function that is made here")
        try:
            contents = cell.cell_contents
        except ValueError:
            raise Refuse(f"{name} is not bound yet") from None
        return trace.take(contents, f"{trace.name(cell, f'cell_of_{name}')}.cell_contents")


def exactly(source: str, value, name) -> list[str]:
    """Return expressions that are true of values that nothing tells apart from this one.

    `==` hides much: 1 == 1.0 == True, 0.0 == -0.0, range(0, 3, 2) == range(0, 4, 2). So a value is
    asked for its exact type and its fields. `name(thing, hint)` returns a name under which a guard
    finds a thing.
    """
    kind = type(value)
    if value is None or value is ... or kind is bool:
        return [f"{source} is {value}"]
    if kind in SINGLE or value != value:  # of nan, sign and payload are kept by identity alone
        return [f"{source} is {name(value, 'the_' + kind.__name__)}"]
    if kind is float:
        return [f"type({source}) is float", f"{source}.hex() == {value.hex()!r}"]
    known = BUILTINS.get(kind.__name__) is kind
    word = kind.__name__ if known else name(kind, f"class_{kind.__name__}")
    named = f"type({source}) is {word}"
    if kind in (range, slice):
        parts = [(f"{source}.{part}", getattr(value, part)) for part in ("start", "stop", "step")]
    elif kind in (tuple, torch.Size):
        named += f" and len({source}) == {len(value)}"
        parts = [(f"{source}[{at}]", item) for at, item in enumerate(value)]
    else:  # int, str, device
        literal = kind in (int, str) and is_short(value)
        same = repr(value) if literal else name(value, f"a_{kind.__name__}")
        return [named, f"{source} == {same}"]
    return [named, *(text for part, item in parts for text in exactly(part, item, name))]


def is_short(value) -> bool:
    """Return whether the source of a number or a string is short, and is that value again."""
    if type(value) is int:
        return value.bit_length() <= LONGEST
    if type(value) is float:
        return math.isfinite(value)
    return type(value) is not str or len(value) <= LONGEST


def is_writable(value) -> bool:
    """Return whether FX writes a constant so that Python reads the same one (fx/graph.py)."""
    if type(value) is slice:
        return all(is_writable(part) for part in (value.start, value.stop, value.step))
    if isinstance(value, (tuple, list)):
        return all(map(is_writable, value))
    if type(value) is float:
        return value == value
    return type(value) not in (int, str) or sys.getsizeof(value) <= BIGGEST // 1024


def is_small(value) -> bool:
    """Return whether a constant is small enough to be kept for later calls."""
    if isinstance(value, (tuple, list)):
        return len(value) <= BIGGEST // 64 and all(map(is_small, value))
    return sys.getsizeof(value) <= BIGGEST


def own_name(value) -> str:
    """Return the name of a function or a class; nothing for what may make one up when asked."""
    if isinstance(value, type):
        return global_state.name_of(value)
    return value.__name__[:60] if type(value) in (FunctionType, BuiltinFunctionType) else ""


def _hint(value, source) -> str:
    if type(value) is ModuleType:
        return value.__name__.rpartition(".")[2]
    return f"the_{own_name(value) or re.findall(r'[A-Za-z0-9_]+', source)[-1]}"
