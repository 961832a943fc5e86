"""Predicates of kernels: `HobDataType("in", 0) == "float32"` -> a question to ask of an op.

Mirrors oneflow/core/framework/user_op_hob.h; "hob" is short for high order bool.
"""

from dataclasses import dataclass

from helpers.mini.oneflow.dtypes import dtype_name
from helpers.mini.oneflow.errors import OpError, listed, need, shown
from helpers.safety.arguments import is_a

DEVICES = ("cpu", "gpu")


@dataclass(frozen=True)
class KernelRegContext:
    """What a predicate is asked about: one op that looks for its kernel.

    Attributes:
        op_type: its op_type_name.
        device: "cpu" or "gpu".
        dtypes: (argument, index) -> dtype, of its inputs and then of its outputs.
    """

    op_type: str
    device: str
    dtypes: dict[tuple[str, int], str]

    def __str__(self):
        dtypes = [f"{name}_{index}: {dtype}" for (name, index), dtype in self.dtypes.items()]
        return ", ".join([f"op_type_name: {self.op_type}", f"device: {self.device}", *dtypes])


class Hob:
    """A predicate: `hob(context)` is True or False. `&`, `|` and `~` make another of it."""

    def __init__(self, text, function):
        self.text, self.function = text, function

    def __call__(self, context: KernelRegContext) -> bool:
        """Ask it of an op."""
        return self.function(context)

    def __and__(self, other):
        return self._joined("&", other, lambda context: self(context) and other(context))

    def __or__(self, other):
        return self._joined("|", other, lambda context: self(context) or other(context))

    def __invert__(self):
        return Hob(f"~({self.text})", lambda context: not self(context))

    def __bool__(self):
        raise OpError(
            f"{self.text} is neither true nor false before an op is known; "
            "join predicates with & and |, each in brackets, not with and, or, not, in"
        )

    def __str__(self):
        return self.text

    def _joined(self, sign, other, function):
        need(
            is_a(other, Hob),
            f"{self.text} {sign} {shown(other)}: a predicate is joined with another one; put "
            "each in brackets",
        )
        return Hob(f"({self.text}) {sign} ({other.text})", function)


class HobContextGetter:
    """What can be asked for: a device, or the dtype of an argument. `==` makes a predicate."""

    def __init__(self, text, get, known):
        self.text, self.get, self.known = text, get, known

    def __eq__(self, value):
        value = self.known(value, self.text)
        return Hob(f'{self.text} == "{value}"', lambda context: self.get(context) == value)

    def __ne__(self, value):
        value = self.known(value, self.text)
        return Hob(f'{self.text} != "{value}"', lambda context: self.get(context) != value)

    __hash__ = None


def HobDataType(name, index):
    """Stand for the dtype of an argument of the op, an input or an output."""
    text = f'HobDataType("{name}", {index})'
    fine = type(name) is str and type(index) is int
    need(fine, f"HobDataType takes a name and a whole number, got {shown(name)}, {shown(index)}")

    def get(context):
        if (name, index) not in context.dtypes:
            has = listed(known for known, _ in context.dtypes)
            raise OpError(f'{text}: op type "{context.op_type}" has no such argument; it has {has}')
        return context.dtypes[name, index]

    return HobContextGetter(text, get, dtype_name)


def HobDeviceTag():
    """Stand for the device that the op is placed on."""

    def known(value, what):
        fine = type(value) is str and value in DEVICES
        need(fine, f"{what}: there are {listed(DEVICES)}, not {shown(value)}")
        return value

    return HobContextGetter("HobDeviceTag()", lambda context: context.device, known)
