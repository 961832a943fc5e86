"""A value from outside -> its symbolic value, and the guards on what was assumed of it.

Everything that a frame reads comes in through `take`. Mirrors
torch/_dynamo/variables/builder.py, and the naming of torch/_dynamo/codegen.py.
"""

import re
from types import BuiltinFunctionType, FunctionType, ModuleType

import torch

from helpers.internals import torch_private
from helpers.mini.dynamo import classes, global_state, trace_rules
from helpers.mini.dynamo.cache_entry import BUILTINS
from helpers.mini.dynamo.constant_guards import exactly, is_short
from helpers.mini.dynamo.symbolic_values import (
    SCALARS,
    Items,
    Known,
    Refuse,
    Tensor,
    Unread,
    is_immutable,
    is_one_of,
)
from helpers.safety.interrupts import uninterrupted

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
