"""What watching and running code by hand costs: the machine, the hook, Dynamo, the tracers."""

import gc
import sys
import threading
from functools import partial

from helpers.capture.cpython import following, opcode_recorder, stack_run, tracer_costs
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.mini.frame_hook import watching
from tools.benchmarks.harness import Goal, needs, prepared, size


def measure_machine():
    """How fast the machine is beside byterun's way of dispatch and CPython."""
    for name, fn, argument in (("calls", fib, size(14, 3)), ("loops", loop, size(6000, 20))):
        ours, theirs = partial(vm.run, fn, argument), partial(ByterunStyle().run, fn, argument)
        bare = partial(fn, argument)
        yield Goal(f"byterun's dispatch, {name}", theirs, "the machine", ours, at_least=1, rounds=9)
        # The measure can fail: no machine in Python is as fast as CPython.
        yield Goal(f"the machine, {name}", ours, "CPython", bare, at_least=1, rounds=9)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loop(n):
    total = 0
    for i in range(n):
        if i % 3 != 1 and i % 7:
            total += i * 2 - 1
    return total


class ByterunStyle(vm.Machine):
    """The machine's own handlers, dispatched as byterun does it, at its smallest.

    Per instruction: parse the code, find the method by name, call it, look at what it says about
    why the frame stops. byterun itself ends at Python 3.5, so its design stands here.
    """

    def evaluate(self):
        """Return what this frame returns."""
        while True:
            frame = self.thread.top
            why = frame.dispatch(*frame.parse())
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


def measure_frame_hook():
    """What the frame hook costs, in bare calls."""
    yield Goal("a hook in another thread", pass_through, "bare calls", call_often, at_most=3)
    # The measure can fail: it tells apart no hook, a hook in C, and what runs Python for each call.
    miss, hit = partial(call_hooked, other), partial(call_hooked, called)
    yield Goal("a filter that misses", miss, "bare calls", call_often, at_least=1, at_most=5)
    yield Goal("a callback in Python", hit, "a filter that misses", miss, at_least=1)
    yield Goal("a callback in Python", hit, "bare calls", call_often)


def called(x):
    return x


def other(x):
    return x


def call_often():
    fn = called
    for _ in range(size(40_000, 10)):
        fn(1)


def answer_nothing(code, arguments):
    return None


def call_hooked(watched):
    with watching(answer_nothing, only=[watched]):
        call_often()


@prepared
def pass_through():
    """Switch a hook on in another thread: here, frames only pass through the evaluator."""
    ready, done = threading.Event(), threading.Event()

    def hold():
        with watching(answer_nothing, only=[other]):
            ready.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    try:
        yield call_often
    finally:
        done.set()
        thread.join()


def measure_dynamo():
    """The mini-Dynamo beside `torch.compile(backend="eager")`: a cached call, and the first one."""
    needs("torch")
    import torch

    from helpers.mini import dynamo
    from tests.mini.dynamo.programs.broken import toy_example

    def add_one(x):
        return x + 1

    def chain(x):
        for _ in range(20):
            x = torch.sin(x) * 2
        return x

    def first(compiled, fn, args):
        @prepared
        def side():
            torch._dynamo.reset()
            yield partial(compiled(fn), *args)

        return side

    torch.set_num_threads(1)  # on a busy machine threads wait for each other, whoever calls
    real, ten = partial(torch.compile, backend="eager"), torch.ones(10)
    cases = [(add_one, [ten]), (chain, [ten]), (toy_example, [torch.randn(10), ten])]
    for fn, args in cases:
        torch._dynamo.reset()
        mine, theirs = partial(dynamo.compile(fn), *args), partial(real(fn), *args)
        yield Goal(f"{fn.__name__}, cached call", mine, "torch.compile", theirs, at_most=1)
    for fn, args in cases:
        mine, theirs = first(dynamo.compile, fn, args), first(real, fn, args)
        yield Goal(f"{fn.__name__}, first call", mine, "torch.compile", theirs, at_most=0.2)


def measure_tracers():
    """What CPython's tracers cost: the more they see, the more."""

    def work():
        total = 0
        for n in range(300):
            total += n
        return total

    ways = tracer_costs.list_tracers(work, partial(work), set())
    calls, lines = ways["sys.settrace: calls"], ways["sys.settrace: lines"]
    yield Goal("instructions", ways["sys.settrace: instructions"], "calls", calls, at_least=1)
    yield Goal("watch_stack's record", ways["watch_stack's record"], "lines", lines, at_least=1)


def measure_value_stack():
    """How fast the value stack is recorded, beside an opcode tracer that notes what is at hand.

    The tracer notes the offset and the locals, in the same safe words. The record holds these, and
    the value stack on top of them.
    """
    opcode_recorder.MOST_EVENTS = following.MOST  # no record is cut
    rounds = size(1500, 30)
    folded = alone(stack_run.record_instructions, collect, (rounds,))
    whole = alone(
        stack_run.record_instructions, collect, (rounds,), fold=False, most=following.MOST
    )
    noted, offsets = (alone(trace, note, rounds) for note in (note_locals, note_offset))
    words = "a tracer that notes the locals"
    yield Goal("the record", folded, words, noted, at_most=2, rounds=9)
    yield Goal("the record, unfolded", whole, words, noted, at_most=2, rounds=9)
    yield Goal("the record", folded, "a tracer that notes the offset", offsets, rounds=9)


def alone(run, *args, **options):
    """Return a side that does not clear up after the one before it."""

    @prepared
    def side():
        gc.collect()
        yield partial(run, *args, **options)

    return side


def collect(n):
    total, found = 0, []
    for i in range(n):
        total += i * 2
        if i % 3:
            found = [i, total]
    return total, found


def trace(note, rounds):
    """Run under an opcode tracer; return what it noted."""
    seen, code = [], collect.__code__

    def tracer(frame, event, argument):
        if frame.f_code is not code:
            return None
        if event == "call":
            frame.f_trace, frame.f_trace_opcodes, frame.f_trace_lines = tracer, True, False
        elif event == "opcode":
            seen.append(note(frame))
        return tracer

    before, own = sys.gettrace(), sys._getframe()
    own.f_trace_opcodes = True
    sys.settrace(tracer)
    try:
        collect(rounds)
    finally:
        sys.settrace(before)
        own.f_trace_opcodes = False
    return seen


def note_offset(frame):
    return frame.f_lasti


def note_locals(frame):
    return frame.f_lasti, {name: short_repr(value) for name, value in frame.f_locals.items()}
