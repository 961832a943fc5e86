"""The given part of the machine: fetch, dispatch, unwind; and what handlers ask of their frame.

Mirrors `_PyEval_EvalFrameDefault` in CPython's `Python/ceval.c`: Python calls Python without
recursion of the loop itself, an exception is looked up in the table of the frame it stands in,
and a frame without a handler hands it to the frame that called.
"""

import sys
from types import CellType, CodeType, FunctionType

from helpers.mini.vm import calling
from helpers.mini.vm.frames import Frame, Handling, builtins_of
from helpers.mini.vm.instructions import EVERY_NAME, outer_name, plain
from helpers.mini.vm.method_codes import code_ids
from helpers.mini.vm.values import NULL, Halt, Missing
from helpers.safety.arguments import is_a

PACKAGE = __name__.rpartition(".")[0]
# What these raise has been in this frame before: its traceback gets no second entry.
AGAIN = {"RERAISE": None, "CLEANUP_THROW": None, "RAISE_VARARGS": (0,)}


class Thread:
    """One run. `top` is the frame that runs now, `host` CPython's own frame below the first.

    Mirrors `PyThreadState` in CPython's `Include/cpython/pystate.h`.
    """

    def __init__(self, host):
        while host is not None and _is_ours(host):
            host = host.f_back
        self.host, self.top, self.handling, self.depth = host, None, Handling(), 0
        while host is not None:
            self.depth, host = self.depth + 1, host.f_back


class Loop(Frame):
    """One frame. Handlers are methods that are named for opcodes and work on `self.stack`.

    `self.push(value)` puts a value on the stack, `self.pop()` takes the top one off. `self.local`
    and `self.cells` hold variables by name, `self.globals` the module's.
    """

    def __init_subclass__(cls):
        """Know the code of every method, a learner's own too, and of what they call."""
        cls.codes = code_ids(value for base in cls.__mro__ for value in vars(base).values())

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
            value = self._made(value)
        self.done, self.thread.top = True, self.back
        if self.is_flat:
            self.back.push(value)
        else:
            self.result = value

    def take_result(self):
        """Return what this frame returned or yielded, and keep no reference to it."""
        result, self.result = self.result, None
        return result

    def _made(self, value):
        """Return the instance that this `__init__` has set up; it may return nothing itself."""
        if value is None:
            return self.making
        self.at = 0  # The error is the caller's: no handler of this frame guards it.
        raise TypeError(f"__init__() should return None, not '{type(value).__name__}'")

    def find(self, name):
        """Return a global or builtin name; NameError if there is none."""
        for space in (self.globals, self.builtins):
            value = space.get(name, NULL)
            if value is not NULL:
                return value
        raise NameError(f"name '{name}' is not defined", name=name)

    def run(self, fn, /, *args, **kwargs):
        """Return what `fn(*args, **kwargs)` returns, in a run of its own."""
        self.thread = Thread(sys._getframe(1))
        return self.call(fn, *args, **kwargs)

    def call(self, fn, /, *args, **kwargs):
        """Call anything: a Python function runs in a machine of this kind, in a new frame."""
        frame = calling.enter(self, fn, args, kwargs)
        if frame is None:
            return calling.call_native(self, fn, args, kwargs)
        self.thread.top = frame
        return frame.evaluate()

    def start(self, fn, args, kwargs):
        """Call anything; of a Python function only the frame is made, and the loop goes on in it.

        Its caller's stack gets the value.
        """
        frame = calling.enter(self, fn, args, kwargs)
        if frame is None:
            self.push(calling.call_native(self, fn, args, kwargs))
        else:
            self.thread.top, frame.is_flat = frame, True

    def run_code(self, code: CodeType, space: dict, names, closure=()):
        """Run the code of a module or a class body with `names` as its namespace."""
        frame = self.thread.top = self.frame(code, space, names, closure, {})
        return frame.evaluate()

    def frame(self, code: CodeType, space: dict, names, closure, local: dict) -> "Loop":
        """Return a new frame above the one that runs: cells made, an empty stack."""
        new, thread, back = type(self)(), self.thread, self.thread.top
        new.thread, new.back, new.code = thread, back, code
        new.steps, new.guards = plain(code)
        new.globals, new.builtins, new.names = space, builtins_of(space), names
        new.stack, new.local, new.extra_locals = [], local, {}
        new.push, new.pop = new.stack.append, new.stack.pop
        outer = [outer_name(code, name) for name in code.co_freevars]
        new.cells = dict(zip(outer, closure, strict=False))
        for name in code.co_cellvars:
            new.cells[name] = CellType(local.pop(name)) if name in local else CellType()
        new.titles = code.co_name, code.co_qualname
        new.depth = back.depth + 1 if back is not None else thread.depth
        new.handling = back.handling if back is not None else thread.handling
        return new

    def function(self, code, defaults=None, kwdefaults=None, annotations=(), closure=None):
        """Make a function from its code and the attributes that lay on the stack below it."""
        made = FunctionType(code, self.globals, None, defaults, closure)
        made.__kwdefaults__ = kwdefaults
        if annotations:
            flat = isinstance(annotations, tuple)
            pairs = zip(annotations[::2], annotations[1::2], strict=True) if flat else annotations
            made.__annotations__ = dict(pairs)
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
        """Go on where the exception table says, the error on the stack; else raise it on.

        Each frame on the way has its entry in the traceback, as `PyTraceBack_Here` gives it one.
        """
        if is_a(error, Halt):
            raise
        step, frame = self.steps[self.at - 1], self
        again = step.opname in AGAIN and AGAIN[step.opname] in (None, step.arguments)
        error.__traceback__, last = self._without_the_machine(error.__traceback__)
        if not (chained or again or last is Loop.evaluate.__code__):
            chain(error, self.handling.topmost())
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
                arose = self._where_it_arose(self.steps[position])
                del self.stack[depth:]
                if with_offset:
                    self.push(arose)
                self.push(error)
                self.jump(handler)
                return True
        return False

    def _where_it_arose(self, step):
        """Return the offset to keep with an error: RERAISE(n) finds it n values down, if n is."""
        if step.opname == "RERAISE" and 0 < step.arguments[0] <= len(self.stack):
            return self.stack[-step.arguments[0]]
        return step.offset // 2

    def _without_the_machine(self, traceback):
        """Return a traceback without the entries at its head that are the machine's own code's.

        And the last of these codes but for the loop: it says who has let the exception out.
        """
        last, first = None, traceback
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if id(code) not in self.codes and not _is_ours(traceback.tb_frame):
                break
            last = None if traceback is first else code
            traceback = traceback.tb_next
        return traceback, last


class Absent:
    """Stands where a machine has no method for an opcode, or a stub still: to ask for it raises."""

    def __init__(self, name, kind=Missing):
        self._name, self._kind = name, kind

    def __get__(self, frame, owner=None):
        raise self._kind(self._name)


# Not by `__getattr__`: a class that has one is slow to ask for anything.
for _name in EVERY_NAME:
    setattr(Loop, _name, Absent(_name))


def chain(error: BaseException, handled: BaseException | None):
    """Make the exception being handled the context of a new one, without making a circle."""
    if handled is None or handled is error:
        return
    seen, last = {id(error)}, error
    while last.__context__ is not None:
        last = last.__context__
        if last is handled or id(last) in seen:
            return
        seen.add(id(last))
    link = handled
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        link = link.__context__
    if link is None:
        last.__context__ = handled


def _is_ours(frame) -> bool:
    name = frame.f_globals.get("__name__", "")
    return isinstance(name, str) and name.startswith(PACKAGE)
