"""Makes symbolic values of the objects that a traced function reads, and guards on them. A guard
is an expression such as "type(x) is int", which must be true for the compiled code to be used
again. The *source* of an object is the expression by which generated code reaches it, such as
"x[0]". A symbolic value is a Known (an object known now), a Tensor (a graph node without numbers),
a SequenceVariable (a list or tuple) or a LazyVariable (not looked at yet). SkipFrame is raised if
the function cannot be traced.

Everything that a frame reads comes in through `wrap`. Mirrors
torch/_dynamo/variables/builder.py, the sources of torch/_dynamo/source.py, and CONSTANT_MATCH and
ID_MATCH of torch/_dynamo/guards.py.
"""

import re
from functools import cache
from types import BuiltinFunctionType, FunctionType

import torch

from ...internals import torch_private
from .symbolic_values import SCALARS, Known, LazyVariable, SequenceVariable, SkipFrame, Tensor

LONGEST_LITERAL = 200  # characters
# name -> builtin. Guards call these, even if a program replaces the builtins later.
BUILTINS = {
    "type": type,
    "len": len,
    "str": str,
    "float": float,
    "int": int,
    "tuple": tuple,
    "list": list,
}
# Each returns true while something is on that changes what torch does. They are looked up once,
# because guards call them at every call of a compiled function.
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
    """Return whether a tensor is plain: dense, with no hooks and no attributes of its own.

    Each other kind (sparse, quantized, a lazy view) has further dispatch keys. Attributes that
    begin with `_dynamo` are allowed, because torch's Dynamo sets them on tensors.
    """
    return (
        tensor._backward_hooks is None
        and _dispatch_keys(tensor) == _usual_keys(tensor.device)
        and all(name.startswith("_dynamo") for name in tensor.__dict__)
    )


# name -> object: the names that guards may use besides the parameters and `BUILTINS`.
ALWAYS = {"torch": torch, "usual": usual, "usual_state": usual_state}


class VariableBuilder:
    """The guards so far, and the names that they and generated code use."""

    def __init__(self, parts, taken):
        """Begin with the guards on torch's state.

        `parts` is a `parts.Parts`. `taken` has the names of the traced function's own variables.
        SkipFrame is raised if such a variable hides a name that guards need, or if torch's state is
        unusual.
        """
        clashes = sorted({*ALWAYS, *BUILTINS}.intersection(taken))
        if clashes:
            raise SkipFrame(f"a variable named {clashes[0]} hides what the guards need")
        self.parts = parts
        self.recorder = parts.recorder()
        self.names = dict(ALWAYS)  # name -> object, the globals of generated code
        self._taken = set(taken)  # names that generated code must not use for something else
        # id of an object -> its name. `names` keeps each object alive, so no other gets its id.
        self._names_by_id = {id(value): name for name, value in ALWAYS.items()}
        self.guards = []  # expressions over the function's parameters and `names`
        self.tensors = {}  # source -> symbolic Tensor, an input of the graph
        self.mode = torch_private.FakeTensorMode()
        if not usual_state():
            raise SkipFrame(UNUSUAL_STATE)
        self.guard("usual_state()")
        self.guard(f"torch.is_grad_enabled() is {torch.is_grad_enabled()}")
        self.guard(f"torch.get_default_dtype() is {torch.get_default_dtype()}")

    def guard(self, *texts: str) -> None:
        """Add guards: expressions that must be true. One that is there already is not added."""
        self.guards += [text for text in texts if text not in self.guards]

    def name(self, value: object, hint: str) -> str:
        """Return the global name by which generated code reaches an object.

        The same object gets the same name again. A new name begins with `hint`.
        """
        if id(value) not in self._names_by_id:
            name = self.free_name(hint)
            self._names_by_id[id(value)] = name
            self.names[name] = value
        return self._names_by_id[id(value)]

    def free_name(self, hint: str) -> str:
        """Reserve and return a name that is not used yet: `hint`, or `hint` with a number.

        free_name("a b") -> "a_b", then "a_b_2".
        """
        # Replace characters that an identifier cannot have, and put "_" before a leading digit.
        stem = re.sub(r"\W|^(?=\d)", "_", hint)
        name = stem
        count = 1
        while name in self._taken or name in self.names:
            count += 1
            name = f"{stem}_{count}"
        self._taken.add(name)
        return name

    def wrap(self, value: object, source: str):
        """Return the symbolic value of a real object, and add the guards on what it assumes.

        `source` is the expression by which generated code reaches the object, such as "x[0]".
        """
        kind = type(value)
        if kind in (torch.Tensor, torch.nn.Parameter):
            return self._wrap_tensor(value, source)
        if issubclass(kind, torch.Tensor):
            raise SkipFrame(f"{source} is a {kind.__name__}, a subclass of torch.Tensor")
        if can_be_literal(value):  # a number, a str, a bool or None: guarded by its value
            self.guard(*self.parts.guards(source, value))
            return Known(value, source)
        if kind in (tuple, list):
            self.guard(f"type({source}) is {kind.__name__} and len({source}) == {len(value)}")
            # An item gets its guards only when the function uses it.
            items = [LazyVariable(v, f"{source}[{i}]") for i, v in enumerate(value)]
            return SequenceVariable(kind, items, source)

        # Any other object is guarded by its identity, under a name such as "the_relu".
        hint = name_of_callable(value) or re.findall(r"[A-Za-z0-9_]+", source)[-1]
        name = self.name(value, f"the_{hint}")
        self.guard(f"{source} is {name}")
        return Known(value, name)  # generated code reaches it by this name, without a look-up

    def _wrap_tensor(self, value, source) -> Tensor:
        """Return the symbolic Tensor, a graph input, for a real one; one for each source."""
        if source in self.tensors:
            return self.tensors[source]
        if not usual(value):
            raise SkipFrame(f"{source} is {UNUSUAL_TENSOR}")
        self.guard(*self.parts.guards(source, value))
        if not value.is_cpu:
            self.guard(f"str({source}.device) == {str(value.device)!r}")
        self.guard(f"usual({source})")
        node = self.recorder.input(source)
        fake = self.mode.from_tensor(value)  # the same shape and dtype, but no numbers
        node.meta["example_value"] = fake
        self.tensors[source] = Tensor(node, fake, source)
        return self.tensors[source]

    def resolve(self, value):
        """Return a symbolic value as it is; for a LazyVariable return what `wrap` makes."""
        if isinstance(value, LazyVariable):
            return self.wrap(value.value, value.source)
        return value

    def wrap_global(self, fn: FunctionType, name: str):
        """Return the symbolic value of a global or builtin that `fn` reads; SkipFrame for none.

        Its source is such as `G['scale']`, where `G` is the dict of the globals.
        """
        fn_globals = fn.__globals__
        globals_name = self.name(fn_globals, "G")
        if name in fn_globals:
            return self.wrap(fn_globals[name], f"{globals_name}[{name!r}]")

        builtins = fn.__builtins__
        if name not in builtins:
            raise SkipFrame(f"the name {name} is not defined")
        # A global of this name, made later, would hide the builtin.
        self.guard(f"{name!r} not in {globals_name}")
        builtins_name = self.name(builtins, "builtins")
        return self.wrap(builtins[name], f"{builtins_name}[{name!r}]")

    def wrap_cell(self, fn: FunctionType, name: str):
        """Return the symbolic value of a free variable of `fn`, which its closure has in a cell."""
        index = fn.__code__.co_freevars.index(name)
        cell = fn.__closure__[index]
        cell_name = self.name(cell, f"cell_of_{name}")
        return self.wrap(cell.cell_contents, f"{cell_name}.cell_contents")


def can_be_literal(value) -> bool:
    """Return whether generated source can contain `value` as a literal: a scalar with a short repr.

    The repr of an infinity or a nan is no literal.
    """
    if type(value) not in SCALARS:
        return False
    return len(repr(value)) <= LONGEST_LITERAL and repr(value) not in ("inf", "-inf", "nan")


def name_of_callable(value) -> str:
    """Return the `__name__` of a function or a class, "" for any other object.

    The look-up of `__name__` in another object may run code of its class.
    """
    if type(value) in (type, FunctionType, BuiltinFunctionType):
        return value.__name__
    return ""
