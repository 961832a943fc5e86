"""Compiles a function for the values of one call. The result is a cache entry: guards and code.
The code is generated Python, which calls the graph. Guards are expressions that must be true for
the code to be used again. A *graph break* is an instruction that cannot be in a graph. The
generated code runs it on real objects, and then calls a *resume function*, which runs the rest of
the function. A *symbolic value* stands for an object while the function is traced. SkipFrame means
that the function cannot be traced, so it runs as plain Python.

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
from .symbolic_values import (
    NULL,
    RESULT,
    GraphBreak,
    IteratorVariable,
    LazyVariable,
    SequenceVariable,
    SkipFrame,
)

UNSUPPORTED = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)


def find_unsupported(code) -> str:
    """Return a clause that says why a function with this code cannot be traced; "" if it can."""
    if code.co_flags & UNSUPPORTED:
        return "it has *args or **kwargs, or is a generator or coroutine"
    if code.co_exceptiontable:
        return "it has a try, a with, or another block that handles exceptions"
    if code.co_cellvars:
        return "it makes a function that shares its variables"
    return ""


@dataclass(frozen=True)
class Guard:
    """One condition on the arguments of a call, as an expression of the parameters."""

    #: The expression, such as "type(x) is int".
    text: str
    #: The expression as a function of the parameters.
    test: Callable = field(repr=False)

    def holds(self, values: tuple) -> bool:
        """Return whether the expression is true for these values; False if it raises."""
        with suppress(Exception):
            return bool(self.test(*values))
        return False


@dataclass(eq=False)
class Entry:
    """One entry of a function's cache: code, and the guards on its use."""

    #: The conditions on the arguments.
    guards: tuple[Guard, ...]
    #: One function of the parameters that is true if all guards hold.
    accepts: Callable
    #: The generated function, called with the values of the parameters; None for plain Python.
    run: Callable
    #: The source of `run`.
    source: str = ""
    #: The FX graph module that `run` calls, or None.
    graph: object = None
    #: Why the graph broke, "" if it did not.
    broke: str = ""
    #: Why the function runs as plain Python, "" if it does not.
    why: str = ""
    #: The compiled resume functions that `run` may call after the graph break.
    resume_functions: Sequence = ()

    def first_failing(self, values: tuple) -> Guard | None:
        """Return the first guard that does not hold for these values, None if all hold."""
        with suppress(Exception):  # a guard may raise, such as for an attribute that is gone
            if self.accepts(*values):
                return None
        return next((guard for guard in self.guards if not guard.holds(values)), None)


def compile_guards(
    texts: list[str], parameters: tuple, names: dict
) -> tuple[tuple[Guard, ...], Callable]:
    """Compile guard expressions. Return (a Guard for each, one function that tests them all).

    `texts` has the expressions, `parameters` the names of the traced function's parameters, and
    `names` maps each other name in the expressions to its object.
    """
    head = f"lambda {', '.join(parameters)}: "
    namespace = {**BUILTINS, **names}
    guards = tuple(Guard(text, eval(head + text, namespace)) for text in texts)
    conjunction = " and ".join(f"({text})" for text in texts) or "True"
    return guards, eval(head + conjunction, namespace)


class Frame:
    """A function to be traced: one that a user wrote, or a resume function of such a one."""

    def __init__(
        self, fn: FunctionType, parameters: tuple = (), rest_of=None, prologue_size: int = 0
    ):
        """Keep the function, and the names that generated code needs.

        Only a resume function has the other arguments: `parameters` has the names that it receives,
        `rest_of` is the function whose rest it runs, and `prologue_size` is by how many bytes its
        instructions lie behind those of that function.
        """
        code = fn.__code__
        own_parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.fn = fn
        self.parameters = parameters if rest_of else own_parameters
        self.rest_of = rest_of or fn  # the function that the user wrote
        self.prologue_size = prologue_size
        # Identifiers: for the function that the user wrote, and for the code generated for `fn`.
        self.name = _make_identifier(self.rest_of.__code__.co_name)
        self.generated_name = _make_identifier(fn.__name__)

    def run_plainly(self, *args, **kwargs):
        """Run the function as plain Python, and return its result.

        The parameters of a resume function are all locals of the user's function. Those that
        generated code does not pass are None, because the rest never reads them.
        """
        if self.rest_of is self.fn:
            return self.fn(*args, **kwargs)
        values = dict(zip(self.parameters, args, strict=True))
        return self.fn(*[values.get(name) for name in self.fn.__code__.co_varnames])


def _make_identifier(name: str) -> str:
    """Return `name` as an identifier: "<lambda>" -> "lambda_"."""
    if name.isidentifier():
        return name
    return re.sub(r"\W", "", name) + "_"


def compile_frame(frame: Frame, values: tuple, backend, parts, get_resume_function) -> Entry:
    """Return the cache entry for a call with these values, one for each parameter.

    If the function cannot be traced, the entry runs it as plain Python and its `why` has the
    reason. `get_resume_function` is the method `_get_resume_function` of the `Compiled`.
    """
    trace = None
    code = frame.fn.__code__
    try:
        reason = find_unsupported(code)
        if reason:
            raise SkipFrame(reason)
        trace = Tracing(parts, (*code.co_varnames, frame.generated_name))
        return _trace_frame(frame, values, backend, trace, get_resume_function)
    except SkipFrame as refusal:
        return make_plain_entry(frame, trace, str(refusal))
    except BackendFailed as failed:
        raise failed.__cause__ from None  # the backend's own error reaches the user
    except Exception as error:
        if parts is not PARTS:  # the error may come from a part that the learner wrote
            raise
        message = f"{real_type_name(error)}: {printable(str(error), 300)}"
        return make_plain_entry(frame, trace, f"the mini-Dynamo failed with {message}")


def make_plain_entry(frame: Frame, trace, why: str) -> Entry:
    """Return an entry that runs the function as plain Python; `why` is the reason.

    The entry has the guards of the unfinished trace, or none if `trace` is None. Other values could
    lead to a trace that succeeds.
    """
    texts = trace.guards if trace else []
    names = trace.names if trace else {}
    guards, accepts = compile_guards(texts, frame.parameters, names)
    return Entry(guards, accepts, None, why=why)


def _trace_frame(frame, values, backend, trace, get_resume_function) -> Entry:
    """Trace the frame for these values, and return its cache entry.

    The function's bytecode runs on symbolic values, which fills the graph. Then Python source is
    generated that calls the graph and, after a graph break, a resume function. SkipFrame is raised
    if the function cannot be traced.
    """
    # No value gets a guard before the function uses it.
    local = {}
    for name, value in zip(frame.parameters, values, strict=True):
        local[name] = LazyVariable(value, name)
    interpreter = Interpreter(trace, frame.fn, local)
    output = Output(trace)
    break_reason = ""
    resume_functions = []  # filled by the _ResumeCallWriter
    try:
        result = interpreter.run()
        last_lines = [f"return {_format_result(output, result)}"]
    except GraphBreak as graph_break:
        break_reason = str(graph_break)
        writer = _ResumeCallWriter(
            frame, interpreter, output, get_resume_function, resume_functions
        )
        last_lines = writer.write(graph_break)
    module, calls = output.finish(backend)  # the lines in `calls` call the graph

    source = _format_function(frame, [*calls, *output.lines, *last_lines])
    trace.names["__name__"] = frame.fn.__module__
    guards, accepts = compile_guards(trace.guards, frame.parameters, trace.names)
    entry = Entry(
        guards=guards,
        accepts=accepts,
        run=_execute_source(frame, source, trace.names),
        source=source,
        graph=module,
        broke=break_reason,
        resume_functions=resume_functions,
    )
    failing = entry.first_failing(values)
    if failing:  # the entry would never be used, and each call would make another one
        raise SkipFrame(f"{failing.text} does not hold for the values that it was made for")
    return entry


def _execute_source(frame: Frame, source: str, names: dict) -> Callable:
    """Execute the source of the generated function; return the function.

    `names` maps each global name in the source to its object.
    """
    namespace = dict(names)
    file_name = f"<made from {printable(frame.fn.__name__)}>"
    exec(compile(source, file_name, "exec"), namespace)
    return namespace[frame.generated_name]


def _format_result(output: Output, result) -> str:
    """Return the source expression of the symbolic value that the function returns."""
    # A tuple that the function has made is written in place, such as `return (a, b)`.
    if isinstance(result, SequenceVariable) and result.kind is tuple and not result.source:
        return output.literal(result)
    return output.expression(result)


def _format_function(frame: Frame, lines: list[str]) -> str:
    """Return the source of the generated function, with these lines as its body."""
    parameters = ", ".join(frame.parameters)
    body = "".join(f"    {line}\n" for line in lines)
    return f"def {frame.generated_name}({parameters}):\n{body}"


class _ResumeCallWriter:
    """Writes the last lines of generated code after a graph break, which call a resume function.

    Each compiled resume function that the lines call is appended to `resume_functions`.
    """

    def __init__(self, frame, interpreter, output, get_resume_function, resume_functions):
        """Prepare to write for the step at which `interpreter` has stopped.

        `output` has the names of the values in generated code. `get_resume_function` is that of
        `compile_frame`. SkipFrame is raised for a graph break inside a loop, where an iterator is
        half used.
        """
        self.frame = frame
        self.interpreter = interpreter
        self.output = output
        self._get_resume_function = get_resume_function
        self._resume_functions = resume_functions

        # `interpreter.position` is already that of the step after the one that broke the graph.
        position = interpreter.position - 1
        is_unrolling = any(isinstance(value, IteratorVariable) for value in interpreter.stack)
        if is_unrolling or interpreter.code.in_a_loop(position):
            raise SkipFrame("a graph break inside a loop")
        self.step = interpreter.code.steps[position]

    def write(self, graph_break: GraphBreak) -> list[str]:
        """Return the last lines: they run the instruction that broke the graph, then the rest.

        The instruction is a call, or a jump on the value of a tensor, for which `fn` is None.
        """
        if graph_break.fn is not None:
            return self._write_call(graph_break)
        return self._write_jump()

    def _write_call(self, graph_break: GraphBreak) -> list[str]:
        """Return the line that makes the call, and passes its result to a resume function."""
        expression = self.output.expression
        arguments = [expression(value) for value in graph_break.call_args]
        for name, value in graph_break.kwargs.items():
            arguments.append(f"{name}={expression(value)}")
        call = f"{expression(graph_break.fn)}({', '.join(arguments)})"

        stack = [*self.interpreter.stack, *graph_break.pushes]
        resume_call = self._format_resume_call(self.interpreter.position, stack, call)
        return [f"return {resume_call}"]

    def _write_jump(self) -> list[str]:
        """Return an `if` on the real tensor. Each of its two ways calls a resume function.

        One starts at the target of the jump, the other at the next step.
        """
        interpreter = self.interpreter
        test = self.output.expression(interpreter.condition)
        if "TRUE" not in self.step.opname:
            test = f"not {test}"
        stack_after_jump = list(interpreter.stack)
        # `and` and `or` of CPython 3.11 keep the tensor on the stack if they jump.
        if self.step.opname.endswith("OR_POP"):
            stack_after_jump.append(interpreter.condition)

        call_at_target = self._format_resume_call(self.step.target, stack_after_jump)
        call_at_next = self._format_resume_call(interpreter.position, interpreter.stack)
        return [f"if {test}:", f"    return {call_at_target}", f"return {call_at_next}"]

    def _format_resume_call(self, position: int, stack: list, call: str = "") -> str:
        """Return the expression that calls the resume function for the step at `position`.

        Its arguments are the locals that the rest reads, then the values on `stack`, the symbolic
        stack at that step. Where the stack has RESULT, the argument is the expression `call`.
        """
        names = self._find_received_names(position)
        local = self.interpreter.local
        values = [local[name] for name in names]
        values += [value for value in stack if value is not NULL and value is not RESULT]
        arguments = [self.output.expression(value) for value in values]
        if call:  # RESULT is above all other values of the stack, so it is the last argument
            arguments.append(call)

        # Which entries of the stack are NULL: only the resume function itself can push one.
        layout = tuple(NULL if value is NULL else "value" for value in stack)
        compiled = self._compile_resume_function(position, layout, names)
        if compiled not in self._resume_functions:
            self._resume_functions.append(compiled)
        function_name = self.output.trace.name(compiled, compiled.__name__)
        return f"{function_name}({', '.join(arguments)})"

    def _find_received_names(self, position: int) -> tuple[str, ...]:
        """Return the locals that the rest from `position` may read, which it has to receive.

        SkipFrame is raised if the rest may read a local that has no value yet.
        """
        code = self.interpreter.code
        bound = []
        unbound = []
        for name in code.code.co_varnames:
            names = bound if name in self.interpreter.local else unbound
            names.append(name)

        unbound_but_read = receives(code, position, unbound)
        if unbound_but_read:
            name = unbound_but_read[0]
            raise SkipFrame(f"{name} may be read after a graph break, and is not bound yet")
        return tuple(self.output.trace.parts.receives(code, position, bound))

    def _compile_resume_function(self, position: int, layout: tuple, names: tuple[str, ...]):
        """Return the Compiled for the rest from `position`; the same one for the same arguments.

        `layout` says which entries of the stack are NULL, and `names` are the locals it receives.
        """
        step = self.interpreter.code.steps[position]
        whole_function = self.frame.rest_of
        offset = step.offset - self.frame.prologue_size  # in the code of the user's function

        def make_frame(name: str) -> Frame:
            """Return the Frame of the resume function, under this name."""
            resume_function, prologue_size = make_resume_function(
                whole_function, offset, layout, name
            )
            local_count = len(whole_function.__code__.co_varnames)
            stack_names = resume_function.__code__.co_varnames[local_count:]
            return Frame(resume_function, (*names, *stack_names), whole_function, prologue_size)

        key = (offset, layout, names)
        stem = f"{self.frame.name}_from_line_{step.line}"
        return self._get_resume_function(key, stem, make_frame)
