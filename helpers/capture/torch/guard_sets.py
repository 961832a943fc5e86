"""Guard sets of one function -> the calls that one accepts and another refuses.

A guard set is a function of the arguments; the real one is what Dynamo compiled for a first call.
The calls tried are its neighbours: each differs from it in one thing. What a guard could look at is
changed once each: types, sizes, strides, values, lengths, keys, who is whom, the globals that the
function reads, the grad mode. What could not be made, or was not, is counted.
"""

import math
from collections import OrderedDict
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from types import FunctionType

from helpers.capture.cpython.objects import names_used
from helpers.capture.text.error import said
from helpers.capture.text.value import brief, label, short_name
from helpers.capture.torch.cache_entries import (
    behind,
    copied,
    entries,
    first_call,
    frame_locals,
    given,
)
from helpers.capture.torch.guard_tree import failure
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.model.guards import Agreement, agreement_entry
from helpers.model.phrase import clipped
from helpers.safety.arguments import is_exactly, kind_of
from helpers.safety.restoring import note_end, theirs

MOST_ROWS, LONGEST = 12, 300
MARKS = (("changed", "this one refuses the call"), ("failed", "an error instead of an answer"))
SCALARS = (bool, int, float, str)
MOST, DEEP, SHORT = 200, 4, 40


@dataclass(frozen=True)
class Call:
    """One call: `words` say what is changed; `arguments` by name; `world` is on while it runs."""

    words: str
    arguments: dict
    world: object = field(default=nullcontext)


class Real:
    """What Dynamo compiles for one call of a function: code, and the guards that it runs behind.

    Raises LookupError if Dynamo compiles nothing for it, or more than one piece.
    """

    def __init__(self, fn, *args, **kwargs):
        import torch

        self.function = copied(behind(fn)[0])
        name = short_name(self.function.__name__)
        torch_private.forget_sizes(self.function.__code__)
        self.first = first_call(self.function, args, kwargs)
        self.compiled = torch.compile(self.function, backend="eager")
        with guarded():
            _run(self.compiled, args, kwargs, f"the first call of {name}()")
        kept = entries(self.function.__code__)
        if len(kept) != 1:
            raise LookupError(f"Dynamo compiles nothing for this call of {name}()")
        self.entry = kept[0]

    def __call__(self, *args, **kwargs) -> bool:
        """Return whether the guards hold for these arguments."""
        return self.why_not(*args, **kwargs) is None

    def why_not(self, *args, **kwargs):
        """Return the first guard that these arguments fail, or None."""
        return failure(1, self.entry, self.function, self.seen(*args, **kwargs))

    def seen(self, *args, **kwargs) -> dict:
        """Return the locals that the guards are asked about."""
        return frame_locals(self.function, args, kwargs)

    def unguarded(self, *args, **kwargs):
        """Run the compiled code without asking the guards, as a guard set that is too lax would."""
        fn = self.function
        stale = FunctionType(
            self.entry.code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__
        )
        return stale(*args, **kwargs)


class Mini:
    """What the mini-Dynamo compiles for one call, asked about its guards in the same way.

    Raises LookupError if it runs the call as plain Python, or in several pieces.
    """

    def __init__(self, fn, *args, **kwargs):
        from helpers.mini import dynamo

        self.compiled = dynamo.compile(copied(behind(fn)[0]))
        _run(self.compiled, args, kwargs, "the first call, compiled by the mini-Dynamo,")
        if because := self.compiled.why or "; ".join(self.compiled.breaks):
            words = clipped(because, LONGEST)
            raise LookupError(f"the mini-Dynamo has no one guard set for this call: {words}")

    def why_not(self, *args, **kwargs):
        """Return the text of the first guard that these arguments fail, or None."""
        values = first_call(self.compiled.fn, args, kwargs).values()
        failed = self.compiled.entries[0].first_failing(tuple(values))
        return None if failed is None else f"not {failed.text}"


def _run(fn, args, kwargs, words: str) -> None:
    """Make the first call; ValueError, in one sentence, if it does not come to its end."""
    try:
        with theirs():
            fn(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ValueError(f"{words} must succeed, and it raised {said(error)}") from None


def agreement(fn, args, **guard_sets) -> Agreement:
    """Ask each guard set of `fn` about the calls next to `fn(*args)`; keep where they differ.

    `guard_sets`: name -> a function of the arguments that says whether it accepts them. Without
    any, the mini-Dynamo's are asked; Dynamo's own always. TypeError for what cannot be called.
    """
    if not is_exactly(args, tuple, list):
        raise TypeError(f"args must be a tuple of the first call's arguments, not {label(args)}")
    for name, accepts in guard_sets.items():
        if not callable(accepts) and type(accepts) is not Mini:
            raise TypeError(
                f"{name} must be a function of the arguments that says True or False, "
                f"not {kind_of(accepts)}"
            )
    fn, args = behind(fn)[0], given(fn, args, {})[0]
    real, left_out = Real(fn, *args), []
    sets = {**(guard_sets or {"mini": Mini(fn, *args)}), "Dynamo": real}
    calls = neighbours(real.function, real.first, left_out)
    rows = [row for row in (_row(call, sets) for call in calls) if row is not None]
    note = f"On {len(calls) - len(rows)} of {len(calls)} calls all agree."
    if len(rows) > MOST_ROWS:
        note += f" The first {MOST_ROWS} of {len(rows)} counter-examples."
    for words in dict.fromkeys(left_out):
        note += f" {words[0].upper()}{words[1:]}."
    title = f"Calls of {short_name(real.function.__name__)} that one accepts and another refuses"
    return Agreement(
        title, "call", tuple(sets), tuple(rows[:MOST_ROWS]), note, len(calls), marks=MARKS
    )


def _row(call: Call, sets):
    verdicts, notes = [], []
    with call.world():
        for name, accepts in sets.items():
            word, note = _verdict(accepts, call)
            verdicts.append(word)
            notes += [f"{name}: {note}"] if note else []
    return agreement_entry(call.words, verdicts, "; ".join(notes)) if len({*verdicts}) > 1 else None


def _verdict(accepts, call: Call) -> tuple[str, str]:
    try:
        if is_exactly(accepts, Real, Mini):
            because = accepts.why_not(**call.arguments)
            return ("accepts", "") if because is None else ("refuses", str(because))
        return ("accepts" if accepts(**call.arguments) else "refuses"), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: it is an answer like any other
        note_end(error)
        return "raises", said(error)


# ------------------------------------------------------------------ the calls next to one


def neighbours(fn, first: dict, left_out: list | None = None) -> list[Call]:
    """Return the same call again, and every call with one change. `first`: arguments by name.

    `left_out` receives, in words, what is not among them.
    """
    left_out = [] if left_out is None else left_out
    calls = list(islice(_calls(fn, first, left_out), MOST + 1))
    if len(calls) > MOST:
        left_out.append(f"only the first {MOST} calls were tried")
    return calls[:MOST]


def _calls(fn, first: dict, left_out: list):
    yield Call("the same again", dict(first))
    for name, value in first.items():
        for words, other in _made(value, DEEP, left_out):
            yield Call(f"{name} {words}", {**first, name: other})
    yield from _twins(first)
    for name in sorted(names_used(fn.__code__)):
        if is_exactly(fn.__globals__.get(name), *SCALARS):
            for words, other in islice(_made(fn.__globals__[name], 0, left_out), 1):
                world = replacing(fn.__globals__, name, other)
                yield Call(f"global {name} {words}", dict(first), world)
    yield Call("under torch.no_grad()", dict(first), _no_grad)


def _is_tensor(value) -> bool:
    import torch

    return is_exactly(value, torch.Tensor, torch.nn.Parameter)


def _made(value, deep: int, left_out: list):
    """Yield (words, another value) for one argument, as far as another one can be made."""
    others = _others(value, deep, left_out)
    try:
        yield from others
    except Exception as error:  # such as a sparse tensor, which cannot be repeated
        kind = kind_of(error)
        left_out.append(f"some neighbours of {brief(value)} could not be made ({kind})")


def _others(value, deep: int, left_out: list):
    if _is_tensor(value):
        return _other_tensors(value)
    if is_exactly(value, list, tuple):
        return _other_sequences(value, deep, left_out)
    if type(value) is dict:
        return _other_dicts(value, deep, left_out)
    return _other_scalars(value)


def _other_tensors(value):
    import torch

    with torch.no_grad():
        plain = value.detach()
        yield "with other numbers", plain + 1
        yield "of float64", plain.double()
        if value.dim():
            yield "one longer", torch.cat([plain, plain[:1]])
            yield "of length 1", plain[:1].clone()
            yield "of another stride", plain.repeat_interleave(2, 0)[::2]
        yield "with one more dimension", plain.unsqueeze(0).clone()
        yield "that requires a gradient", plain.clone().requires_grad_()
        yield "a Parameter", torch.nn.Parameter(plain.clone())


def _other_scalars(value):
    others = ()
    if type(value) is bool:
        others = (not value,)
    elif type(value) is int:
        others = (value + 1, 0, 1, -value, *([float(value)] if abs(value) < 2**1000 else []))
    elif type(value) is float and math.isfinite(value):
        others = (value + 1, -value, math.nan, int(value))
    elif type(value) is str:
        others = (f"{value}s", "")
    by_words = {_words(other): other for other in others}  # 1, 1.0 and True are equal
    for words in by_words:
        if words != _words(value):
            yield f"= {words}", by_words[words]


def _words(value) -> str:
    """Return a scalar as it is written, the beginning of a long one."""
    short = len(value) <= SHORT if type(value) is str else value == 0 or abs(value) < 2**128
    return repr(value) if short else f"{brief(value)} (another one)"


def _other_sequences(value, deep: int, left_out: list):
    kind = type(value)
    yield "one longer", kind([*value, *(value[-1:] or [0])])
    if value:
        yield "one shorter", value[:-1]
        if not deep:
            left_out.append(f"what lies deeper than {DEEP} lists was not changed")
        for words, other in _made(value[0], deep - 1, left_out) if deep else ():
            yield f"[0] {words}", kind([other, *value[1:]])
    other = tuple if kind is list else list
    yield f"as a {other.__name__}", other(value)


def _other_dicts(value, deep: int, left_out: list):
    if not deep:
        left_out.append(f"what lies deeper than {DEEP} lists was not changed")
    for key in islice(value, MOST) if deep else ():
        for words, other in _made(value[key], deep - 1, left_out):
            yield f"[{brief(key)}] {words}", {**value, key: other}
    yield "with one more key", {**value, "another": 0}
    yield "as an OrderedDict", OrderedDict(value)


def _twins(first: dict) -> list[Call]:
    """Return the calls in which two tensors of the same make are one."""
    tensors = [(n, v) for n, v in first.items() if _is_tensor(v)]
    return [
        Call(f"{later} is {name}", {**first, later: value})
        for at, (name, value) in enumerate(tensors)
        for later, other in tensors[at + 1 :]
        if value is not other and (value.shape, value.dtype) == (other.shape, other.dtype)
    ]


def replacing(space: dict, name: str, other):
    """Return a function that gives a context in which a name of a namespace has another value."""

    @contextmanager
    def replaced():
        before = space[name]
        space[name] = other
        try:
            yield
        finally:
            space[name] = before

    return replaced


def _no_grad():
    import torch

    return torch.no_grad()
