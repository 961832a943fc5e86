"""Records of a run of Python code, one bytecode instruction at a time.

Each step has the value stack and the variables before the instruction runs.
"""

from dataclasses import dataclass

from .stage_records import NOWHERE, Card, Span, Step, Timeline

LANES = ("load", "store", "operate", "call", "jump")


@dataclass(frozen=True, slots=True)
class Row:
    """One instruction of a function.

    Attributes
    ----------
    offset : int
        Where the instruction begins in `co_code`, in bytes.
    opname : str
        The name of the instruction.
    argument : str
        What its argument means.
    lane : str
        The kind of instruction, one of `LANES`.
    span : Span
        The text of the source for which the instruction was compiled.
    target : int
        The offset to which the instruction may jump, -1 if it never jumps.
    """

    offset: int
    opname: str
    argument: str
    lane: str
    span: Span = NOWHERE
    target: int = -1


@dataclass(frozen=True, slots=True)
class Code:
    """One function that a run entered.

    Attributes
    ----------
    function : str
        The name of the function.
    rows : tuple of Row
        Its instructions.
    names : tuple of str
        The names of its variables.
    depth : int
        The greatest depth of its value stack.
    """

    function: str
    rows: tuple[Row, ...]
    names: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a running function.

    Attributes
    ----------
    words : str
        The value, as text.
    kind : str
        The name of its type.
    same : str
        The variable that refers to the same object, "" for none.
    key : int
        A number that the value keeps from step to step, as long as it stays on the stack.
    """

    words: str
    kind: str = ""
    same: str = ""
    key: int = 0


@dataclass(frozen=True)
class StackStep(Step):
    """One instruction about to run, or several rounds of a loop that are not shown.

    Attributes
    ----------
    function : str
        The function of the instruction.
    call : int
        The number of the call in this run.
    offset : int
        The offset of the instruction, -1 for none.
    opname : str
        The name of the instruction.
    argrepr : str
        What its argument means.
    stack : tuple of str
        The values on the stack as text, bottom first.
    names : tuple of (str, str)
        Name and value of each local variable, as text.
    real : bool
        Whether the stack was read from the interpreter. If not, each text of `stack` says which
        instruction made the value.
    handler : str
        What the exception table does at this instruction.
    printed : str
        What the instruction printed.
    ending : str
        How the call ended here, if it did.
    left_out : int
        How many instructions of a loop this step replaces.
    code : int
        The position of the function in the run's `codes`, -1 for none.
    values : tuple of Value
        The values of `stack`, with what a picture needs.
    taken : int
        How many values the instruction takes from the top of the stack.
    variables : tuple of Value
        The values of `names`.
    callers : tuple of Card
        The calls that wait, the first at the bottom.
    shelf : tuple of Card
        The frames of generators that are put aside.
    raised : int
        The offset of the instruction that raised the exception that is being handled, -1 for none.
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
        """Return offset, name and argument as one phrase, such as `4 LOAD_FAST x`."""
        return f"{self.offset} {self.opname} {self.argrepr}".rstrip()


@dataclass(frozen=True)
class StackRun(Timeline):
    """A run, an instruction at a time.

    Attributes
    ----------
    outcome : str
        How the run ended, as a sentence.
    real : bool
        Whether each stack was read from the interpreter.
    recorded : int
        How many instructions ran while the run was recorded.
    codes : tuple of Code
        The functions that the run entered.
    """

    outcome: str = ""
    real: bool = True
    recorded: int = 0
    codes: tuple[Code, ...] = ()
