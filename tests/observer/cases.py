"""What a program of the observer test is: its call, what happens after it, what is compared."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType

PROGRAMS: dict[str, "Program"] = {}


@dataclass
class Case:
    """One program, built in a child: `fn(*args, **kwargs)` is watched, `probes` run afterwards."""

    fn: Callable
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    probes: dict[str, Callable[[], object]] = field(default_factory=dict)
    weak: dict[str, Callable[[], object]] = field(default_factory=dict)  # weak references
    functions: dict[str, Callable] = field(default_factory=dict)
    objects: dict[str, object] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)  # the text of exhibits that the verb kept
    home: str = ""  # the module whose globals are compared

    def __post_init__(self):
        inside = getattr(self.fn, "__wrapped__", self.fn)
        if type(inside) is FunctionType:
            self.functions = {"fn": inside, **self.functions}
        elif not isinstance(self.fn, type) and hasattr(self.fn, "__dict__"):
            self.objects = {"fn": self.fn, **self.objects}
        self.home = self.home or sys._getframe(2).f_globals["__name__"]

    def call(self):
        """Run the program's call."""
        return self.fn(*self.args, **self.kwargs)


@dataclass(frozen=True)
class Program:
    """A program's name, the framework that it needs, and what verbs may ask about it."""

    name: str
    framework: str  # "plain", "torch" or "tensorflow"
    kinds: frozenset[str]
    build: Callable[[], Case]


def program(kinds: str = ""):
    """Add a function that builds a Case to the table of programs.

    `kinds`: `once`, a second call is another; `any`, no Python function is inside; `long`, costs
    seconds; `eager`, a tf.function of it returns or raises something else; `raises`, its error has
    another traceback where it is a tf.function; others name what the call's function is, such as
    `module` or `compiled`.
    """

    def add(build):
        framework = build.__module__.rpartition("_")[2]
        made = Program(build.__name__, framework, frozenset(kinds.split()), build)
        PROGRAMS[f"{framework}:{build.__name__}"] = made
        return build

    return add
