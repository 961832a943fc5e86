"""What a gradient rule sees and gives: the forward op -> backward ops to append.

Mirrors BackwardOpConfContext of oneflow/core/framework/user_op_conf.h (0.3). Both front ends
answer with the same Plan.
"""

from dataclasses import dataclass, field

from helpers.mini.oneflow.errors import OpError, listed, need, shown


@dataclass
class Request:
    """An op that somebody asks for: not yet checked against its definition."""

    name: str
    type: str = ""
    inputs: list[tuple[str, str]] = field(default_factory=list)  # (argument, blob's name)
    outputs: list[str] = field(default_factory=list)
    attrs: dict[str, object] = field(default_factory=dict)

    def blob(self, output):
        """Return the name that an output's blob will have."""
        return f"{self.name}/{output}_0"


@dataclass(frozen=True)
class ForwardOp:
    """The op whose gradient is asked for. Arguments are (name, index), blobs are names."""

    name: str
    type: str
    inputs: dict[tuple[str, int], str]
    outputs: dict[tuple[str, int], str]
    output_grads: dict[tuple[str, int], str]
    attrs: dict[str, object]
    attr_types: dict[str, str]
    wanted: frozenset  # the inputs that need a gradient
    specs: dict[str, object]  # blob's name -> its Spec


@dataclass
class Plan:
    """Backward ops in the order in which they run, and the blob of each input's gradient."""

    requests: list[Request] = field(default_factory=list)
    bound: dict[tuple[str, int], str] = field(default_factory=dict)


def OpArg(name, index):
    """Name one argument of an op, as user_op::OpArg does."""
    return (name, index)


class BackwardOpConfContext:
    """What the function given to SetBackwardOpConfGenFn gets."""

    def __init__(self, forward):
        self.plan = Plan()
        self._forward, self._rules, self._begun, self._built = Forward(forward, self), {}, [], {}

    def FwOp(self):
        """Return the forward op."""
        return self._forward

    def DefineOp(self, name, function):
        """Say how a backward op is built; it is built when GetOp first asks for it."""
        need(name not in self._rules, f'defines backward op "{name}" twice')
        self._rules[name] = function

    def GetOp(self, name):
        """Return a backward op, built on the first call."""
        if name not in self._built:
            rules = listed(self._rules)
            need(name in self._rules, f'asks for backward op "{name}"; DefineOp was given {rules}')
            need(name not in self._begun, f'needs backward op "{name}" to build itself: a cycle')
            self._begun.append(name)
            self._built[name] = made = self._rules[name](BackwardOpBuilder(name))
            need(isinstance(made, Built), f'backward op "{name}" is not built: end with .Build()')
            self.plan.requests.append(made.request)
        return self._built[name]


class Forward:
    """The forward op, as a rule sees it."""

    def __init__(self, op, context):
        self._op, self._bound = op, context.plan.bound

    def op_name(self):
        """Return the op's name in the job."""
        return self._op.name

    def attr(self, name):
        """Return the value of an attribute."""
        return _find(self._op.attrs, self._op.type, "attr", name)

    def input(self, name, index):
        """Return the name of an input's blob."""
        return _find(self._op.inputs, self._op.type, "input", (name, index))

    def output(self, name, index):
        """Return the name of an output's blob."""
        return _find(self._op.outputs, self._op.type, "output", (name, index))

    def output_grad(self, name, index):
        """Return the name of the blob that holds an output's gradient."""
        return _find(self._op.output_grads, self._op.type, "output", (name, index))

    def NeedGenGradTensor4OpInput(self, name, index):
        """Say whether anything asks for an input's gradient."""
        self.input(name, index)
        return (name, index) in self._op.wanted

    def InputGradBind(self, argument, get_blob):
        """Bind an input's gradient to the blob that get_blob() names; called if it is needed."""
        if self.NeedGenGradTensor4OpInput(*argument):
            self._bound[tuple(argument)] = get_blob()


class BackwardOpBuilder:
    """A backward op under construction."""

    def __init__(self, name):
        self._request = Request(name)

    def OpTypeName(self, name):
        """Set the op type."""
        self._request.type = name
        return self

    def InputBind(self, argument, blob):
        """Give an input the blob of that name."""
        self._request.inputs.append((argument, blob))
        return self

    def Output(self, argument):
        """Name an output."""
        self._request.outputs.append(argument)
        return self

    def Attr(self, name, value):
        """Set an attribute."""
        self._request.attrs[name] = value
        return self

    def Build(self):
        """Finish."""
        return Built(self._request)


class Built:
    """A backward op that was built: its outputs can be bound."""

    def __init__(self, request):
        self.request = request

    def output(self, name, index):
        """Return the name of an output's blob."""
        known = {(output, 0): self.request.blob(output) for output in self.request.outputs}
        return _find(known, self.request.type, "output", (name, index))


def _find(table, type_name, kind, key):
    if isinstance(key, tuple) and type(key[1]) is not int:
        raise OpError(f"takes a whole number after {shown(key[0])}, got {shown(key[1])}")
    if key not in table:
        named = f'("{key[0]}", {key[1]})' if isinstance(key, tuple) else f'"{key}"'
        has = listed(name[0] if isinstance(name, tuple) else name for name in table)
        need(False, f'op type "{type_name}" has no {kind} {named}; it has {has}')
    return table[key]
