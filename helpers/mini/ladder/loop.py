"""The given part of the learner's machine: fetch, dispatch, unwind; parameters, cells, calls."""

import inspect
from types import CellType, FunctionType

from helpers.mini.ladder.plain import plain

ASKED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Missing(Exception):
    """The machine has no method for an opcode; the sentence names it."""


class Loop:
    """One frame. Handlers are methods that are named for opcodes and work on `self.stack`.

    `self.local` and `self.cells` hold variables by name, `self.globals` the module's.
    """

    def run(self, fn, *args, **kwargs):
        """Return what `fn(*args, **kwargs)` returns, one instruction after another."""
        self.enter(fn, args, kwargs)
        while not self.done:
            step = self.steps[self.at]
            self.at += 1
            handler = getattr(self, step.opname)
            try:
                handler(*step.arguments)
            except Exception as error:
                self.unwind(error)
        return self.result

    def push(self, value):
        """Put a value on the stack."""
        self.stack.append(value)

    def pop(self):
        """Take the top value off the stack."""
        return self.stack.pop()

    def jump(self, position):
        """Go on at another instruction."""
        self.at = position

    def leave(self, value):
        """End this frame with a value."""
        self.result, self.done = value, True

    def find(self, name):
        """Return a global or builtin name; NameError if there is none."""
        for space in (self.globals, self.builtins):
            if name in space:
                return space[name]
        raise NameError(f"name '{name}' is not defined")

    def call(self, fn, *args, **kwargs):
        """Call anything: a Python function runs in a machine of this kind, in a new frame."""
        if type(fn) is FunctionType and not fn.__code__.co_flags & ASKED:
            return type(self)().run(fn, *args, **kwargs)
        return fn(*args, **kwargs)

    def function(self, code, defaults=None, kwdefaults=None, annotations=(), closure=None):
        """Make a function from its code and the attributes that lay on the stack below it."""
        made = FunctionType(code, self.globals, None, defaults, closure)
        made.__kwdefaults__ = kwdefaults
        pairs = zip(annotations[::2], annotations[1::2], strict=True)
        made.__annotations__ = dict(pairs)
        return made

    def enter(self, fn, args, kwargs):
        """Lay out a new frame: parameters bound, cells made, an empty stack."""
        code = fn.__code__
        self.steps, self.guards = plain(code)
        self.globals, self.builtins = fn.__globals__, fn.__builtins__
        self.stack, self.at, self.done, self.result, self.handled = [], 0, False, None, None
        try:
            bound = inspect.signature(fn).bind(*args, **kwargs)
        except TypeError:
            fn(*args, **kwargs)  # They do not fit: CPython says so in its own words.
            raise
        bound.apply_defaults()
        self.local = dict(bound.arguments)
        self.cells = dict(zip(code.co_freevars, fn.__closure__ or (), strict=True))
        for name in code.co_cellvars:
            self.cells[name] = CellType(*[self.local[name]] if name in self.local else ())

    def unwind(self, error):
        """Go on where the exception table says, the error on the stack; else raise it on."""
        position = self.at - 1
        arose = self._where_it_arose(self.steps[position])
        for first, end, handler, depth, with_offset in self.guards:
            if first <= position < end:
                del self.stack[depth:]
                if with_offset:
                    self.push(arose)
                self.push(error)
                return self.jump(handler)
        raise error

    def _where_it_arose(self, step):
        """Return the offset to keep with an error: RERAISE(n) finds it n values down, if n is."""
        if step.opname == "RERAISE" and 0 < step.arguments[0] <= len(self.stack):
            return self.stack[-step.arguments[0]]
        return step.offset // 2

    def __getattr__(self, name):
        if name.isupper():
            raise Missing(f"this machine has no method {name} yet")
        raise AttributeError(name)


def machine(*steps: type) -> type:
    """Return the machine that has the handlers of these classes, the first one's first."""
    return type("Machine", (*steps, Loop), {})
