"""The way byterun and x-python dispatch, at its smallest: for a comparison of speed only.

Per instruction: parse the code's bytes, find the method by name, call it, look at what it says
about why the frame stops. byterun itself ends at Python 3.5, so its design stands here, on a few
plain instructions; x-python, which has grown from it, runs 3.11 and is measured where installed.
"""

from helpers.mini.vm import STEPS, machine, plain


class ByterunStyle(machine(*STEPS)):
    """The ladder's handlers, dispatched as byterun does it."""

    def run(self, fn, *args, **kwargs):
        """Return what `fn(*args, **kwargs)` returns."""
        self.enter(fn, args, kwargs)
        while True:
            name, arguments = self.parse()
            why = self.dispatch(name, arguments)
            if why == "exception":
                raise self.last_exception
            if why == "return":
                return self.result

    def enter(self, fn, args, kwargs):
        """Lay out the frame; instructions are decoded once per code object, to be fair."""
        code = fn.__code__
        if code not in _DECODED:
            _DECODED[code] = plain(code)
        self.steps, self.guards = _DECODED[code]
        self.globals, self.builtins = fn.__globals__, fn.__builtins__
        self.stack, self.at, self.done, self.cells = [], 0, False, {}
        self.local = dict(zip(code.co_varnames, args, strict=False))

    def parse(self):
        """Return the next instruction's name and arguments."""
        step = self.steps[self.at]
        self.at += 1
        return step.opname, step.arguments

    def dispatch(self, name, arguments):
        """Call the method of that name; return why the frame stops, if it does."""
        try:
            method = getattr(self, name, None)
            if method is None:
                raise NotImplementedError(name)
            method(*arguments)
        except Exception as error:
            self.last_exception = error
            return "exception"
        return "return" if self.done else None


_DECODED = {}
