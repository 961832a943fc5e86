"""A value from outside -> its symbolic value, and the guards on what was assumed of it.

Everything that a frame reads comes in through `take`; the state of torch, hooks and what classes
hold are assumed to stay. Mirrors torch/_dynamo/variables/builder.py, the sources of
torch/_dynamo/source.py, and of torch/_dynamo/guards.py CONSTANT_MATCH and ID_MATCH.
"""

import builtins
import math
import re
from types import BuiltinFunctionType, FunctionType, ModuleType

import torch

from helpers.internals import torch_private
from helpers.mini.dynamo.symbolic_values import SCALARS, Items, Known, Refuse, Tensor, Unread

MISSING = object()
LONGEST = 200  # letters, or bits, of what is written into generated source
TENSORS = (torch.Tensor, torch.nn.Parameter)
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
# What guards call, whatever someone makes of the builtins later.
BUILTINS = {fn.__name__: fn for fn in (type, len, str, float, int, tuple, list)}
# Found once: guards ask them at every call.
_function_modes = torch_private.len_torch_function_stack
_dispatch_modes = torch_private.len_torch_dispatch_stack
_transforms = torch_private.maybe_current_level
_global_hooks = torch_private.has_any_global_hook
_autocast = torch_private.is_any_autocast_enabled
_jit_traces = torch_private.is_tracing
_keys = torch_private.dispatch_keys
_cpu_bits = getattr(_keys(torch.empty(0)), "raw_repr", int)()  # numbers compare faster than sets


# --- what is assumed to stay


def found(kind: type, name: str) -> object:
    """Return what the class, or one above it, has under a name, as it lies there; else MISSING."""
    return next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), MISSING)


_module = {
    name: found(torch.nn.Module, name)
    for name in ("__call__", "_call_impl", "_wrapped_call_impl", "__getattr__")
}
module_getattr = _module["__getattr__"]


def unusual_state() -> str:
    """Return what is on that a graph cannot be made under; nothing if all is as usual."""
    if torch.is_inference_mode_enabled():
        return "inference mode is on"
    if _autocast():
        return "autocast is on"
    if _function_modes() or _dispatch_modes():
        return "a mode that changes what torch functions do is on, such as a default device"
    if _jit_traces():
        return "torch.jit is tracing"
    return "a transform such as vmap is on" if _transforms() is not None else ""


def usual_state() -> bool:
    """Return whether nothing is on that changes what torch's functions do."""
    return not unusual_state()


def unusual_tensor(tensor) -> str:
    """Return why a tensor is not just numbers with a dtype and a shape; nothing if it is."""
    if tensor._backward_hooks is not None:
        return "it has autograd hooks"
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        return "it is sparse, nested or quantized"
    if _keys(tensor) != _keys(torch.empty(0, device=tensor.device, dtype=tensor.dtype)):
        return "it is a lazy view, a named tensor or one of inference mode"
    return "it has attributes of its own" if _attributes(tensor) else ""


def _attributes(tensor) -> list[str]:
    return [name for name in tensor.__dict__ if not name.startswith("_dynamo")]


def usual(tensor) -> bool:
    """Return whether `unusual_tensor` has nothing to say; the guard's form of it."""
    return (
        tensor._backward_hooks is None
        and (_keys(tensor).raw_repr() == _cpu_bits or not unusual_tensor(tensor))
        and not (tensor.__dict__ and _attributes(tensor))
    )


def calls_forward(kind: type) -> bool:
    """Return whether instances of a class of modules are called as torch's own modules are."""
    return all(found(kind, name) is _module[name] for name in _module)


def hookless(module) -> bool:
    """Return whether calling a module is calling its class's `forward`, and nothing else."""
    own = module.__dict__
    return (
        "forward" not in own
        and "_call_impl" not in own
        and own.get("_compiled_call_impl") is None
        and not any(own.get(hooks) for hooks in HOOKS)
        and not _global_hooks()
    )


ALWAYS = {"torch": torch, "usual": usual, "usual_state": usual_state, "hookless": hookless}


class VariableBuilder:
    """The guards so far, and the names that they and generated code use."""

    def __init__(self, parts, taken, fn_globals: dict):
        if clash := sorted({*ALWAYS, *BUILTINS}.intersection(taken)):
            raise Refuse(f"a variable named {clash[0]} hides what the guards need")
        self.parts, self.recorder = parts, parts.recorder()
        self.names = dict(ALWAYS)
        self._taken = set(taken)
        # id of an object -> its name; `names` keeps the object alive
        self._named = {id(thing): name for name, thing in ALWAYS.items()}
        self.guards, self.tensors, self.steps = [], {}, 0
        self.mode = torch_private.FakeTensorMode()
        self.name(fn_globals, "G")
        if why := unusual_state():
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
        stem = re.sub(r"\W|^(?=\d)", "_", hint) or "thing"
        name, count = stem, 1
        while name in self._taken or name in self.names:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name

    def take(self, value: object, source: str):
        """Return the symbolic value of an object from outside, and guard what is assumed of it."""
        kind = type(value)
        if kind in TENSORS:
            return self._tensor(value, source)
        if issubclass(kind, torch.Tensor):
            raise Refuse(f"{source} is a {kind.__name__}, a subclass of torch.Tensor")
        if kind in SCALARS and is_short(value):
            self._add_guards(source, value)
            return Known(value, source)
        if kind in (tuple, list):
            self.guard(f"type({source}) is {kind.__name__} and len({source}) == {len(value)}")
            return Items(kind, [Unread(v, f"{source}[{i}]") for i, v in enumerate(value)], source)
        named = self.name(value, _hint(value, source))
        self.guard(f"{source} is {named}")
        return Known(value, named)  # from here on it need not be looked up again

    def class_of(self, source: str, kind: type) -> None:
        """Guard that the class of an object stays this one."""
        self.guard(f"type({source}) is {self.name(kind, f'class_{kind.__name__}')}")

    def _add_guards(self, source, value):
        for text in self.parts.guards(source, value):
            self.guard(text)

    def _tensor(self, value, source) -> Tensor:
        if source in self.tensors:
            return self.tensors[source]
        if why := unusual_tensor(value):
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
    """Where a function's names come from besides its locals: globals, builtins and cells."""

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
        return all(map(is_writable, (value.start, value.stop, value.step)))
    return all(map(is_writable, value)) if isinstance(value, (tuple, list)) else value == value


def own_name(value) -> str:
    """Return the name of a function or a class; nothing for what may make one up when asked."""
    return value.__name__ if type(value) in (type, FunctionType, BuiltinFunctionType) else ""


def _hint(value, source) -> str:
    if type(value) is ModuleType:
        return value.__name__.rpartition(".")[2]
    return f"the_{own_name(value) or re.findall(r'[A-Za-z0-9_]+', source)[-1]}"
