"""The evaluation loop of a Python-written bytecode machine: run instructions, find handlers.

Mirrors `_PyEval_EvalFrameDefault` in CPython's `Python/ceval.c`. If a Python function calls
another, the same loop goes on in the frame of the other one. When an instruction raises an
exception, the loop looks for a handler in the exception table of the frame. If there is none, it
looks in the frame that called. The methods of `Loop` are also what the handlers of opcodes use.
"""

import builtins
import sys
from types import CellType, CodeType, FunctionType

from .calls import call_native, make_frame
from .decoder import plain
from .frame_object import UNIT, Frame, Handling
from .instructions import (
    EVERY_NAME,
    NULL,
    Halt,
    Missing,
    Unwritten,
    outer_name,
)
from .steps import STEPS, list_contexts, set_context

PACKAGE = __name__.rpartition(".")[0]
# These raise an exception that has passed this frame before, so the traceback has an entry for the
# frame already. A bare `raise`, which is RAISE_VARARGS with 0, does the same.
RAISES_AGAIN = ("RERAISE", "CLEANUP_THROW")


class Thread:
    """One run of the machine.

    Attributes
    ----------
    host
        The frame of CPython that started the machine, without the machine's own frames.
    top
        The frame of the machine that runs now, or None.
    handling, depth
        As a frame of the machine has them. The first frame of the run begins with these.
    """

    def __init__(self, host):
        """Begin a run. `host` is the frame of CPython that calls, maybe by code of the machine."""
        while host is not None and _is_of_machine(host):
            host = host.f_back
        self.host = host
        self.top = None
        self.handling = Handling()
        self.depth = 0


class Loop(Frame):
    """One frame of the machine, with the methods that handlers use.

    A handler is a method that is named for an opcode and works on `self.stack`. `self.push(value)`
    puts a value on the stack, and `self.pop()` takes the top value off. `self.local` and
    `self.cells` map the names of variables to values and to cells. `self.globals` has the globals
    of the module.
    """

    making = NULL  # the new instance, in the frame of an `__init__`
    result = None  # what the frame returned, if `is_flat` is False
    is_flat = False  # whether the result is pushed onto the stack of the calling frame
    called = "your machine"  # the name of the machine in titles

    def __init_subclass__(cls):
        """Store the ids of the code objects of all methods, of a learner's classes too.

        `_strip_machine` recognizes frames of the machine by them. They are ids, because a code
        object of the program may be equal to one of a method.
        """
        cls.codes = set()
        for base in cls.__mro__:
            functions = [value for value in vars(base).values() if type(value) is FunctionType]
            cls.codes.update(id(function.__code__) for function in functions)

    @property
    def stack(self) -> list:
        """The values that wait, the bottom first. A handler may bind another list."""
        return self._stack

    @stack.setter
    def stack(self, values: list):
        self._stack = values
        self.push = values.append
        self.pop = values.pop

    def evaluate(self):
        """Run this frame, and each one that it calls, one instruction after another."""
        while not self.done:
            frame = self.thread.top
            step = frame.steps[frame.at]
            frame.at += 1
            handler = getattr(frame, step.opname)
            try:
                handler(*step.arguments)
            except BaseException as error:
                frame.unwind(error)
        return self.take_result()

    def take(self, count):
        """Take the top `count` values off the stack, and return them in the order of the pushes."""
        first = len(self.stack) - count
        values = self.stack[first:]
        del self.stack[first:]
        return values

    def jump(self, position):
        """Go on at another instruction."""
        self.at = position

    def leave(self, value):
        """Leave this frame with the value that it returns or yields, and go on in the caller."""
        if self.making is not NULL:  # in an `__init__`, the caller gets the instance instead
            if value is not None:
                self.at = 0  # so that no `except` of this frame handles the error
                kind = type(value).__name__
                raise TypeError(f"__init__() should return None, not '{kind}'")
            value = self.making
        self.done = True
        self.thread.top = self.back  # the frame that called
        if self.is_flat:  # the loop that runs now goes on in the calling frame
            self.back.push(value)
        else:  # `evaluate` of this frame ends and returns the value
            self.result = value

    def take_result(self):
        """Return what this frame returned or yielded, and forget it, so that it can be freed."""
        result = self.result
        self.result = None
        return result

    def find(self, name):
        """Return the value of a global or builtin name; NameError if there is none."""
        for space in (self.globals, self.builtins):
            if name in space:
                return space[name]
        raise NameError(f"name '{name}' is not defined", name=name)

    def run(self, fn, /, *args, **kwargs):
        """Return what `fn(*args, **kwargs)` returns, in a run of its own."""
        self.thread = Thread(sys._getframe(1))
        return self.call(fn, *args, **kwargs)

    def call(self, fn, /, *args, **kwargs):
        """Call anything, and return its result. Python code runs in a loop of its own."""
        frame = make_frame(self, fn, args, kwargs)
        if frame is None:  # C code does the work
            return call_native(self, fn, args, kwargs)
        self.thread.top = frame
        return frame.evaluate()

    def start(self, fn, args, kwargs):
        """Call anything, so that the result is pushed onto the stack of this frame.

        For Python code, this method only makes the frame. The loop that runs now goes on in the new
        frame, and pushes the result when that frame ends.
        """
        frame = make_frame(self, fn, args, kwargs)
        if frame is None:  # C code does the work
            self.push(call_native(self, fn, args, kwargs))
        else:
            self.thread.top = frame
            frame.is_flat = True

    def frame(self, code: CodeType, space: dict, closure, local: dict) -> "Loop":
        """Return a new frame that is called by the frame that runs now.

        Parameters
        ----------
        code
            The code object to run.
        space
            The globals of the function.
        closure
            The cells of the function's free variables, in the order of `code.co_freevars`.
        local
            Parameter -> value. The frame uses this dict for its local variables.
        """
        new = type(self)()
        new.thread = self.thread
        new.back = self.thread.top
        caller = new.back or self.thread  # the first frame of a run has no calling frame
        new.depth = caller.depth + 1
        new.handling = caller.handling

        new.code = code
        new.steps, new.guards = plain(code)
        new.at = 0
        new.done = False
        new.stack = []
        new.local = local
        new.globals = space
        # `__builtins__` of a module is a module or a dict.
        builtin_space = space.get("__builtins__", builtins)
        new.builtins = builtin_space if isinstance(builtin_space, dict) else vars(builtin_space)

        new.cells = {}
        if closure:
            free_names = [outer_name(code, name) for name in code.co_freevars]
            new.cells = dict(zip(free_names, closure, strict=False))
        # Variables that inner functions share. The value of a parameter moves into its cell.
        for name in code.co_cellvars:
            new.cells[name] = CellType(local.pop(name)) if name in local else CellType()
        return new

    def function(self, code, defaults=None, kwdefaults=None, annotations=(), closure=None):
        """Return a new function with this code object and these attributes.

        `annotations` is a flat tuple, as bytecode has it: name, type, name, type, …
        """
        function = FunctionType(code, self.globals, None, defaults, closure)
        function.__kwdefaults__ = kwdefaults
        if annotations:
            names = annotations[::2]
            types = annotations[1::2]
            function.__annotations__ = dict(zip(names, types, strict=True))
        return function

    def throw(self, error: BaseException):
        """Raise an error at the `yield` where this frame waits, and run the frame.

        Return what the frame then yields or returns. A generator's `throw` calls this.
        """
        append_context(error, self.handling.value)  # sets `__context__`
        try:
            raise error
        except BaseException:  # `unwind` must be called while the error is being handled
            self.unwind(error, chained=True)
        return self.evaluate()

    def unwind(self, error: BaseException, chained=False):
        """Go to the handler of an error, or raise the error again if there is none.

        The handler may be in this frame, or in a frame that called this one in the same loop. The
        caller of this method must be handling `error`: a bare `raise` here raises it. `chained`
        says that the error has its `__context__` already.
        """
        if isinstance(error, Halt):  # it says what the machine cannot do, so no handler gets it
            raise
        step = self.steps[self.at - 1]  # the instruction that raised
        is_again = _raises_again(step)
        error.__traceback__, last_machine_code = self._strip_machine(error.__traceback__)

        if not (chained or is_again):
            self._set_context(error, step, last_machine_code)

        frame = self
        while not frame._enter_handler(error, is_again):
            is_again = False  # the calling frame has no entry in the traceback yet
            self.thread.top = frame.back
            if not frame.is_flat:  # its caller waits outside of this loop
                raise
            frame = frame.back
        self.thread.top = frame

    def _set_context(self, error, step, last_machine_code):
        """Set `__context__` of a new error to the exception that is being handled, as CPython does.

        `step` is the instruction that raised the error. `last_machine_code` is the second result of
        `_strip_machine`.
        """
        handled = self.handling.topmost()
        if step.opname == "RAISE_VARARGS":
            if handled is not None and handled is not error:
                set_context(error, handled)
        # An error that came out of an inner `evaluate` got its context there.
        elif last_machine_code is not type(self).evaluate.__code__:
            append_context(error, handled)

    def _enter_handler(self, error, is_again) -> bool:
        """Go to the handler that guards the current instruction; return False if there is none.

        The method also adds this frame to the traceback of the error, except if `is_again` says
        that the traceback has the frame.
        """
        position = self.at - 1
        # Below 0 if `leave` has set `at` to 0. The error then belongs to the caller.
        if position >= 0 and not is_again:
            error.__traceback__ = self.add_to_traceback(error.__traceback__)
        for first, end, handler, depth, with_offset in self.guards:
            if first <= position < end:
                origin = self._find_origin(self.steps[position])
                del self.stack[depth:]
                if with_offset:
                    self.push(origin)
                self.push(error)
                self.jump(handler)
                return True
        return False

    def _find_origin(self, step):
        """Return the place of the instruction that first raised the current error.

        The place is an offset in code units. Usually it is that of `step`, which runs now. If that
        is a RERAISE, an earlier handler has pushed the place, at the depth that RERAISE names.
        """
        depth = step.arguments[0] if step.opname == "RERAISE" else 0
        if 0 < depth <= len(self.stack):
            return self.stack[-depth]
        return step.offset // UNIT

    def _strip_machine(self, traceback):
        """Remove the entries of the machine's own code from the beginning of a traceback.

        Returns
        -------
        traceback
            The rest of the traceback, or None.
        last_machine_code
            The code object of the last removed entry. None if at most one entry was removed: that
            one is of the function that has caught the error.
        """
        first = traceback
        last_machine_code = None
        while traceback is not None:
            frame = traceback.tb_frame
            if id(frame.f_code) not in self.codes and not _is_of_machine(frame):
                break
            last_machine_code = None if traceback is first else frame.f_code
            traceback = traceback.tb_next
        return traceback, last_machine_code


class Absent:
    """A class attribute for an opcode without a method, or with a stub only: reading it raises."""

    def __init__(self, name, error_class=Missing):
        """Replace the method of the opcode `name`. `error_class(name)` is raised."""
        self._name = name
        self._error_class = error_class

    def __get__(self, frame, owner=None):
        """Raise the error. The loop reads the attribute at each instruction of this opcode."""
        raise self._error_class(self._name)


# Not by `__getattr__`, because every look-up in a class that has one is slower.
for _name in EVERY_NAME:
    setattr(Loop, _name, Absent(_name))


def machine(*steps: type) -> type:
    """Return a machine, which is a subclass of `Loop`, with the handlers of these classes.

    If several classes have a handler for an opcode, the handler of the first class counts. A stub,
    which is a method that a learner has not written yet, counts only if there is no handler. The
    machine then raises `Unwritten` at the opcode.
    """
    namespace = {}
    for step in steps:
        for name in opcodes(step):
            namespace[name] = Absent(name, Unwritten)
    for step in reversed(steps):  # so that the first class comes last and overwrites the others
        handlers = _handlers_of(step)
        namespace |= {name: handlers[name] for name in written(step)}

    bases = dict.fromkeys(steps)  # each class once
    return type("frame", (*bases, Loop), namespace)  # CPython names its class of frames so, too


def or_finished(*steps: type) -> type:
    """Return the machine of these classes, with a finished class for each that has only stubs.

    The finished class is the one of `steps.py` that has the same name.
    """
    finished_by_name = {step.__name__: step for step in STEPS}
    chosen = []
    replaced_names = []
    for step in steps:
        name = step.__name__
        if name in finished_by_name and not written(step):
            step = finished_by_name[name]
            replaced_names.append(name)
        chosen.append(step)

    machine_class = machine(*chosen)
    if replaced_names:
        names = " and ".join(replaced_names)
        machine_class.called = f"a machine with the finished {names}: yours are stubs"
    return machine_class


def opcodes(step: type) -> frozenset[str]:
    """Return the opcodes for which a class has a method, which may be inherited or a stub."""
    handlers = _handlers_of(step)
    return frozenset(name for name, value in handlers.items() if callable(value))


def written(step: type) -> frozenset[str]:
    """Return the opcodes for which a class has a handler that is not a stub."""
    handlers = _handlers_of(step)
    names = set()
    for name in opcodes(step):
        method = getattr(handlers[name], "__func__", handlers[name])
        if not is_stub(method):
            names.add(name)
    return frozenset(names)


def is_stub(method) -> bool:
    """Return whether a method is a stub: its body is only `return ...`, maybe with a docstring."""
    if type(method) is not FunctionType:
        return False
    code = method.__code__
    # A function that a decorator has made uses another function, and so is no stub.
    if code.co_names or code.co_freevars:
        return False
    # A stub's constants are the Ellipsis, its docstring, and a None that Python adds.
    others = [c for c in code.co_consts if c is not None and c is not ... and type(c) is not str]
    return ... in code.co_consts and not others


def append_context(error: BaseException, handled: BaseException | None):
    """Append `handled` to the chain of `__context__`s that begins with `error`.

    Nothing is done if the chain of `handled` has an exception of the first chain, because the two
    would become a circle.
    """
    own_contexts = list_contexts(error)
    handled_ids = {id(context) for context in list_contexts(handled)}
    if not any(id(context) in handled_ids for context in own_contexts):
        own_contexts[-1].__context__ = handled


def _raises_again(step) -> bool:
    """Return whether an instruction raises an exception that has passed this frame before."""
    if step.opname == "RAISE_VARARGS":
        return step.arguments == (0,)  # a `raise` without an exception
    return step.opname in RAISES_AGAIN


def _handlers_of(step) -> dict:
    """Return name -> attribute for all attributes in upper case of a class and its bases.

    Opcodes are written in upper case.
    """
    handlers = {}
    for base in reversed(step.__mro__):
        handlers |= {name: value for name, value in vars(base).items() if name.isupper()}
    return handlers


def _is_of_machine(frame) -> bool:
    """Return whether a frame of CPython's runs code of this package."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith(PACKAGE)
