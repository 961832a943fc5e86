"""Two guard sets for one function -> the calls that one accepts and the other refuses.

The calls tried are the neighbours of a first call. A guard set is a function of the arguments; the
real one is what Dynamo compiled for the first call.
"""

import inspect
from types import FunctionType

from helpers.capture.text.error import said
from helpers.capture.text.value import label, short_name
from helpers.capture.torch.cache_entries import copied, entries, frame_locals
from helpers.capture.torch.guards.failures import failure
from helpers.capture.torch.guards.nearby_calls import Call, neighbours
from helpers.capture.torch.unwrapping import behind, given
from helpers.internals import torch_private
from helpers.mini.frame_hook import guarded
from helpers.model.guards import Agreement, agreement_entry
from helpers.model.phrase import clipped
from helpers.safety.arguments import deadly, kind_of, printable
from helpers.safety.interpreter_state import note_end, theirs

MOST, LONGEST = 12, 300
MARKS = ("changed", "this one refuses the call"), ("failed", "an error instead of an answer")


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
        raise ValueError(f"{words} must succeed, and it raised {_said(error)}") from None


def _said(error: BaseException) -> str:
    try:
        return said(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its own `__str__` ends the process
        return kind_of(error)


def first_call(fn, args, kwargs) -> dict:
    """Return the arguments of a call by name, defaults among them; TypeError if they do not fit."""
    try:
        bound = inspect.signature(fn, follow_wrapped=False).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:  # the code's own names may be none
        name, words = short_name(fn.__name__), printable(str(error), LONGEST)
        raise TypeError(f"{name}() cannot be called with these: {words}") from None
    bound.apply_defaults()
    return dict(bound.arguments)


def agreement(fn, args, **guard_sets) -> Agreement:
    """Ask each guard set of `fn` about the calls next to `fn(*args)`; keep where they differ.

    `guard_sets`: name -> a function of the arguments that says whether it accepts them. Without
    any, the mini-Dynamo's are asked; Dynamo's own always. TypeError for what cannot be called.
    """
    if not any(type(args) is kind for kind in (tuple, list)):
        raise TypeError(f"args must be a tuple of the first call's arguments, not {label(args)}")
    for name, accepts in guard_sets.items():
        if not callable(accepts) and type(accepts) is not Mini:
            raise TypeError(
                f"{name} must be a function of the arguments that says True or False, "
                f"not {kind_of(accepts)}"
            )
        if why := deadly(accepts):
            raise TypeError(f"{name} cannot be asked: it {why}")
    fn, args = behind(fn)[0], given(fn, args, {})[0]
    real, left_out = Real(fn, *args), []
    sets = {**(guard_sets or {"mini": Mini(fn, *args)}), "Dynamo": real}
    calls = neighbours(real.function, real.first, left_out)
    rows = [row for row in (_row(call, sets) for call in calls) if row is not None]
    note = f"On {len(calls) - len(rows)} of {len(calls)} calls all agree."
    if len(rows) > MOST:
        note += f" The first {MOST} of {len(rows)} counter-examples."
    for words in dict.fromkeys(left_out):
        note += f" {words[0].upper()}{words[1:]}."
    title = f"Calls of {short_name(real.function.__name__)} that one accepts and another refuses"
    return Agreement(title, "call", tuple(sets), tuple(rows[:MOST]), note, len(calls), marks=MARKS)


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
        if type(accepts) is Real or type(accepts) is Mini:
            because = accepts.why_not(**call.arguments)
            return ("accepts", "") if because is None else ("refuses", str(because))
        return ("accepts" if accepts(**call.arguments) else "refuses"), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: it is an answer like any other
        note_end(error)
        return "raises", _said(error)
