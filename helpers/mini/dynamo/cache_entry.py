"""What the cache holds: guards, and what runs while they hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

# What guards call, whatever someone makes of the builtins later.
_CALLED = (type, len, str, float, int, tuple, list, dict, complex, range, slice, bytes)
BUILTINS = {fn.__name__: fn for fn in _CALLED}


@dataclass(frozen=True)
class Guard:
    """One expression over a function's parameters; `holds(values)` never raises.

    It is compiled when it is asked alone for the first time: a hit asks all of them at once.
    """

    text: str
    _head: str = field(repr=False)
    _space: dict = field(repr=False)

    @cached_property
    def test(self) -> Callable:
        """Return the expression as a function of the parameters."""
        return eval(self._head + self.text, self._space)

    def holds(self, values: tuple) -> bool:
        """Return whether the expression is true of these values; what raises is not true."""
        try:
            return bool(self.test(*values))
        except Exception:
            return False


@dataclass(eq=False)
class Entry:
    """One way to run a function. `why` says why it runs as plain Python, if it does.

    `source` is the generated Python, `graph` an FX graph module or None, `broke` the reason of its
    graph break, `resumes` what goes on after that.
    """

    guards: tuple[Guard, ...]
    accepts: Callable
    run: Callable
    source: str = ""
    graph: object = None
    broke: str = ""
    why: str = ""
    resumes: tuple = ()
    hits: int = field(default=0)

    def first_failing(self, values: tuple) -> Guard | None:
        """Return the first guard that does not hold, None if all do."""
        try:
            if self.accepts(*values):
                return None
        except Exception:  # such as an attribute that is gone
            pass
        return next((guard for guard in self.guards if not guard.holds(values)), None)

    def __repr__(self):
        return self.source or f"plain Python: {self.why}"


def guarded(texts: list[str], parameters: tuple, space: dict) -> tuple[tuple[Guard, ...], Callable]:
    """Return the guards, and one function that tests all of them at once."""
    signature, space = ", ".join(parameters), {**BUILTINS, **space}
    head = f"lambda {signature}: " if signature else "lambda: "
    guards = tuple(Guard(text, head, space) for text in texts)
    every = " and ".join(f"({text})" for text in texts) or "True"
    return guards, eval(head + every, space)
