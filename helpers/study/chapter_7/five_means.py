"""The open task: five means to get hold of one call, each judged by itself.

A means must take the way in that it is named for and no other, note the call and only that, leave
the result as it is, and leave nothing behind, whatever the block does.
"""

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from helpers.internals import torch_private
from helpers.model.phrase import counted, listed
from helpers.safety.arguments import real_type_name
from helpers.safety.restoring import KEPT
from helpers.study.chapter_7.means_table import reach_listing, the_call
from helpers.study.engine import Exercise, InvalidAnswer, by_name, tried

NAMES = ("name", "code", "frame", "function mode", "dispatch mode")
FRAMES = ("sys.settrace", "sys.setprofile", "sys.monitoring", "the frame evaluator")


class Meant(BaseException):
    """What a block of the judge's raises, as Ctrl-C does."""


def _judge(means):
    if isinstance(means, Mapping) and {*means} == {*NAMES}:
        for name in NAMES:
            because = None if means[name] is ... else _complain(name, means[name])
            if because:
                return f"{name}: {because}"
    by_name(means, NAMES, "means")
    return None


def _complain(name: str, make) -> str | None:
    """Return the first complaint; a tracer and a profiler are there already, as a debugger's."""
    if not callable(make):
        return f"must be a function that gives a context manager, not {real_type_name(make)}"
    before = sys.gettrace(), sys.getprofile()
    sys.settrace(_other)
    sys.setprofile(_other)
    ways = Ways()
    try:
        return next(_complaints(name, make, ways), None)
    except InvalidAnswer as error:
        return str(error)
    finally:
        ways.put_back()
        sys.settrace(before[0])
        sys.setprofile(before[1])


def _other(frame, event, arg):
    """Do nothing, and trace no line."""


def _complaints(name: str, make, ways: "Ways") -> Iterator[str]:
    """Yield what is wrong, one thing after another; only the first is asked for."""
    right = the_call().tolist()
    with _block(make) as notes:
        taken = ways.taken()
        if taken != [name]:
            where = f"the {listed(taken, 5)}" if taken else "none of the five ways in"
            yield f"in its block it takes hold at {where}; it must be the {name} alone"
        for call, what in _OTHERS.items():
            if call() is None:
                yield "in its block another function of torch gives another result"
            if len(notes):
                yield f"it notes {what}"
        for number, names in enumerate(((), ("input",)), 1):
            found = the_call(*names)
            if not hasattr(found, "tolist") or found.tolist() != right:
                yield "in its block softsign gives another result"
            if (many := len(notes) + 1 - number) != 1:
                yield f"one call of softsign leaves {counted(many, 'note')}: make one for each call"
    with _block(make) as notes:
        the_call()
        many = len(notes)
    if len(notes) != many:
        yield "at its end the block changes its notes: they are of calls alone, and stay"
    the_call()
    if len(notes) != many:
        yield "after its block it still notes"
    if because := ways.left():
        yield f"after its block {because}"
    for kind in (RuntimeError, Meant):
        try:
            with _block(make):
                raise kind
        except kind:
            if because := ways.left():
                yield f"after a block that raised {because}, in a finally"
        else:
            yield "its block raised, and nobody heard of it"


@contextmanager
def _block(make) -> Iterator:
    """Open a block of a means, and give its notes, of which there are none yet."""
    block = tried(make())
    if not hasattr(type(block), "__enter__"):
        raise InvalidAnswer(f"must give a context manager, not {real_type_name(block)}")
    with block as notes:
        if not hasattr(type(notes), "__len__"):
            raise InvalidAnswer("the block must give its notes, such as a list: yield it")
        if len(notes):
            raise InvalidAnswer("there are notes before softsign was called: make a new list")
        yield notes


def _call_another():
    """Call another function of the module with a keyword, and two ops; None if that went wrong."""
    import torch

    x = torch.full((2,), 3.0, dtype=torch.float64)
    found = torch.nn.functional.tanhshrink(input=x) / 2 + 1
    return found if found.dtype == torch.float64 else None


def _call_a_namesake():
    """Call a function of the same name that is ours, of which torch tells its modes as well."""
    import torch
    from torch.overrides import handle_torch_function, has_torch_function_unary

    def softsign(input):
        if has_torch_function_unary(input):
            return handle_torch_function(softsign, (input,), input)
        return input.tanh()

    return softsign(torch.tensor([-1.0, 3.0]))


_OTHERS = {
    _call_another: "tanhshrink(x) / 2 + 1, too: note softsign alone, at an op of its own",
    _call_a_namesake: "another module's function of that name, too: ask which one is called",
}


class Ways:
    """The ways in to softsign, who has taken them since this was made, and what they left."""

    def __init__(self):
        from torch.nn import functional

        self._home, self._own = functional, functional.softsign
        self._names, self._code = {**vars(functional)}, functional.softsign.__code__
        self._threads = threading.gettrace(), threading.getprofile()
        self._before = self._look()

    def _look(self) -> dict:
        dispatch, functions = map(len, torch_private.modes())
        frame = [one.read() for one in KEPT if one.name in FRAMES]
        frame.append(torch_private.frame_callback())
        ways = self._home.softsign, self._own.__code__, frame, functions, dispatch
        return dict(zip(NAMES, ways, strict=True))

    def taken(self) -> list[str]:
        """Return the names of the ways that are taken."""
        now = self._look()
        return [name for name in NAMES if now[name] != self._before[name]]

    def left(self) -> str | None:
        """Return what is left behind, if anything is."""
        if self.taken():
            return "somebody is still there: put back what was there before"
        if (threading.gettrace(), threading.getprofile()) != self._threads:
            return "new threads still get its tracer or profiler"
        now, before = vars(self._home), self._names
        if new := sorted({*now} - {*before}):
            return f"torch.nn.functional has a name more: {new[0]}"
        other = [name for name in before if now.get(name) is not before[name]]
        return f"torch.nn.functional.{other[0]} is not what it was" if other else None

    def put_back(self) -> None:
        """Put back what can be, for the next means."""
        for name in {*vars(self._home)} - {*self._names}:
            delattr(self._home, name)
        vars(self._home).update(self._names)
        self._own.__code__ = self._code
        threading.settrace(self._threads[0])
        threading.setprofile(self._threads[1])


FIVE_MEANS = Exercise(
    "five_means",
    _judge,
    "Five ways in to one call, and none sees every route of it. Here they are, measured.",
    (
        "Start from what you know: name, code (chapter 1: rebind, swap), frame (chapter 3: "
        "sys.settrace or sys.setprofile). Each is a @contextmanager that makes a list, puts "
        "itself in, yields the list, and in a finally puts back who was there before.",
        "The two modes are classes: TorchFunctionMode of torch.overrides, whose __torch_function__ "
        "gets (func, types, args, kwargs), and TorchDispatchMode of torch.utils._python_dispatch, "
        "whose __torch_dispatch__ gets ops: softsign itself is none, but torch.ops.aten.abs is in "
        "it. Note, and return func(*args, **(kwargs or {})).",
        "The new code has to find its notes, and what it replaces, in the globals of softsign: put "
        "them there for the length of the block. A function of the old code, "
        "FunctionType(softsign.__code__, softsign.__globals__), still works. No closure: the old "
        "code has none.",
    ),
    seconds=60,
    picture=lambda means: reach_listing(dict(means)),
)
