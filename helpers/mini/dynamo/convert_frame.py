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
from .symbolic_values import NULL, RESULT, Break, Items, IteratorVariable, LazyVariable, Refuse

UNSUPPORTED = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def unsupported(code) -> str:
    """Return why functions with this code are not traced; nothing if they may be."""
    if code.co_flags & UNSUPPORTED:
        return "it has *args or **kwargs, or is a generator or coroutine"
    if code.co_exceptiontable:
        return "it has a try, a with, or another block that handles exceptions"
    if code.co_cellvars:
        return "it makes a function that shares its variables"
    return ""


@dataclass(frozen=True)
class Guard:
    """One expression over a function's parameters; `holds(values)` never raises."""

    #: The expression.
    text: str
    #: A function of the parameters that returns its value.
    test: Callable = field(repr=False)

    def holds(self, values: tuple) -> bool:
        """Return whether the expression is true of these values; what raises is not true."""
        with suppress(Exception):
            return bool(self.test(*values))
        return False


@dataclass(eq=False)
class Entry:
    """One way to run a function."""

    #: What has to be true of the arguments.
    guards: tuple[Guard, ...]
    #: All guards in one function of the parameters.
    accepts: Callable
    #: What runs while they hold; None for plain Python.
    run: Callable
    #: The generated Python.
    source: str = ""
    #: An FX graph module or None.
    graph: object = None
    #: The reason of its graph break.
    broke: str = ""
    #: Why it runs as plain Python, if it does.
    why: str = ""
    #: The compiled functions that continue after the graph break.
    resumes: Sequence = ()

    def first_failing(self, values: tuple) -> Guard | None:
        """Return the first guard that does not hold, None if all do."""
        with suppress(Exception):  # such as an attribute that is gone
            if self.accepts(*values):
                return None
        return next((guard for guard in self.guards if not guard.holds(values)), None)


def guarded(texts: list[str], parameters: tuple, space: dict) -> tuple[tuple[Guard, ...], Callable]:
    """Return the guards, and one function of the parameters that tests all of them at once.

    `texts` are expressions, `parameters` the names of a function's parameters, and `space` has the
    other names in the expressions.
    """
    head = f"lambda {', '.join(parameters)}: "
    space = {**BUILTINS, **space}
    guards = tuple(Guard(text, eval(head + text, space)) for text in texts)
    conjunction = " and ".join(f"({text})" for text in texts) or "True"
    return guards, eval(head + conjunction, space)


class Frame:
    """A function to be traced: perhaps the rest of another, whose code is `moved` by some bytes."""

    def __init__(self, fn: FunctionType, parameters: tuple = (), rest_of=None, moved: int = 0):
        """Make the frame of a function.

        For the rest of another function, `rest_of` is that function, and `parameters` are the names
        that the rest receives. For a whole function, they are left out.
        """
        code = fn.__code__
        own_parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.fn = fn
        self.parameters = parameters if rest_of else own_parameters
        self.rest_of = rest_of or fn  # the whole function
        self.moved = moved
        # Names for generated code: of the whole function, and of what is generated for this one.
        self.name = _make_identifier(self.rest_of.__code__.co_name)
        self.made_name = _make_identifier(fn.__name__)

    def run_plainly(self, *args, **kwargs):
        """Run the function as it is, and return its result.

        A rest takes all local names of the whole function; None stands for those that it does not
        receive, because it never reads them.
        """
        if self.rest_of is self.fn:
            return self.fn(*args, **kwargs)
        values = dict(zip(self.parameters, args, strict=True))
        return self.fn(*[values.get(name) for name in self.fn.__code__.co_varnames])


def _make_identifier(name: str) -> str:
    """Return a name that generated code can have; `<lambda>` is none."""
    if name.isidentifier():
        return name
    return re.sub(r"\W", "", name) + "_"


def compile_frame(frame: Frame, values: tuple, backend, parts, resumed) -> Entry:
    """Return the entry for these values; one that runs as plain Python says why.

    `resumed(key, stem, make_frame)` is `Compiled._resumed`, which compiles the rest of a function
    after a graph break.
    """
    trace = None
    code = frame.fn.__code__
    try:
        reason = unsupported(code)
        if reason:
            raise Refuse(reason)
        trace = Tracing(parts, (*code.co_varnames, frame.made_name))
        return _trace_frame(frame, values, backend, trace, resumed)
    except Refuse as refusal:
        return refused(frame, trace, str(refusal))
    except BackendFailed as failed:
        raise failed.__cause__ from None  # the backend's own error, as torch.compile raises it
    except Exception as error:
        if parts is not PARTS:  # a learner's own part is to be heard
            raise
        message = f"{real_type_name(error)}: {printable(str(error), 300)}"
        return refused(frame, trace, f"the mini-Dynamo failed with {message}")


def refused(frame: Frame, trace, why: str) -> Entry:
    """Return an entry that runs the function as it is, under the guards that led to that."""
    texts = trace.guards if trace else []
    space = trace.names if trace else {}
    guards, accepts = guarded(texts, frame.parameters, space)
    return Entry(guards, accepts, None, why=why)


def _trace_frame(frame, values, backend, trace, resumed) -> Entry:
    """Return the entry of a frame that can be traced; Refuse if it cannot."""
    local = {}
    for name, value in zip(frame.parameters, values, strict=True):
        local[name] = LazyVariable(value, name)
    interpreter = Interpreter(trace, frame.fn, local)
    output = Output(trace)
    broke = ""
    resumes = []  # filled by the _RestWriter
    try:
        result = interpreter.run()
        last_lines = [f"return {_format_result(output, result)}"]
    except Break as graph_break:
        broke = str(graph_break)
        writer = _RestWriter(frame, interpreter, output, resumed, resumes)
        last_lines = writer.write(graph_break)
    module, calls = output.finish(backend)

    source = _format_function(frame, [*calls, *output.lines, *last_lines])
    trace.names["__name__"] = frame.fn.__module__
    space = dict(trace.names)
    file_name = f"<made from {printable(frame.fn.__name__)}>"
    exec(compile(source, file_name, "exec"), space)

    guards, accepts = guarded(trace.guards, frame.parameters, trace.names)
    run = space[frame.made_name]
    entry = Entry(guards, accepts, run, source, module, broke, resumes=resumes)
    failing = entry.first_failing(values)
    if failing:  # such an entry would be made anew at each call
        raise Refuse(f"{failing.text} does not hold for the values that it was made for")
    return entry


def _format_result(output: Output, result) -> str:
    """Return the expression for what the function returns; a tuple made in it needs no name."""
    if isinstance(result, Items) and result.kind is tuple and not result.source:
        return output.literal(result)
    return output.expression(result)


def _format_function(frame: Frame, lines: list[str]) -> str:
    """Return the source of the generated function, with these lines as its body."""
    parameters = ", ".join(frame.parameters)
    body = "".join(f"    {line}\n" for line in lines)
    return f"def {frame.made_name}({parameters}):\n{body}"


class _RestWriter:
    """Writes the end of generated code that breaks: how the rest of the function is called.

    Each compiled rest that it calls is appended to `resumes`.
    """

    def __init__(self, frame, interpreter, output, resumed, resumes):
        """Prepare to write the end after the step at which `interpreter` has stopped.

        `resumed` is that of `compile_frame`. Refuse is raised for a break inside a loop.
        """
        self.frame = frame
        self.interpreter = interpreter
        self.output = output
        self._resumed = resumed
        self._resumes = resumes

        position = interpreter.position - 1  # of the step that broke: it was counted on already
        is_unrolling = any(isinstance(value, IteratorVariable) for value in interpreter.stack)
        if is_unrolling or interpreter.code.in_a_loop(position):
            raise Refuse("a graph break inside a loop")
        self.step = interpreter.code.steps[position]

    def write(self, graph_break: Break) -> list[str]:
        """Return the lines of a call that no graph holds, or of a jump and the rest each way."""
        if graph_break.fn is not None:
            return self._write_call(graph_break)
        return self._write_jump()

    def _write_call(self, graph_break: Break) -> list[str]:
        """Return the line that makes the call for real, and passes its result to the rest."""
        expression = self.output.expression
        arguments = [expression(value) for value in graph_break.args_for_real]
        for name, value in graph_break.kwargs.items():
            arguments.append(f"{name}={expression(value)}")
        call = f"{expression(graph_break.fn)}({', '.join(arguments)})"

        stack = [*self.interpreter.stack, *graph_break.pushes]
        rest = self.format_rest(self.interpreter.position, stack, call)
        return [f"return {rest}"]

    def _write_jump(self) -> list[str]:
        """Return the lines of an `if` on the real tensor, which calls one of two rests."""
        interpreter = self.interpreter
        test = self.output.expression(interpreter.condition)
        if "TRUE" not in self.step.opname:
            test = f"not {test}"
        stack_after_jump = list(interpreter.stack)
        if self.step.opname.endswith("OR_POP"):
            stack_after_jump.append(interpreter.condition)

        jumped = self.format_rest(self.step.target, stack_after_jump)
        went_on = self.format_rest(interpreter.position, interpreter.stack)
        return [f"if {test}:", f"    return {jumped}", f"return {went_on}"]

    def format_rest(self, position: int, stack: list, call: str = "") -> str:
        """Return the expression that calls the rest of the function from `position`.

        `stack` is the symbolic stack there. `call` is the expression for its RESULT, if it has one.
        """
        names = self._names_that_rest_receives(position)
        local = self.interpreter.local
        values = [local[name] for name in names]
        values += [value for value in stack if value is not NULL and value is not RESULT]
        arguments = [self.output.expression(value) for value in values]
        if call:  # the result is above all other values
            arguments.append(call)

        layout = tuple(NULL if value is NULL else "value" for value in stack)
        compiled = self._compile_rest(position, layout, names)
        if compiled not in self._resumes:
            self._resumes.append(compiled)
        rest_name = self.output.trace.name(compiled, compiled.__name__)
        return f"{rest_name}({', '.join(arguments)})"

    def _names_that_rest_receives(self, position: int) -> tuple[str, ...]:
        """Return the local names that the rest may read; Refuse if one of them has no value yet."""
        code = self.interpreter.code
        bound = []
        unbound = []
        for name in code.code.co_varnames:
            names = bound if name in self.interpreter.local else unbound
            names.append(name)

        unbound_but_read = receives(code, position, unbound)
        if unbound_but_read:
            name = unbound_but_read[0]
            raise Refuse(f"{name} may be read after a graph break, and is not bound yet")
        return tuple(self.output.trace.parts.receives(code, position, bound))

    def _compile_rest(self, position: int, layout: tuple, names: tuple[str, ...]):
        """Return the Compiled of the rest from `position`; the same for the same arguments."""
        step = self.interpreter.code.steps[position]
        whole_function = self.frame.rest_of
        offset = step.offset - self.frame.moved  # in the code of the whole function

        def make_frame(name: str) -> Frame:
            """Return the Frame of the rest, as a function of this name."""
            resume_function, moved = make_resume_function(whole_function, offset, layout, name)
            local_count = len(whole_function.__code__.co_varnames)
            stack_names = resume_function.__code__.co_varnames[local_count:]
            return Frame(resume_function, (*names, *stack_names), whole_function, moved)

        key = (offset, layout, names)
        stem = f"{self.frame.name}_from_line_{step.line}"
        return self._resumed(key, stem, make_frame)
