"""One row per place that holds a reference: which kind, whose, and under what name."""

from dataclasses import dataclass

KINDS = (
    "module attribute",
    "hidden module attribute",
    "class attribute",
    "instance attribute",
    "function attribute",
    "default argument",
    "keyword default",
    "closure cell",
    "partial",
    "bound method",
    "dict value",
    "dict key",
    "list item",
    "deque item",
    "set member",
    "frozenset member",
    "tuple item",
    "mappingproxy item",
    "generator local",
    "C-level cache",
    "C-level holder",
)


@dataclass(frozen=True)
class Binding:
    """One place that holds a reference.

    `kind` is one of KINDS, `owner` a dotted path, `name` what the owner calls the place: an
    attribute, `['key']`, `[3]`, `__defaults__[0]` or a free variable. `scan` is True where the
    scan of the modules finds it too; `reason` says why a place that is not `rebindable` is not.
    """

    kind: str
    owner: str
    name: str
    scan: bool
    rebindable: bool
    reason: str = ""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind {self.kind!r} is unknown; use one of {', '.join(KINDS)}")

    @property
    def path(self) -> str:
        """The owner and the name as one dotted path, the form that `keep` and `only` match."""
        return join(self.owner, self.name)

    @property
    def verdict(self) -> str:
        """`yes` where the place can be rebound, else `no` with the reason."""
        return "yes" if self.rebindable else f"no: {self.reason}"


def join(owner: str, name: str) -> str:
    """Return owner and name as one path; an index such as `[3]` needs no dot."""
    return owner + name if name.startswith(("[", "{", "(")) else f"{owner}.{name}"
