"""Guard sets of one function -> the calls that one accepts and another refuses.

A guard set is a function of the arguments; the real one is what Dynamo compiled for a first call.
The calls tried are its neighbours: each differs from it in one thing that a guard could look at.
"""

import math
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice
from types import FunctionType

from helpers.capture.cpython.objects import named, names_used
from helpers.capture.text.error import error_message
from helpers.capture.text.value import label
from helpers.capture.torch import guard_tree
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.model.phrase import clipped
from helpers.model.tables import Entry, Verdict
from helpers.model.torch_records import Agreement
from helpers.safety.arguments import real_isinstance, real_type_name
from helpers.safety.restoring import running_user_code

MOST_ROWS, LONGEST = 12, 300
MARKS = (("changed", "this one refuses the call"), ("failed", "an error instead of an answer"))
TONES = {"accepts": "plain", "refuses": "changed", "raises": "failed"}
SHORT = 40


@dataclass(frozen=True)
class Call:
    """One call: `words` say what is changed; `arguments` by name; `world` is on while it runs."""

    words: str
    arguments: dict
    world: object = nullcontext


class Real:
    """What Dynamo compiles for one call of a function: code, and the guards that it runs behind."""

    def __init__(self, fn, *args, **kwargs):
        import torch

        self.function = guard_tree.copied(guard_tree.behind(fn)[0])
        torch_private.forget_sizes(self.function.__code__)
        self.first = guard_tree.first_call(self.function, args, kwargs)
        self.compiled = torch.compile(self.function, backend="eager")
        with guarded():
            _run(self.compiled, args, kwargs, f"the first call of {named(self.function)}()")
        kept = guard_tree.entries(self.function.__code__)
        if len(kept) != 1:
            raise LookupError(f"Dynamo compiles nothing for this call of {named(self.function)}()")
        self.entry = kept[0]

    def __call__(self, *args, **kwargs) -> bool:
        """Return whether the guards hold for these arguments."""
        return self.why_not(*args, **kwargs) is None

    def why_not(self, *args, **kwargs):
        """Return the first guard that these arguments fail, or None."""
        return guard_tree.failure(1, self.entry, self.function, self.seen(*args, **kwargs))

    def seen(self, *args, **kwargs) -> dict:
        """Return the locals that the guards are asked about."""
        return guard_tree.frame_locals(self.function, args, kwargs)

    def unguarded(self, *args, **kwargs):
        """Run the compiled code without asking the guards, as a guard set that is too lax would."""
        fn, code = self.function, self.entry.code
        made = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
        return made(*args, **kwargs)


class Mini:
    """What the mini-Dynamo compiles for one call, asked about its guards in the same way."""

    def __init__(self, fn, *args, **kwargs):
        from helpers.mini import dynamo

        self.compiled = dynamo.compile(guard_tree.copied(guard_tree.behind(fn)[0]))
        _run(self.compiled, args, kwargs, "the first call, compiled by the mini-Dynamo,")
        if because := self.compiled.why or "; ".join(self.compiled.breaks):
            words = clipped(because, LONGEST)
            raise LookupError(f"the mini-Dynamo has no one guard set for this call: {words}")

    def why_not(self, *args, **kwargs):
        """Return the text of the first guard that these arguments fail, or None."""
        values = guard_tree.first_call(self.compiled.fn, args, kwargs).values()
        failed = self.compiled.entries[0].first_failing(tuple(values))
        return None if failed is None else f"not {failed.text}"


def _run(fn, args, kwargs, words: str) -> None:
    """Make the first call; ValueError, in one sentence, if it does not come to its end."""
    try:
        with running_user_code():
            fn(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ValueError(f"{words} must succeed, and it raised {error_message(error)}") from None


def agreement(fn, args, **guard_sets) -> Agreement:
    """Search the calls next to `fn(*args)` for one that a guard set accepts and another refuses.

    `guard_sets`: name -> a function of the arguments that says whether it accepts them; without
    any, the mini-Dynamo's guards. Dynamo's own are always asked.
    """
    if not real_isinstance(args, tuple, list):
        raise TypeError(f"args must be a tuple of the first call's arguments, not {label(args)}")
    for name, accepts in guard_sets.items():
        if not callable(accepts):
            words = f"{name} must be a function of the arguments that says True or False, not"
            raise TypeError(f"{words} {real_type_name(accepts)}")
    fn, args = guard_tree.behind(fn)[0], guard_tree.given(fn, args, {})[0]
    real = Real(fn, *args)
    sets = {**(guard_sets or {"mini": Mini(fn, *args)}), "Dynamo": real}
    calls, rows = neighbours(real.function, real.first), []
    for call in calls:
        with call.world():
            told = {name: _ask(accepts, call.arguments) for name, accepts in sets.items()}
        if len({word for word, _ in told.values()}) > 1:
            verdicts = tuple(Verdict(word, TONES[word]) for word, _ in told.values())
            note = "; ".join(f"{name}: {note}" for name, (_, note) in told.items() if note)
            rows.append(Entry(call.words, verdicts, note))
    note = f"On {len(calls) - len(rows)} of {len(calls)} calls all agree."
    if len(rows) > MOST_ROWS:
        note += f" The first {MOST_ROWS} of {len(rows)} counter-examples."
    title = f"Calls of {named(real.function)} that one accepts and another refuses"
    rows = tuple(rows[:MOST_ROWS])
    return Agreement(title, "call", tuple(sets), rows, note, len(calls), marks=MARKS)


def _ask(accepts, arguments: dict) -> tuple[str, str]:
    """Return a verdict of a guard set, and a note."""
    try:
        if real_isinstance(accepts, Real, Mini):
            because = accepts.why_not(**arguments)
            return ("accepts", "") if because is None else ("refuses", str(because))
        return ("accepts" if accepts(**arguments) else "refuses"), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: it is an answer like any other
        return "raises", error_message(error)


# ------------------------------------------------------------------ the calls next to one


def neighbours(fn, first: dict) -> list[Call]:
    """Return the same call again, and every call with one change. `first`: arguments by name."""
    import torch

    calls = [Call("the same again", dict(first))]
    for name, value in first.items():
        calls += [Call(f"{name} {words}", {**first, name: v}) for words, v in _change(value)]
    for (name, value), (later, other) in combinations(first.items(), 2):
        alike = _is_tensor(value) and _is_tensor(other) and value is not other
        if alike and (value.shape, value.dtype) == (other.shape, other.dtype):
            calls.append(Call(f"{later} is {name}", {**first, later: value}))
    for name in sorted(names_used(fn.__code__)):
        for words, other in islice(_other_scalars(fn.__globals__.get(name)), 1):
            world = partial(replacing, fn.__globals__, name, other)
            calls.append(Call(f"global {name} {words}", dict(first), world))
    return [*calls, Call("under torch.no_grad()", dict(first), torch.no_grad)]


def _is_tensor(value) -> bool:
    import torch

    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _change(value):
    """Yield (words, another value) for one argument, as far as another one can be made."""
    if _is_tensor(value):
        yield from _other_tensors(value)
    elif type(value) in (list, tuple):
        yield from _other_sequences(value)
    else:
        yield from _other_scalars(value)


def _other_tensors(value):
    import torch

    if value.layout is not torch.strided:
        return
    with torch.no_grad():
        plain = value.detach()
        yield "with other numbers", plain + 1
        yield "of float64", plain.double()
        if value.dim():
            yield "one longer", torch.cat([plain, plain[:1]])
            yield "of length 1", plain[:1].clone()
            yield "of another stride", plain.repeat_interleave(2, 0)[::2]
        yield "with one more dimension", plain.unsqueeze(0).clone()
        if plain.is_floating_point():
            yield "that requires a gradient", plain.clone().requires_grad_()
            yield "a Parameter", torch.nn.Parameter(plain.clone())


def _other_scalars(value):
    others = ()
    if type(value) is bool:
        others = (not value,)
    elif type(value) is int and abs(value) < 2**1000:
        others = (value + 1, 0, 1, -value, float(value))
    elif type(value) is float and math.isfinite(value):
        others = (value + 1, -value, math.nan, int(value))
    elif type(value) is str:
        others = (f"{value}s", "")
    by_words = {repr(other): other for other in others}  # 1, 1.0 and True are equal
    for words, other in by_words.items():
        if words != repr(value):
            yield f"= {clipped(words, SHORT)}", other


def _other_sequences(value):
    kind, other = type(value), tuple if type(value) is list else list
    yield "one longer", kind([*value, *(value[-1:] or [0])])
    if value:
        yield "one shorter", value[:-1]
        for words, item in _other_scalars(value[0]):
            yield f"[0] {words}", kind([item, *value[1:]])
    yield f"as a {other.__name__}", other(value)


@contextmanager
def replacing(space: dict, name: str, other):
    """Give a name of a namespace another value in a block."""
    before = space[name]
    space[name] = other
    try:
        yield
    finally:
        space[name] = before
