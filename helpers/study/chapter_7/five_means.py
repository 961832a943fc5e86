"""The open task: five techniques to intercept one call, each judged by itself."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise

from helpers.internals import torch_private
from helpers.model.phrase import listed
from helpers.safety.arguments import real_type_name
from helpers.safety.restoring import KEPT
from helpers.study.chapter_7.diagnosis import Meant
from helpers.study.chapter_7.means_table import reach_listing, the_call
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Case, by_name, find_difference, say_first_part, torch

NAMES = ("name", "code", "frame", "function mode", "dispatch mode")
FRAMES = ("sys.settrace", "sys.setprofile", "the frame evaluator")


@exercise(
    "Start with what you know: name and code (chapter 1: rebind, swap), frame (chapter 3: "
    "sys.settrace or sys.setprofile). Each is a @contextmanager. It makes a list, installs itself, "
    "yields the list, and in a finally restores what was there before.",
    "The two modes are classes. TorchFunctionMode of torch.overrides calls its __torch_function__ "
    "with (func, types, args, kwargs). TorchDispatchMode of torch.utils._python_dispatch calls its "
    "__torch_dispatch__ with ops. softsign is not an op, but it runs torch.ops.aten.abs. Add a "
    "note, and return func(*args, **(kwargs or {})).",
    "The new code runs in the globals of softsign, so put its notes and the replaced function "
    "there during the block. FunctionType(softsign.__code__, softsign.__globals__) still runs the "
    "old code. The new code must have no closure, because the old code has none.",
    seconds=60,
    picture=lambda means: reach_listing(dict(means)),
)
def five_means(means):
    """You have five ways into one call, and none sees every route. Here they are, measured."""
    if isinstance(means, Mapping) and {*means} == {*NAMES}:
        for name in [name for name in NAMES if means[name] is not ...]:
            expected = EXPECTED | {"what it intercepts": [name]}
            run = lambda make: make if type(make) is dict else _run(make)  # noqa: E731
            case = Case(name, run, say_first_part())
            if because := find_difference(means[name], expected, [case]):
                return because
    by_name(means, NAMES, "means")
    return None


def _run(make) -> dict:
    """Return what a technique does while a tracer and a profiler are active, as in a debugger."""
    if not callable(make):
        kind = real_type_name(make)
        raise InvalidAnswer(f"a technique must be a function without arguments, not {kind}")
    before = sys.gettrace(), sys.getprofile()
    sys.settrace(lambda *event: None)
    sys.setprofile(lambda *event: None)
    ways = _Ways()
    try:
        return _observe(make, ways)
    finally:
        ways.put_back()
        sys.settrace(before[0])
        sys.setprofile(before[1])


EXPECTED = {
    "what it intercepts": [],
    "notes of other functions' calls": 0,
    "the dtype of torch.ones_like(x, dtype=torch.int64) in the block": "torch.int64",
    "results of softsign in the block": [[-0.5, 0.75]] * 2,
    "notes of each call of softsign": [1, 1],
    "notes added or lost when the block ends": 0,
    "notes of a call after the block": 0,
    "what is left after the block": "nothing",
    "what is left after a block that raised": "nothing",
    "an error in the block propagates": True,
    "a block in another one: its own notes, and those that the outer one adds afterwards": [
        1,
        0,
        1,
    ],
    "a block in another one: the result of softsign": [-0.5, 0.75],
    "what is left after a block in another one": "nothing",
}


def _observe(make, ways: "_Ways") -> dict:
    with _block(make) as notes:
        torch.nn.functional.tanhshrink(input=torch.ones(2))
        by_keyword = torch.ones_like(torch.ones(2), dtype=torch.int64)
        seen, counts = [ways.taken(), len(notes), str(by_keyword.dtype)], [len(notes)]
        results = []
        for names in ((), ("input",)):
            found = the_call(*names)
            results.append(found.tolist() if hasattr(found, "tolist") else found)
            counts.append(len(notes))
    counts.append(len(notes))
    the_call()
    one, two, ended, after = (b - a for a, b in pairwise([*counts, len(notes)]))
    seen += [results, [one, two], ended, after, ways.left()]
    swallowed = False
    for kind in (RuntimeError, Meant):
        with suppress(kind):
            with _block(make):
                raise kind
            swallowed = True
    seen += [ways.left(), not swallowed, *_nest(make), ways.left()]
    return dict(zip(EXPECTED, seen, strict=True))


def _nest(make) -> tuple[list[int], object]:
    """Return the notes of a block and of the one around it, and the result of a call in both."""
    with _block(make) as outer:
        with _block(make) as inner:
            found = the_call()
        own, before = len(inner), len(outer)
        the_call()
        counts = [own, len(inner) - own, len(outer) - before]
    return counts, found.tolist() if hasattr(found, "tolist") else found


@contextmanager
def _block(make) -> Iterator:
    block = tried(make())
    if not hasattr(type(block), "__enter__"):
        raise InvalidAnswer(f"the block must be a context manager, not {real_type_name(block)}")
    with block as notes:
        if not hasattr(type(notes), "__len__") or len(notes):
            raise InvalidAnswer("the block must yield its notes, such as a new list")
        yield notes


class _Ways:
    """The ways into softsign, which of them are in use since this was made, and what is left."""

    def __init__(self):
        from torch.nn import functional

        self._home, self._own = functional, functional.softsign
        self._names, self._code = {**vars(functional)}, functional.softsign.__code__
        self._before = self._look()

    def _look(self) -> dict:
        dispatch, functions = map(len, torch_private.modes())
        frame = [one.read() for one in KEPT if one.name in FRAMES]
        frame.append(torch_private.frame_callback())
        ways = self._home.softsign, self._own.__code__, frame, functions, dispatch
        return dict(zip(NAMES, ways, strict=True))

    def taken(self) -> list[str]:
        now = self._look()
        return [name for name in NAMES if now[name] != self._before[name]]

    def left(self) -> str:
        now, before = vars(self._home), self._names
        names = [n for n in {*now, *before} if now.get(n, self) is not before.get(n, self)]
        if taken := self.taken():
            return f"a change at the {listed(taken, 5)}. Restore what was there before"
        return f"a changed torch.nn.functional.{min(names)}" if names else "nothing"

    def put_back(self) -> None:
        for name in {*vars(self._home)} - {*self._names}:
            delattr(self._home, name)
        vars(self._home).update(self._names)
        self._own.__code__ = self._code
