"""One frame's worth of tracing: the graph, the guards, and names for what generated code needs.

Everything from outside comes in through `take`, which is where guards are made. Mirrors
torch/_dynamo/output_graph.py and torch/_dynamo/variables/builder.py.
"""

import logging
import re
import threading
from types import BuiltinFunctionType, FunctionType, ModuleType

import torch

from helpers.internals import torch_private
from helpers.mini.dynamo import classes, global_state, trace_rules
from helpers.mini.dynamo.cache_entry import BUILTINS
from helpers.mini.dynamo.constant_guards import exactly, is_short, is_writable
from helpers.mini.dynamo.symbolic_values import (
    IMMUTABLE,
    SCALARS,
    Break,
    Items,
    Known,
    Refuse,
    Tensor,
    Unread,
    is_immutable,
    is_one_of,
)
from helpers.safety.interrupts import uninterrupted

FAKES_LOGGER = logging.getLogger("torch._subclasses.fake_tensor")
TENSORS = (torch.Tensor, torch.nn.Parameter)
ALWAYS = {
    "torch": torch,
    "usual": global_state.usual,
    "usual_state": global_state.usual_state,
    "hookless": global_state.hookless,
}
USED_IN_GUARDS = {*ALWAYS, *BUILTINS}


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
        self._versions = {}  # id of a class -> a view of its number
        self.mode = torch_private.FakeTensorMode()
        self.name(fn_globals, "G")
        if why := global_state.unusual_state():
            raise Refuse(why)
        if changed := trace_rules.changed_tensors():
            raise Refuse(f"someone has changed torch.Tensor: its {changed}")
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
        if is_one_of(kind, TENSORS):
            return self._tensor(value, source)
        if issubclass(kind, torch.Tensor):
            raise Refuse(f"{source} is a {classes.name_of(kind)}, a subclass of torch.Tensor")
        if is_one_of(kind, SCALARS) and is_short(value):
            self._add_guards(source, value)
            return Known(value, source)
        if is_one_of(kind, (tuple, list)):
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
        """Guard that the class of an object stays this one, and stays as it is.

        Refuse where nobody can tell whether a class has changed.
        """
        named = self.name(kind, f"class_{classes.name_of(kind)}")
        self.guard(f"type({source}) is {named}")
        if classes.is_fixed(kind) or id(kind) in self._versions:
            return
        view = self._versions[id(kind)] = classes.version(kind)
        if not view.value:
            del self._versions[id(kind)]
            raise Refuse(f"nobody can tell whether the class {classes.name_of(kind)} changes")
        seen, then = self.name(view, f"version_of_{named}"), self.name(view.value, f"{named}_then")
        self.guard(f"{seen}.value == {then}")

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
        with uninterrupted():  # or a mode would stay on
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
            raise Break("an argument is nothing that a graph can hold", asked, (), kwargs)
        result = self._on_fakes(fn, args, kwargs)
        return self._wrapped(result, self.recorder.call(fn, tuple(args), kwargs))

    def _recordable(self, value):
        value = self.resolve(value)
        if isinstance(value, Items):
            items = [self._recordable(item) for item in value.items]
            known = None in items or value.kind not in (tuple, list)
            return None if known else Items(value.kind, items, value.source, value.node)
        if isinstance(value, Known):
            parts = value.value if type(value.value) is tuple else (value.value,)
            fits = all(is_one_of(type(part), IMMUTABLE) and is_writable(part) for part in parts)
            return value if fits else None
        return value if isinstance(value, Tensor) else None

    def _on_fakes(self, fn, args, kwargs):
        shown = fn if isinstance(fn, str) else getattr(fn, "__name__", "a call")
        if any(isinstance(v, Tensor) for n, v in kwargs.items() if n == "out"):
            raise Break(f"{shown} writes into out=")
        fakes, named = [_fake(a) for a in args], {k: _fake(v) for k, v in kwargs.items()}
        tensors = [f for f in (*fakes, *named.values()) if isinstance(f, torch.Tensor)]
        before = [tensor._version for tensor in tensors]
        try:
            with uninterrupted(), self.mode, _quiet:
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
            getitem = trace_rules.operator.getitem
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


class _Quiet:
    """Let torch not log what its fakes raise: it is raised for real, once it is run for real."""

    def __init__(self):
        self._lock, self._inside, self._before = threading.Lock(), 0, False

    def __enter__(self):
        with self._lock:
            if not self._inside:
                self._before, FAKES_LOGGER.disabled = FAKES_LOGGER.disabled, True
            self._inside += 1

    def __exit__(self, *raised):
        with self._lock:
            self._inside -= 1
            if not self._inside:
                FAKES_LOGGER.disabled = self._before


_quiet = _Quiet()


def _fake(value):
    if isinstance(value, Tensor):
        return value.fake
    if isinstance(value, Items):
        return value.kind(map(_fake, value.items))
    return value.value


def _hint(value, source) -> str:
    if type(value) is ModuleType and type(vars(value).get("__name__")) is str:
        return vars(value)["__name__"].rpartition(".")[2]
    return f"the_{own_name(value) or re.findall(r'[A-Za-z0-9_]+', source)[-1]}"


def own_name(value) -> str:
    """Return the name of a function or a class; nothing for what may make one up when asked."""
    if issubclass(type(value), type):
        return classes.name_of(value)
    named = is_one_of(type(value), (FunctionType, BuiltinFunctionType))
    return value.__name__[:60] if named and type(value.__name__) is str else ""
