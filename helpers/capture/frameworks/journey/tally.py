"""One call, under all recorders at once -> a tally: what was counted, and nothing in words."""

import contextlib
import gc
from collections import Counter
from dataclasses import dataclass

from helpers.capture.cpython.settrace import UNRAISABLE, Printed
from helpers.capture.frameworks.journey import caches, ops, recorder
from helpers.capture.text.error import said
from helpers.internals import torch_private
from helpers.safety import imported
from helpers.safety.interpreter_state import theirs
from helpers.safety.output import redirected
from helpers.safety.patches import undone

GENERATED = "__autograph_generated_file"


@dataclass(frozen=True)
class Tally:
    """What one call did. Frames and lines are by whose code it is: yours, AutoGraph's, Dynamo's."""

    seen: recorder.Recorder
    frames: Counter
    lines: Counter
    operators: int
    translated: int
    traces: int
    key: str
    ran: tuple[ops.Ran, ...]
    nodes: int
    outcome: str
    printed: str

    @property
    def own_frames(self) -> int:
        """Return how many frames of the learner's there were, whoever wrote their code."""
        return self.frames.total()


def tally(fn, args: tuple, kwargs: dict, function, space) -> Tally:
    """Call `fn(*args, **kwargs)` and count. What it raises is told; KeyboardInterrupt passes."""
    known, key = caches.dynamo_codes(function), caches.key_words(fn, args, kwargs)
    seen, printed = recorder.Recorder(space, _switch()), Printed()
    outcome = ""
    with _traces() as traced, ops.watched(seen) as ran, redirected(printed):
        _nobody_s()
        try:
            with _without_collector(), theirs():
                recorder.recorded(seen, fn, args, kwargs)
        except UNRAISABLE:
            raise
        except BaseException as error:
            outcome = said(error)
    made = caches.dynamo_codes(function)
    whose = {at: _whose(at, code, known | made) for at, code in seen.codes.items()}
    return Tally(
        seen,
        _by(whose, seen.frames),
        _by(whose, seen.lines),
        sum(many for at, many in seen.operators.items() if whose.get(at) != "Dynamo"),
        len(made.keys() - known.keys()),
        len(traced),
        key,
        tuple(ran),
        sum(many for (_, name), many in seen.c.items() if name == "TF_FinishOperation"),
        outcome,
        printed.text(),
    )


def _whose(at: int, code, dynamo: dict) -> str:
    if at in dynamo:
        return "Dynamo"
    return "AutoGraph" if GENERATED in code.co_filename else "you"


def _by(whose: dict, counts: Counter) -> Counter:
    found = Counter()
    for at, many in counts.items():
        found[whose.get(at, "you")] += many
    return found


def _switch():
    """Return the C function by which torch puts its evaluator into the slot, if it is loaded."""
    return torch_private.set_eval_frame if imported.module("torch._dynamo") else None


def _nobody_s() -> None:
    """Have Dynamo leave the recorder's own code alone: it runs in the midst of compiled calls."""
    if imported.module("torch._dynamo"):
        for code in recorder.codes():
            torch_private.skip_code(code)


@contextlib.contextmanager
def _traces():
    """Give the list of the graphs that TensorFlow traces in the block, on this thread."""
    made = []
    if not imported.module("tensorflow"):
        yield made
        return
    from helpers.capture.tensorflow.tracing import keys

    heard = keys.listeners()

    def forget():
        heard[:] = [one for one in heard if one is not made]

    with undone(forget):
        heard.append(made)
        yield made


@contextlib.contextmanager
def _without_collector():
    """Keep the collector off: a finaliser would add calls to one call and not to the next."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
