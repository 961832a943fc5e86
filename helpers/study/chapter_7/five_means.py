"""The open task: five techniques to intercept one call, each judged by itself."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from helpers.internals import frame_callback, torch_modes
from helpers.model.phrase import format_names
from helpers.safety.arguments import real_type_name
from helpers.safety.restoring import KEPT
from helpers.study.answers import InvalidAnswer, require_attempt, require_named_values
from helpers.study.chapter_7.means_table import reach_listing, the_call
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_on_first_part, find_difference
from helpers.study.frameworks import torch
from helpers.study.observations import RaisedByCheck

NAMES = ("name", "code", "frame", "function mode", "dispatch mode")
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


@exercise(*FIVE_MEANS_HINTS, seconds=60, picture=lambda means: reach_listing(dict(means)))
def five_means(means):
    """You have five ways into one call, and none sees every route. Here they are, measured."""
    # What is written is judged first, so a learner who has written one learns if it is right.
    # Only then are missing names and stubs reported.
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
    """Return what is wrong with one technique, or None.

    `name` is one of NAMES. `make()` returns a context manager, which yields the list of its notes.
    """
    # In the place of a reference, `_run_means` gets the observations themselves.
    expected = EXPECTED | {"what it intercepts": [name]}
    case = JudgedCase(name, _run_means, advise_on_first_part())
    return find_difference(make, expected, [case])


def _run_means(make) -> dict:
    """Return label -> what a technique does, with the labels of EXPECTED.

    A tracer and a profiler are active, as in a debugger: the technique must put them back.
    """
    if type(make) is dict:  # the expected observations, from `_judge_means`
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
    """Return what each line of EXPECTED names, in the same order."""
    # The values are in the order of the labels, and some functions return several of them.
    values = [
        *_observe_calls(make, points),
        points.describe_left_over(),
        *_observe_errors(make, points),
        *_observe_nested(make),
        points.describe_left_over(),
    ]
    return dict(zip(EXPECTED, values, strict=True))


def _observe_calls(make: Callable, points: "_InterceptionPoints") -> tuple:
    """Return what a block intercepts, its notes and the results of calls in it.

    These are the first seven values of EXPECTED. `points` tells what the block has changed.
    """
    with _entering(make) as notes:
        # Calls of other functions, with keyword arguments, must be passed on and not noted.
        torch.nn.functional.tanhshrink(input=torch.ones(2))
        by_keyword = torch.ones_like(torch.ones(2), dtype=torch.int64)
        changed_points = points.list_changed()  # now, because all must be restored after the block
        other_notes = len(notes)

        first_result = _as_list(the_call())
        notes_after_first = len(notes)
        second_result = _as_list(the_call("input"))
        notes_after_second = len(notes)
    notes_after_block = len(notes)
    the_call()

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
    """Return what is left after blocks that raise, and whether their errors propagate."""
    is_swallowed = False
    for kind in (RuntimeError, RaisedByCheck):
        with suppress(kind):
            with _entering(make):
                raise kind
            is_swallowed = True  # reached only if the block has swallowed the error
    return points.describe_left_over(), not is_swallowed


def _observe_nested(make: Callable) -> tuple[list[int], object]:
    """Return counts of notes of a block and of the one around it, and the result of a call in both.

    The counts: the notes of the inner block, those that it gets after its end, and those that the
    outer block gets after that.
    """
    with _entering(make) as outer:
        with _entering(make) as inner:
            result = the_call()
        own_notes = len(inner)
        outer_notes = len(outer)
        the_call()
        late_notes = len(inner) - own_notes
        counts = [own_notes, late_notes, len(outer) - outer_notes]
    return counts, _as_list(result)


def _as_list(result):
    """Return a tensor as a list, and anything else as it is."""
    return result.tolist() if hasattr(result, "tolist") else result


@contextmanager
def _entering(make: Callable) -> Iterator:
    """Enter the block of a technique and yield its notes; InvalidAnswer if it has none."""
    block = require_attempt(make())
    if not hasattr(type(block), "__enter__"):
        raise InvalidAnswer(f"the block must be a context manager, not {real_type_name(block)}")
    with block as notes:
        if not hasattr(type(notes), "__len__") or len(notes):
            raise InvalidAnswer("the block must yield its notes, such as a new list")
        yield notes


class _InterceptionPoints:
    """All that a technique can change to intercept softsign, compared with how it was before.

    There is one point for each of NAMES.
    """

    def __init__(self):
        from torch.nn import functional

        self._module = functional
        self._function = functional.softsign
        self._saved_names = dict(vars(functional))
        self._saved_code = functional.softsign.__code__
        self._saved_points = self._read_points()

    def _read_points(self) -> dict[str, object]:
        """Return one of NAMES -> what is installed at this point now.

        Each value can be compared with `==` to tell whether something has changed.
        """
        dispatch_modes, function_modes = torch_modes.read_mode_stacks()
        frame_hooks = [part.read() for part in KEPT if part.name in FRAMES]
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
        """Return what is not as it was, or "nothing"."""
        changed_points = self.list_changed()
        if changed_points:
            return (
                f"a change at the {format_names(changed_points, 5)}. Restore what was there before"
            )

        now = vars(self._module)
        saved = self._saved_names
        # `self` stands for a name that does not exist, because no name can be bound to it.
        changed = [n for n in {*now, *saved} if now.get(n, self) is not saved.get(n, self)]
        if changed:
            return f"a changed torch.nn.functional.{min(changed)}"
        return "nothing"

    def restore(self) -> None:
        """Put name and code back. The modes and frame hooks are restored by the check itself."""
        for name in set(vars(self._module)) - set(self._saved_names):
            delattr(self._module, name)
        vars(self._module).update(self._saved_names)
        self._function.__code__ = self._saved_code
