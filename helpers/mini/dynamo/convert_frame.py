"""A function and the values of one call -> a cache entry: guards, and what runs while they hold.

Mirrors torch/_dynamo/convert_frame.py and torch/csrc/dynamo/cache_entry.h.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FunctionType

from ...safety.arguments import printable, real_type_name
from .builder import BUILTINS
from .output_graph import BackendFailed, Output, Tracing
from .parts import PARTS, receives
from .resume_execution import make_resume_function
from .symbolic_convert import Interpreter
from .symbolic_values import NULL, RESULT, Break, Items, Loop, Refuse, Unread

UNSUPPORTED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
UNSUPPORTED |= inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def unsupported(code) -> str:
    """Return why functions with this code are not traced; nothing if they may be."""
    if code.co_flags & UNSUPPORTED:
        return "it has *args or **kwargs, or is a generator or coroutine"
    if code.co_exceptiontable:
        return "it has a try, a with, or another block that handles exceptions"
    return "it makes a function that shares its variables" if code.co_cellvars else ""


@dataclass(frozen=True)
class Guard:
    """One expression over a function's parameters; `holds(values)` never raises."""

    text: str
    test: Callable = field(repr=False)

    def holds(self, values: tuple) -> bool:
        """Return whether the expression is true of these values; what raises is not true."""
        with suppress(Exception):
            return bool(self.test(*values))
        return False


@dataclass(eq=False)
class Entry:
    """One way to run a function. `why` says why it runs as plain Python, if it does.

    `source` is the generated Python, `graph` an FX graph module or None, `broke` the reason of its
    graph break, `resumes` what continues after that.
    """

    guards: tuple[Guard, ...]
    accepts: Callable
    run: Callable
    source: str = ""
    graph: object = None
    broke: str = ""
    why: str = ""
    resumes: Sequence = ()

    def first_failing(self, values: tuple) -> Guard | None:
        """Return the first guard that does not hold, None if all do."""
        with suppress(Exception):  # such as an attribute that is gone
            if self.accepts(*values):
                return None
        return next((guard for guard in self.guards if not guard.holds(values)), None)


def guarded(texts: list[str], parameters: tuple, space: dict) -> tuple[tuple[Guard, ...], Callable]:
    """Return the guards, and one function that tests all of them at once."""
    head, space = f"lambda {', '.join(parameters)}: ", {**BUILTINS, **space}
    every = " and ".join(f"({text})" for text in texts) or "True"
    guards = tuple(Guard(text, eval(head + text, space)) for text in texts)
    return guards, eval(head + every, space)


class Frame:
    """A function to be traced: perhaps the rest of another, whose code is `moved` by some bytes."""

    def __init__(self, fn: FunctionType, parameters: tuple = (), rest_of=None, moved: int = 0):
        code = fn.__code__
        named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.fn, self.parameters = fn, parameters if rest_of else named
        self.rest_of, self.moved = rest_of or fn, moved
        self.name, self.made_name = map(_word, (self.rest_of.__code__.co_name, fn.__name__))

    def run_plainly(self, *args, **kwargs):
        """Run the function as it is; None replaces the names that a rest does not receive."""
        if self.rest_of is self.fn:
            return self.fn(*args, **kwargs)
        given = dict(zip(self.parameters, args, strict=True))
        return self.fn(*map(given.get, self.fn.__code__.co_varnames))


def _word(name: str) -> str:
    return name if name.isidentifier() else re.sub(r"\W", "", name) + "_"


def compile_frame(frame: Frame, values: tuple, backend, parts, resumed) -> Entry:
    """Return the entry for these values; one that runs as plain Python says why."""
    trace, code = None, frame.fn.__code__
    try:
        if why := unsupported(code):
            raise Refuse(why)
        trace = Tracing(parts, (*code.co_varnames, frame.made_name))
        return _traced(frame, values, backend, trace, resumed)
    except Refuse as refusal:
        return refused(frame, trace, str(refusal))
    except BackendFailed as failed:
        raise failed.__cause__ from None
    except Exception as error:
        if parts is not PARTS:  # a learner's own part is to be heard
            raise
        words = f"{real_type_name(error)}: {printable(str(error), 300)}"
        return refused(frame, trace, f"the mini-Dynamo failed with {words}")


def refused(frame: Frame, trace, why: str) -> Entry:
    """Return an entry that runs the function as it is, under the guards that led to that."""
    texts, space = (trace.guards, trace.names) if trace else ([], {})
    return Entry(*guarded(texts, frame.parameters, space), None, why=why)


def _traced(frame, values, backend, trace, resumed) -> Entry:
    named = zip(frame.parameters, values, strict=True)
    run = Interpreter(trace, frame.fn, {name: Unread(value, name) for name, value in named})
    output, broke, resumes = Output(trace), "", []
    try:
        value = run.run()
        new = isinstance(value, Items) and value.kind is tuple and not value.source
        lines = [f"return {output.literal(value) if new else output.words(value)}"]
    except Break as why:
        broke = str(why)
        lines = _Resumes(frame, run, output, resumed, resumes).write(why)
    module, calls = output.finish(backend)
    source = "".join(f"    {line}\n" for line in [*calls, *output.lines, *lines])
    source = f"def {frame.made_name}({', '.join(frame.parameters)}):\n{source}"
    trace.names["__name__"] = frame.fn.__module__
    space = dict(trace.names)
    exec(compile(source, f"<made from {printable(frame.fn.__name__)}>", "exec"), space)
    guards = guarded(trace.guards, frame.parameters, trace.names)
    entry = Entry(*guards, space[frame.made_name], source, module, broke, resumes=resumes)
    if failing := entry.first_failing(values):
        raise Refuse(f"{failing.text} does not hold for the values that it was made for")
    return entry


class _Resumes:
    """Writes the end of generated code that breaks: how the rest of the function is called."""

    def __init__(self, frame, run, output, resumed, made):
        self.frame, self.run, self.output = frame, run, output
        self._resumed, self._made = resumed, made
        here = run.position - 1
        if run.code.in_a_loop(here) or any(isinstance(value, Loop) for value in run.stack):
            raise Refuse("a graph break inside a loop")
        self.step = run.code.steps[here]

    def write(self, why: Break) -> list[str]:
        """Return the lines of a call that no graph holds, or of a jump and the rest each way."""
        step, run = self.step, self.run
        if why.fn is not None:
            words = self.output.words
            args = [words(value) for value in why.args_for_real]
            args += [f"{name}={words(value)}" for name, value in why.kwargs.items()]
            called = f"{words(why.fn)}({', '.join(args)})"
            return [f"return {self.rest(run.position, [*run.stack, *why.pushes], called)}"]
        kept = [run.condition] if step.opname.endswith("OR_POP") else []
        test = ("" if "TRUE" in step.opname else "not ") + self.output.words(run.condition)
        jumped = self.rest(step.target, [*run.stack, *kept])
        return [
            f"if {test}:",
            f"    return {jumped}",
            f"return {self.rest(run.position, run.stack)}",
        ]

    def rest(self, position: int, stack: list, called: str = "") -> str:
        """Return the expression that calls the rest of the function from `position`."""
        frame, run, code = self.frame, self.run, self.run.code
        bound = [name for name in code.code.co_varnames if name in run.local]
        others = [name for name in code.code.co_varnames if name not in bound]
        if unbound := receives(code, position, others):
            raise Refuse(f"{unbound[0]} may be read after a graph break, and is not bound yet")
        names = tuple(self.output.trace.parts.receives(code, position, bound))
        words = [self.output.words(run.local[name]) for name in names]
        words += [self.output.words(v) for v in stack if v is not NULL and v is not RESULT]
        layout = tuple(NULL if value is NULL else "value" for value in stack)
        step, written = code.steps[position], frame.rest_of
        offset = step.offset - frame.moved

        def make(name: str) -> Frame:
            made, moved = make_resume_function(written, offset, layout, name)
            stack = made.__code__.co_varnames[len(written.__code__.co_varnames) :]
            return Frame(made, (*names, *stack), written, moved)

        stem = f"{frame.name}_from_line_{step.line}"
        compiled = self._resumed((offset, layout, names), stem, make)
        if compiled not in self._made:
            self._made.append(compiled)
        name = self.output.trace.name(compiled, compiled.__name__)
        return f"{name}({', '.join([*words, *([called] if called else [])])})"
