"""One frame's worth of tracing: the graph, the guards, and names for what generated code needs.

Everything from outside comes in through `take`, which is where guards are made. Mirrors
torch/_dynamo/output_graph.py and torch/_dynamo/variables/builder.py.
"""

import logging
import re
from contextlib import contextmanager
from types import ModuleType

import torch

from helpers.mini.dynamo import allowed, state, torch_private
from helpers.mini.dynamo.values import (
    IMMUTABLE,
    SCALARS,
    Break,
    Items,
    Known,
    Refuse,
    Tensor,
    Unread,
)

FAKES_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")
TENSORS = (torch.Tensor, torch.nn.Parameter)
ALWAYS = {
    "torch": torch,
    "usual": state.usual,
    "usual_state": state.usual_state,
    "hookless": state.hookless,
}
USED_IN_GUARDS = {*ALWAYS, "type", "len", "float", "int", "str", "tuple", "list"}


class Tracing:
    """The outcome so far. `parts` are the decisive parts, `taken` the names that are in use."""

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
        if why := state.unusual_state():
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
            raise Refuse(f"{source} is a {kind.__name__}, a subclass of torch.Tensor")
        if kind in SCALARS:
            self._add_guards(source, value)
            return Known(value, source)
        if kind in (tuple, list):
            self.guard(f"type({source}) is {kind.__name__} and len({source}) == {len(value)}")
            return Items(kind, [Unread(v, f"{source}[{i}]") for i, v in enumerate(value)], source)
        if kind in IMMUTABLE and kind not in (slice, torch.dtype, torch.layout):
            named = self.name(value, f"a_{kind.__name__}")
            self.guard(f"type({source}) is type({named}) and {source} == {named}")
            return Known(value, source)
        self.guard(f"{source} is {self.name(value, _hint(value, source))}")
        return Known(value, source)

    def _add_guards(self, source, value):
        for text in self.parts.guards(source, value):
            self.guard(text)

    def _tensor(self, value, source) -> Tensor:
        if source in self.tensors:
            return self.tensors[source]
        if why := state.unusual_tensor(value):
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

    def record(self, fn, *args, **kwargs):
        """Put a call into the graph and return its symbolic result; Break if that cannot be.

        The call runs on fakes first, which tells dtypes and shapes, what it raises, and whether it
        works in place.
        """
        asked = Known(fn) if not isinstance(fn, str) else None
        args = [self._recordable(a) for a in args]
        kwargs = {k: self._recordable(v) for k, v in kwargs.items()}
        if None in args or None in kwargs.values():
            raise Break("an argument is no tensor, number or list of these", asked, (), kwargs)
        result = self._on_fakes(fn, args, kwargs)
        return self._wrapped(result, self.recorder.call(fn, tuple(args), kwargs))

    def _recordable(self, value):
        value = self.resolve(value)
        if isinstance(value, Items):
            items = [self._recordable(item) for item in value.items]
            known = None in items or value.kind not in (tuple, list)
            return None if known else Items(value.kind, items, value.source, value.node)
        if isinstance(value, Known) and type(value.value) is tuple:
            return value if all(type(v) in IMMUTABLE for v in value.value) else None
        fits = isinstance(value, Tensor) or (
            isinstance(value, Known) and type(value.value) in IMMUTABLE
        )
        return value if fits else None

    def _on_fakes(self, fn, args, kwargs):
        shown = fn if isinstance(fn, str) else getattr(fn, "__name__", "a call")
        if any(isinstance(v, Tensor) for n, v in kwargs.items() if n == "out"):
            raise Break(f"{shown} writes into out=")
        fakes, named = [_fake(a) for a in args], {k: _fake(v) for k, v in kwargs.items()}
        tensors = [f for f in (*fakes, *named.values()) if isinstance(f, torch.Tensor)]
        before = [tensor._version for tensor in tensors]
        try:
            with self.mode, _quiet():
                if isinstance(fn, str):
                    result = getattr(fakes[0], fn)(*fakes[1:], **named)
                else:
                    result = fn(*fakes, **named)
        except Exception as error:
            raise Break(f"{shown} needs real numbers, or raises ({type(error).__name__})") from None
        if [tensor._version for tensor in tensors] != before:
            raise Break(f"{shown} works in place")
        return result

    def _wrapped(self, result, node):
        if isinstance(result, torch.Tensor):
            node.meta["example_value"] = result
            return Tensor(node, result)
        if isinstance(result, (tuple, list)) and all(isinstance(r, torch.Tensor) for r in result):
            getitem = allowed.operator.getitem
            pairs = enumerate(result)
            each = [Known(i) for i, _ in pairs]
            whole = Items(type(result), [], node=node)
            nodes = [self.recorder.call(getitem, (whole, index), {}) for index in each]
            whole.items = [self._wrapped(r, n) for r, n in zip(result, nodes, strict=True)]
            return whole
        self.recorder.graph.erase_node(node)
        raise Break("the result is no tensor")

    def mark(self):
        """Return where the graph stands, for `undo`."""
        return next(iter(reversed(self.recorder.graph.nodes)), None)

    def undo(self, mark) -> None:
        """Take out the calls that came after a mark; inputs stay, and so do guards."""
        for node in list(reversed(self.recorder.graph.nodes)):
            if node is mark:
                break
            if node.op != "placeholder":
                self.recorder.graph.erase_node(node)


@contextmanager
def _quiet():
    """Let torch not log what its fakes raise: it is raised for real, once it is run for real."""
    before, FAKES_LOGGER.disabled = FAKES_LOGGER.disabled, True
    try:
        yield
    finally:
        FAKES_LOGGER.disabled = before


def _fake(value):
    if isinstance(value, Tensor):
        return value.fake
    if isinstance(value, Items):
        return value.kind(map(_fake, value.items))
    return value.value


def _hint(value, source) -> str:
    if isinstance(value, ModuleType):
        return value.__name__.rpartition(".")[2]
    named = getattr(value, "__name__", None) if callable(value) else None
    words = named if type(named) is str else re.findall(r"\w+", source)[-1]
    return f"the_{words}"
