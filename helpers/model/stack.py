"""Instructions of one run with the stack before each -> a timeline that can be asked for them."""

from dataclasses import dataclass

from helpers.model.stage import Card, Code, Value
from helpers.model.timeline import Step, Timeline


@dataclass(frozen=True)
class StackStep(Step):
    """One instruction about to run.

    `stack`: the words of the values on it, bottom first; `real` says that they were read from the
    interpreter, else each word says which instruction made the value. `names`: (name, words) of
    the locals. `handler`: what the exception table does here. `ending`: what became of it.
    `left_out` is more than 0 where the step stands for so many instructions of a loop.

    `code` is the place of its function among the run's `codes`. `values` are those of `stack`,
    `taken` of them, from the top, are what the instruction works on; `variables` those of `names`.
    `callers`: the calls that wait below this one, the first at the bottom; `shelf`: the generators'
    frames that were put aside and come back. `raised`: the offset of the instruction of this
    function that raised the exception which is being handled, -1 for none.
    """

    function: str = ""
    call: int = 1
    offset: int = -1
    opname: str = ""
    argrepr: str = ""
    stack: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    real: bool = True
    handler: str = ""
    printed: str = ""
    ending: str = ""
    left_out: int = 0
    code: int = -1
    values: tuple[Value, ...] = ()
    taken: int = 0
    variables: tuple[Value, ...] = ()
    callers: tuple[Card, ...] = ()
    shelf: tuple[Card, ...] = ()
    raised: int = -1

    @property
    def instruction(self) -> str:
        """Return offset, name and argument as one phrase."""
        return f"{self.offset} {self.opname} {self.argrepr}".rstrip()


@dataclass(frozen=True)
class StackRun(Timeline):
    """The steps of a run. `outcome`: how it ended, as a sentence; `real`: every stack was read."""

    outcome: str = ""
    real: bool = True
    recorded: int = 0
    codes: tuple[Code, ...] = ()

    def at(self, offset: int, function: str = "") -> tuple[StackStep, ...]:
        """Return the steps at an offset (of one function, if it is named), in order."""
        return tuple(
            step for step in self.steps if step.offset == offset and function in ("", step.function)
        )

    def on_line(self, line: int) -> tuple[StackStep, ...]:
        """Return the steps of a line of `source`, in order."""
        return tuple(step for step in self.steps if step.line == line and not step.left_out)
