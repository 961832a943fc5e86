"""The given part of the machine: fetch, dispatch, unwind; and what handlers ask of their frame.

Mirrors `_PyEval_EvalFrameDefault` in CPython's `Python/ceval.c`: Python calls Python without
recursion of the loop itself, an exception is looked up in the table of its frame,
and a frame without a handler hands it to the frame that called.
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
from .steps import STEPS, links, set_context

PACKAGE = __name__.rpartition(".")[0]
# What these raise has been in this frame before, so its traceback gets no second entry. A bare
# `raise` is another one: RAISE_VARARGS with 0.
RAISES_AGAIN = ("RERAISE", "CLEANUP_THROW")


class Thread:
    """One run. `top` is the frame that runs now, `host` CPython's own frame below the first."""

    def __init__(self, host):
        """Begin a run below which `host` is the innermost frame; the machine's own are left out."""
        while host is not None and _is_of_machine(host):
            host = host.f_back
        self.host = host
        self.top = None
        # As a frame has them, for what runs below the first frame.
        self.handling = Handling()
        self.depth = 0


class Loop(Frame):
    """One frame. Handlers are methods that are named for opcodes and work on `self.stack`.

    `self.push(value)` puts a value on the stack, `self.pop()` takes the top one off. `self.local`
    and `self.cells` hold variables by name, `self.globals` the module's.
    """

    making = NULL
    result = None
    is_flat = False
    called = "your machine"  # in titles

    def __init_subclass__(cls):
        """Know the code of every method, a learner's own too; by id, for equal ones are others."""
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
        """Take so many values off the stack: a list, in the order in which they were pushed."""
        first = len(self.stack) - count
        values = self.stack[first:]
        del self.stack[first:]
        return values

    def jump(self, position):
        """Go on at another instruction."""
        self.at = position

    def leave(self, value):
        """End this frame, or let it wait, with a value, which its caller is given."""
        if self.making is not NULL:  # an `__init__`: its caller is given the instance
            if value is not None:
                self.at = 0  # The error is the caller's: no handler of this frame guards it.
                kind = type(value).__name__
                raise TypeError(f"__init__() should return None, not '{kind}'")
            value = self.making
        self.done = True
        self.thread.top = self.back
        if self.is_flat:
            self.back.push(value)
        else:
            self.result = value

    def take_result(self):
        """Return what this frame returned or yielded, and keep no reference to it."""
        result = self.result
        self.result = None
        return result

    def find(self, name):
        """Return a global or builtin name; NameError if there is none."""
        for space in (self.globals, self.builtins):
            if name in space:
                return space[name]
        raise NameError(f"name '{name}' is not defined", name=name)

    def run(self, fn, /, *args, **kwargs):
        """Return what `fn(*args, **kwargs)` returns, in a run of its own."""
        self.thread = Thread(sys._getframe(1))
        return self.call(fn, *args, **kwargs)

    def call(self, fn, /, *args, **kwargs):
        """Call anything: a Python function runs in a machine of this kind, in a new frame."""
        frame = make_frame(self, fn, args, kwargs)
        if frame is None:
            return call_native(self, fn, args, kwargs)
        self.thread.top = frame
        return frame.evaluate()

    def start(self, fn, args, kwargs):
        """Call anything; of a Python function only the frame is made, and the loop continues in it.

        Its caller's stack gets the value.
        """
        frame = make_frame(self, fn, args, kwargs)
        if frame is None:
            self.push(call_native(self, fn, args, kwargs))
        else:
            self.thread.top = frame
            frame.is_flat = True

    def frame(self, code: CodeType, space: dict, closure, local: dict) -> "Loop":
        """Return a new frame above the one that runs: cells made, an empty stack.

        `space` has the globals, `closure` the cells of the function, and `local` its parameters.
        """
        new = type(self)()
        new.thread = self.thread
        new.back = self.thread.top
        below = new.back or self.thread
        new.depth = below.depth + 1
        new.handling = below.handling

        new.code = code
        new.steps, new.guards = plain(code)
        new.at = 0
        new.done = False
        new.stack = []
        new.local = local
        new.globals = space
        found = space.get("__builtins__", builtins)
        new.builtins = found if isinstance(found, dict) else vars(found)

        # Cells of the functions outside, then own ones, into which parameters move.
        new.cells = {}
        if closure:
            outer = [outer_name(code, name) for name in code.co_freevars]
            new.cells = dict(zip(outer, closure, strict=False))
        for name in code.co_cellvars:
            new.cells[name] = CellType(local.pop(name)) if name in local else CellType()
        return new

    def function(self, code, defaults=None, kwdefaults=None, annotations=(), closure=None):
        """Make a function from its code and the attributes that lay on the stack below it."""
        function = FunctionType(code, self.globals, None, defaults, closure)
        function.__kwdefaults__ = kwdefaults
        if annotations:
            names = annotations[::2]
            types = annotations[1::2]
            function.__annotations__ = dict(zip(names, types, strict=True))
        return function

    def throw(self, error: BaseException):
        """Raise an error where this frame waits, and run it; return what it yields or returns.

        So a generator's `throw` comes in.
        """
        chain(error, self.handling.value)
        try:
            raise error
        except BaseException:
            self.unwind(error, chained=True)
        return self.evaluate()

    def unwind(self, error: BaseException, chained=False):
        """Go on where the exception table says, with the error on the stack; else raise it again.

        The frame, or one that called it in the same loop, may have the handler. `chained` says that
        the error has its context already. A bare `raise` here raises `error`, which is being
        handled where this is called.
        """
        if isinstance(error, Halt):  # it is about the machine, and not for the program
            raise
        step = self.steps[self.at - 1]
        is_again = _raises_again(step)
        error.__traceback__, last_code = self._without_the_machine(error.__traceback__)

        if not (chained or is_again):
            self._set_context(error, step, last_code)

        frame = self
        while not frame._handles(error, is_again):
            is_again = False  # for a caller the error is new
            self.thread.top = frame.back
            if not frame.is_flat:
                raise
            frame = frame.back
        self.thread.top = frame

    def _set_context(self, error, step, last_code):
        """Make what is being handled the context of a new error, as CPython does.

        `step` is the instruction that raised it, and `last_code` that of `_without_the_machine`.
        """
        handled = self.handling.topmost()
        if step.opname == "RAISE_VARARGS":
            if handled is not None and handled is not error:
                set_context(error, handled)
        # An error that came out of another `evaluate` got its context there.
        elif last_code is not type(self).evaluate.__code__:
            chain(error, handled)

    def _handles(self, error, is_again) -> bool:
        """Go to the handler that guards the instruction that runs now; False if there is none."""
        position = self.at - 1  # below 0: `leave` has set `at` to 0, for the caller's error
        if position >= 0 and not is_again:
            error.__traceback__ = self.add_to_traceback(error.__traceback__)
        for first, end, handler, depth, with_offset in self.guards:
            if first <= position < end:
                place = self._place_of_error(self.steps[position])
                del self.stack[depth:]
                if with_offset:
                    self.push(place)
                self.push(error)
                self.jump(handler)
                return True
        return False

    def _place_of_error(self, step):
        """Return where an error arose: the unit of the instruction, or what RERAISE has kept."""
        depth = step.arguments[0] if step.opname == "RERAISE" else 0
        if 0 < depth <= len(self.stack):
            return self.stack[-depth]
        return step.offset // UNIT

    def _without_the_machine(self, traceback):
        """Return a traceback without its first entries, which are the machine's own code's.

        Beside it, the code of the last one that was left out, but None if that is the first one.
        """
        first = traceback
        last_code = None
        while traceback is not None:
            frame = traceback.tb_frame
            if id(frame.f_code) not in self.codes and not _is_of_machine(frame):
                break
            last_code = None if traceback is first else frame.f_code
            traceback = traceback.tb_next
        return traceback, last_code


class Absent:
    """Marks an opcode for which a machine has no method, or only a stub: asking for it raises."""

    def __init__(self, name, kind=Missing):
        """Stand for the method of an opcode; `kind` is the exception to raise."""
        self._name = name
        self._kind = kind

    def __get__(self, frame, owner=None):
        """Raise the exception: the machine asks its frame for the method of each instruction."""
        raise self._kind(self._name)


# Not by `__getattr__`: a class that has one is slow to ask for anything.
for _name in EVERY_NAME:
    setattr(Loop, _name, Absent(_name))


def machine(*steps: type) -> type:
    """Return the machine, a class of frames, that has the handlers of these classes.

    Where several have a handler for an opcode, the first one's counts; a stub never does.
    """
    space = {}
    for step in steps:
        for name in opcodes(step):
            space[name] = Absent(name, Unwritten)
    for step in reversed(steps):
        handlers = _handlers_of(step)
        space |= {name: handlers[name] for name in written(step)}

    bases = dict.fromkeys(steps)  # each class once
    return type("frame", (*bases, Loop), space)  # as CPython names its own frames


def or_finished(*steps: type) -> type:
    """Return the machine of these classes, with a finished one for each that is all stubs.

    A finished one is the class of `steps.py` that has the same name.
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
    """Return the opcodes that a class of handlers has methods for, inherited ones and stubs too."""
    handlers = _handlers_of(step)
    return frozenset(name for name, value in handlers.items() if callable(value))


def written(step: type) -> frozenset[str]:
    """Return the opcodes that a class has real handlers for: methods that say more than `...`."""
    handlers = _handlers_of(step)
    names = set()
    for name in opcodes(step):
        method = getattr(handlers[name], "__func__", handlers[name])
        if not is_stub(method):
            names.add(name)
    return frozenset(names)


def is_stub(method) -> bool:
    """Return whether a method is the stub still: `return ...`, and at most words about it."""
    if type(method) is not FunctionType:
        return False
    code = method.__code__
    if code.co_names or code.co_freevars:  # as a decorator's has, which calls another one
        return False
    # A stub's constants are the Ellipsis, its docstring, and a None that Python adds.
    others = [c for c in code.co_consts if c is not None and c is not ... and type(c) is not str]
    return ... in code.co_consts and not others


def chain(error: BaseException, handled: BaseException | None):
    """Make the exception being handled the last context of a new one, without making a circle."""
    own_links = links(error)
    handled_ids = {id(link) for link in links(handled)}
    if not any(id(link) in handled_ids for link in own_links):
        own_links[-1].__context__ = handled


def _raises_again(step) -> bool:
    """Return whether an instruction raises what has been in this frame before."""
    if step.opname == "RAISE_VARARGS":
        return step.arguments == (0,)
    return step.opname in RAISES_AGAIN


def _handlers_of(step) -> dict:
    """Return what a class and its bases have under the names of opcodes."""
    handlers = {}
    for base in reversed(step.__mro__):
        handlers |= {name: value for name, value in vars(base).items() if name.isupper()}
    return handlers


def _is_of_machine(frame) -> bool:
    """Return whether a frame of CPython's runs code of this package."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith(PACKAGE)
