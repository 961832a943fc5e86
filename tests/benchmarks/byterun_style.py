"""The way byterun and x-python dispatch, at its smallest: for a comparison of speed only.

Per instruction: parse the code's bytes, find the method by name, call it, look at what it says
about why the frame stops. byterun itself ends at Python 3.5, so its design stands here, on plain
instructions; x-python, which has grown from it, runs 3.11 and is measured where installed.
"""

from helpers.mini import vm


class ByterunStyle(vm.Machine):
    """The machine's own handlers, dispatched as byterun does it."""

    def evaluate(self):
        """Return what this frame returns."""
        while True:
            frame = self.thread.top
            name, arguments = frame.parse()
            why = frame.dispatch(name, arguments)
            if why == "exception":
                raise frame.last_exception
            if why == "return" and frame is self:
                return self.take_result()

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
