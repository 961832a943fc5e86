"""The given part of the machine: fetch, dispatch, unwind; and what handlers ask of their frame.

Mirrors `_PyEval_EvalFrameDefault` in CPython's `Python/ceval.c`: Python calls Python without
recursion of the loop itself, an exception is looked up in the table of its frame,
and a frame without a handler hands it to the frame that called.
"""

import builtins
import sys
from types import CellType, CodeType, FunctionType

from .decoder import plain
from .frame_object import Frame, Handling, call_native, enter
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
# What these raise has been in this frame before: its traceback gets no second entry.
AGAIN = {"RERAISE": None, "CLEANUP_THROW": None, "RAISE_VARARGS": (0,)}


class Thread:
    """One run. `top` is the frame that runs now, `host` CPython's own frame below the first."""

    def __init__(self, host):
        while host is not None and _is_ours(host):
            host = host.f_back
        self.host, self.top, self.handling, self.depth = host, None, Handling(), 0


class Loop(Frame):
    """One frame. Handlers are methods that are named for opcodes and work on `self.stack`.

    `self.push(value)` puts a value on the stack, `self.pop()` takes the top one off. `self.local`
    and `self.cells` hold variables by name, `self.globals` the module's.
    """

    making, result, is_flat = NULL, None, False
    called = "your machine"  # in titles

    def __init_subclass__(cls):
        """Know the code of every method, a learner's own too; by id, for equal ones are others."""
        found = [value for base in cls.__mro__ for value in vars(base).values()]
        cls.codes = {id(value.__code__) for value in found if type(value) is FunctionType}

    @property
    def stack(self) -> list:
        """The values that wait, the bottom first. A handler may bind another list."""
        return self._stack

    @stack.setter
    def stack(self, values: list):
        self._stack = values
        self.push, self.pop = values.append, values.pop

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
        if self.making is not NULL:
            if value is not None:
                self.at = 0  # The error is the caller's: no handler of this frame guards it.
                kind = type(value).__name__
                raise TypeError(f"__init__() should return None, not '{kind}'")
            value = self.making
        self.done, self.thread.top = True, self.back
        if self.is_flat:
            self.back.push(value)
        else:
            self.result = value

    def take_result(self):
        """Return what this frame returned or yielded, and keep no reference to it."""
        result, self.result = self.result, None
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
        frame = enter(self, fn, args, kwargs)
        if frame is None:
            return call_native(self, fn, args, kwargs)
        self.thread.top = frame
        return frame.evaluate()

    def start(self, fn, args, kwargs):
        """Call anything; of a Python function only the frame is made, and the loop continues in it.

        Its caller's stack gets the value.
        """
        frame = enter(self, fn, args, kwargs)
        if frame is None:
            self.push(call_native(self, fn, args, kwargs))
        else:
            self.thread.top, frame.is_flat = frame, True

    def frame(self, code: CodeType, space: dict, closure, local: dict) -> "Loop":
        """Return a new frame above the one that runs: cells made, an empty stack."""
        new, thread = type(self)(), self.thread
        back = thread.top
        new.at, new.done, new.thread, new.back, new.code = 0, False, thread, back, code
        new.steps, new.guards = plain(code)
        new.stack, new.local, new.cells = [], local, {}
        found = space.get("__builtins__", builtins)
        new.globals, new.builtins = space, found if isinstance(found, dict) else vars(found)
        if closure:
            outer = [outer_name(code, name) for name in code.co_freevars]
            new.cells = dict(zip(outer, closure, strict=False))
        for name in code.co_cellvars:
            new.cells[name] = CellType(local.pop(name)) if name in local else CellType()
        below = back or thread
        new.depth, new.handling = below.depth + 1, below.handling
        return new

    def function(self, code, defaults=None, kwdefaults=None, annotations=(), closure=None):
        """Make a function from its code and the attributes that lay on the stack below it."""
        made = FunctionType(code, self.globals, None, defaults, closure)
        made.__kwdefaults__ = kwdefaults
        if annotations:
            made.__annotations__ = dict(zip(annotations[::2], annotations[1::2], strict=True))
        return made

    def throw(self, error: BaseException):
        """Raise an error where this frame waits: so a generator's `throw` comes in."""
        chain(error, self.handling.value)
        try:
            raise error
        except BaseException:
            self.unwind(error, chained=True)
        return self.evaluate()

    def unwind(self, error: BaseException, chained=False):
        """Go on where the exception table says, the error on the stack; else raise it on."""
        if isinstance(error, Halt):
            raise
        step, frame = self.steps[self.at - 1], self
        again = step.opname in AGAIN and AGAIN[step.opname] in (None, step.arguments)
        error.__traceback__, last = self._without_the_machine(error.__traceback__)
        handled = self.handling.topmost()
        if step.opname == "RAISE_VARARGS" and not (chained or again):
            if handled is not None and handled is not error:
                set_context(error, handled)
        elif not (chained or again or last is type(self).evaluate.__code__):
            chain(error, handled)
        while not frame._handles(error, again):
            self.thread.top, again = frame.back, False
            if not frame.is_flat:
                raise
            frame = frame.back
        self.thread.top = frame

    def _handles(self, error, again) -> bool:
        """Go to the handler that guards the instruction that runs now; False if there is none."""
        position = self.at - 1
        if position >= 0 and not again:
            error.__traceback__ = self.entry(error.__traceback__)
        for first, end, handler, depth, with_offset in self.guards:
            if first <= position < end:
                step = self.steps[position]
                deep = step.arguments[0] if step.opname == "RERAISE" else 0
                arose = self.stack[-deep] if 0 < deep <= len(self.stack) else step.offset // 2
                del self.stack[depth:]
                if with_offset:
                    self.push(arose)
                self.push(error)
                self.jump(handler)
                return True
        return False

    def _without_the_machine(self, traceback):
        """Return a traceback without the entries at its head that are the machine's own code's."""
        last, first = None, traceback
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if id(code) not in self.codes and not _is_ours(traceback.tb_frame):
                break
            last = None if traceback is first else code
            traceback = traceback.tb_next
        return traceback, last


class Absent:
    """Marks an opcode for which a machine has no method, or only a stub: asking for it raises."""

    def __init__(self, name, kind=Missing):
        self._name, self._kind = name, kind

    def __get__(self, frame, owner=None):
        raise self._kind(self._name)


# Not by `__getattr__`: a class that has one is slow to ask for anything.
for _name in EVERY_NAME:
    setattr(Loop, _name, Absent(_name))


def machine(*steps: type) -> type:
    """Return the machine that has the handlers of these classes, the first one's first."""
    space = {name: Absent(name, Unwritten) for step in steps for name in opcodes(step)}
    for step in reversed(steps):
        space |= {name: _found(step)[name] for name in written(step)}
    return type("frame", (*dict.fromkeys(steps), Loop), space)  # as CPython names its own frames


def or_finished(*steps: type) -> type:
    """Return the machine of these classes, with a finished one for each that is all stubs."""
    finished = {step.__name__: step for step in STEPS}
    lent = [step.__name__ for step in steps if not written(step) and step.__name__ in finished]
    made = machine(*(finished[s.__name__] if s.__name__ in lent else s for s in steps))
    if lent:
        made.called = f"a machine with the finished {' and '.join(lent)}: yours are stubs"
    return made


def opcodes(step: type) -> frozenset[str]:
    """Return the opcodes that a class of handlers has methods for, inherited ones and stubs too."""
    return frozenset(name for name, value in _found(step).items() if callable(value))


def written(step: type) -> frozenset[str]:
    """Return the opcodes that a class has real handlers for: methods that say more than `...`."""
    methods = {name: getattr(value, "__func__", value) for name, value in _found(step).items()}
    return frozenset(name for name in opcodes(step) if not is_stub(methods[name]))


def is_stub(method) -> bool:
    """Return whether a method is the stub still: `return ...`, and at most words about it."""
    if type(method) is not FunctionType:
        return False
    code = method.__code__
    if code.co_names or code.co_freevars:  # as a decorator's has, which calls another one
        return False
    return ... in code.co_consts and all(c in (None, ...) or type(c) is str for c in code.co_consts)


def chain(error: BaseException, handled: BaseException | None):
    """Make the exception being handled the context of a new one, without making a circle."""
    behind, further = links(error), links(handled)
    if not any(one is other for one in behind for other in further):
        behind[-1].__context__ = handled


def _found(step) -> dict:
    named = {}
    for part in reversed(step.__mro__):
        named |= {n: v for n, v in vars(part).items() if n.isupper()}
    return named


def _is_ours(frame) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(PACKAGE)
