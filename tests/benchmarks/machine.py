"""How fast the machine is beside byterun's way of dispatch, x-python and CPython."""

from functools import partial
from types import ModuleType

from helpers.mini import vm
from tests.benchmarks.byterun_style import ByterunStyle
from tests.benchmarks.harness import Goal, needs


def goals():
    for name, (fn, size) in WORK.items():
        ours, theirs = partial(vm.run, fn, size), partial(byterun_style, fn, size)
        yield Goal(f"byterun's dispatch, {name}", theirs, "the machine", ours, at_least=1, rounds=9)
        # The measure can fail: no machine in Python is as fast as CPython.
        yield Goal(f"the machine, {name}", ours, "CPython", partial(fn, size), at_least=1, rounds=9)
    needs("xpython", "xdis")  # it runs 3.11, without generators; no requirement of the course
    for name, source in SOURCES.items():
        ours, theirs = both(compile(source, name, "exec"))
        yield Goal(f"x-python, {name}", theirs, "the machine", ours, at_least=1, rounds=9)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loop(n):
    total = 0
    for i in range(n):
        if i % 3 != 1 and i % 7:
            total += i * 2 - 1
    return total


WORK = {"calls": (fib, 14), "loops": (loop, 6000)}
SOURCES = {
    "calls": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(14)\n",
    "loops": "t = 0\nfor i in range(6000):\n    if i % 3 != 1 and i % 7:\n        t += i * 2 - 1\n",
}


def byterun_style(fn, size):
    return ByterunStyle().run(fn, size)


def both(code):
    """Return two functions that run a module's code: on the machine and on x-python."""
    from xdis.version_info import PYTHON_VERSION_TRIPLE
    from xpython.vm import PyVM

    def module():
        exec(code, {"__name__": "timed"})

    def theirs():
        space = vars(ModuleType("timed"))
        space["__builtins__"] = __builtins__
        PyVM(PYTHON_VERSION_TRIPLE, is_pypy=False).run_code(code, space)

    return partial(vm.run, module), theirs
