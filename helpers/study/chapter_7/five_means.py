"""The open task: five techniques to intercept calls of torch's `softsign`, each judged by itself. A
technique is a context manager. While its block is active, it adds a *note* to a list for each call
of `torch.nn.functional.softsign`. The five techniques intercept the call at different *points*: by
replacing the name, by replacing the code object, by a tracer of frames, or by one of torch's two
kinds of modes. After the block, all has to be as before.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from helpers.internals import frame_callback, torch_modes
from helpers.model.phrase import format_names
from helpers.safety.arguments import real_type_name
from helpers.safety.restoring import RESTORED_PARTS
from helpers.study.answers import InvalidAnswer, require_named_values, require_no_stub
from helpers.study.chapter_7.means_table import call_softsign, list_noticed_routes
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_on_first_part, find_difference
from helpers.study.frameworks import torch
from helpers.study.observations import RaisedByCheck

# The points of interception, which are also the names of the techniques in an answer.
NAMES = ("name", "code", "frame", "function mode", "dispatch mode")
# The hooks that the point "frame" consists of. `safety.restoring.RESTORED_PARTS` has the names.
FRAMES = ("sys.settrace", "sys.setprofile", "the frame evaluator")


FIVE_MEANS_HINTS = (
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
)


@exercise(*FIVE_MEANS_HINTS, seconds=60, picture=lambda means: list_noticed_routes(dict(means)))
def five_means(means):
    """You have five ways into one call, and none sees every route. Here they are, measured."""
    # The techniques that are written are judged first, so a learner who has written one of them
    # learns if it is right. Only then are missing names and stubs (`...`) reported.
    if isinstance(means, Mapping) and set(means) == set(NAMES):
        for name in NAMES:
            if means[name] is ...:
                continue
            reason = _judge_means(name, means[name])
            if reason:
                return reason
    require_named_values(means, NAMES, "means")
    return None


def _judge_means(name: str, make) -> str | None:
    """Return a sentence on what is wrong with one technique, or None if it is right.

    `name` is one of NAMES. `make()` returns a context manager, which yields the list of its notes.
    """
    # `find_difference` runs the answer and a reference, and compares the observations. Here they
    # are known, so the dict of observations itself stands for the reference.
    expected = EXPECTED | {"what it intercepts": [name]}
    case = JudgedCase(name, _run_means, advise_on_first_part())
    return find_difference(make, expected, [case])


def _run_means(make) -> dict:
    """Run a technique; return label -> observation, with the labels of EXPECTED.

    A tracer and a profiler are active, as in a debugger, because the technique must restore them.
    If `make` is a dict, it is returned: `_judge_means` passes the expected observations.
    """
    if type(make) is dict:
        return make
    if not callable(make):
        kind = real_type_name(make)
        raise InvalidAnswer(f"a technique must be a function without arguments, not {kind}")

    saved_tracer = sys.gettrace()
    saved_profiler = sys.getprofile()
    sys.settrace(lambda *event: None)
    sys.setprofile(lambda *event: None)
    points = _InterceptionPoints()
    try:
        return _observe_means(make, points)
    finally:
        points.restore()
        sys.settrace(saved_tracer)
        sys.setprofile(saved_profiler)


EXPECTED = {  # label -> what a right technique does; the first value depends on the technique
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


def _observe_means(make: Callable, points: "_InterceptionPoints") -> dict:
    """Return label -> observation for all labels of EXPECTED."""
    # The values are in the order of the labels. Some of these functions return several values.
    values = [
        *_observe_calls(make, points),
        points.describe_left_over(),
        *_observe_errors(make, points),
        *_observe_nested(make),
        points.describe_left_over(),
    ]
    return dict(zip(EXPECTED, values, strict=True))


def _observe_calls(make: Callable, points: "_InterceptionPoints") -> tuple:
    """Make calls in a block of a technique and after it; return the first seven values of EXPECTED.

    `points` tells at which points the block intercepts calls.
    """
    with _entering(make) as notes:
        # The technique must pass on calls of other functions, with their keyword arguments, and
        # add no note for them.
        torch.nn.functional.tanhshrink(input=torch.ones(2))
        by_keyword = torch.ones_like(torch.ones(2), dtype=torch.int64)
        changed_points = points.list_changed()  # read inside the block, which restores the points
        other_notes = len(notes)

        first_result = _as_list(call_softsign())
        notes_after_first = len(notes)
        second_result = _as_list(call_softsign("input"))  # by the keyword `input`
        notes_after_second = len(notes)
    notes_after_block = len(notes)
    call_softsign()

    return (
        changed_points,
        other_notes,
        str(by_keyword.dtype),
        [first_result, second_result],
        [notes_after_first - other_notes, notes_after_second - notes_after_first],
        notes_after_block - notes_after_second,
        len(notes) - notes_after_block,
    )


def _observe_errors(make: Callable, points: "_InterceptionPoints") -> tuple[str, bool]:
    """Return (what is left after blocks that raise, whether their errors propagate)."""
    is_swallowed = False
    for kind in (RuntimeError, RaisedByCheck):  # an Exception, and one that is only a BaseException
        with suppress(kind):
            with _entering(make):
                raise kind
            is_swallowed = True  # reached only if the block has swallowed the error
    return points.describe_left_over(), not is_swallowed


def _observe_nested(make: Callable) -> tuple[list[int], object]:
    """Run a technique inside itself; return (three counts of notes, the result of a call).

    One call is made in the inner block, and one after it, in the outer block. The counts are: notes
    of the inner block, notes that it gets after its end, and notes that the outer block gets then.
    """
    with _entering(make) as outer_notes:
        with _entering(make) as inner_notes:
            result = call_softsign()
        inner_count = len(inner_notes)
        outer_count = len(outer_notes)
        call_softsign()
        late_count = len(inner_notes) - inner_count
        counts = [inner_count, late_count, len(outer_notes) - outer_count]
    return counts, _as_list(result)


def _as_list(result):
    """Return a tensor as a list, and anything else as it is."""
    return result.tolist() if hasattr(result, "tolist") else result


@contextmanager
def _entering(make: Callable) -> Iterator:
    """Enter the block of a technique, and yield the list of its notes.

    Raise InvalidAnswer if `make()` returns no context manager, or if that yields no empty list.
    """
    block = require_no_stub(make())
    if not hasattr(type(block), "__enter__"):
        raise InvalidAnswer(f"the block must be a context manager, not {real_type_name(block)}")
    with block as notes:
        if not hasattr(type(notes), "__len__") or len(notes):
            raise InvalidAnswer("the block must yield its notes, such as a new list")
        yield notes


class _InterceptionPoints:
    """The places that a technique can change to intercept softsign, one for each of NAMES.

    An object of this class remembers how they are when it is made, and tells what has changed.
    """

    def __init__(self):
        """Read how all points are now."""
        from torch.nn import functional

        self._module = functional
        self._function = functional.softsign
        self._saved_names = dict(vars(functional))
        self._saved_code = functional.softsign.__code__
        self._saved_points = self._read_points()

    def _read_points(self) -> dict[str, object]:
        """Return name of a point -> what is installed there now.

        Two values of a point are equal if nothing was installed or removed meanwhile.
        """
        dispatch_modes, function_modes = torch_modes.read_mode_stacks()
        frame_hooks = [part.read() for part in RESTORED_PARTS if part.name in FRAMES]
        frame_hooks.append(frame_callback.read_frame_callback())
        return {
            "name": self._module.softsign,
            "code": self._function.__code__,
            "frame": frame_hooks,
            "function mode": len(function_modes),
            "dispatch mode": len(dispatch_modes),
        }

    def list_changed(self) -> list[str]:
        """Return the names of the points that are not as they were."""
        now = self._read_points()
        return [name for name in NAMES if now[name] != self._saved_points[name]]

    def describe_left_over(self) -> str:
        """Return what a technique has left changed, as the end of a sentence, or "nothing".

        Besides the points, all names of `torch.nn.functional` are compared.
        """
        changed_points = self.list_changed()
        if changed_points:
            return (
                f"a change at the {format_names(changed_points, 5)}. Restore what was there before"
            )

        now = vars(self._module)
        saved = self._saved_names
        # `self` stands for a missing name, because no name of the module refers to it.
        changed_names = [
            name for name in {*now, *saved} if now.get(name, self) is not saved.get(name, self)
        ]
        if changed_names:
            return f"a changed torch.nn.functional.{min(changed_names)}"
        return "nothing"

    def restore(self) -> None:
        """Restore names and code. The check itself restores the modes and the frame hooks."""
        for name in set(vars(self._module)) - set(self._saved_names):
            delattr(self._module, name)
        vars(self._module).update(self._saved_names)
        self._function.__code__ = self._saved_code
