"""Chapter 7: a program with three suspects, none of them guilty. The proof is a failing test. The
program is a weather forecast in three modules. It uses torch.compile, an op of its own and a cache,
the *suspects*. One of its numbers is wrong, but the cause is a tensor that is overwritten while
another part of the program still refers to it. A learner writes a test that fails, and a *cure*: a
dict of the dotted name of a function -> the new function.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from helpers.capture.text.value import short_repr
from helpers.safety.arguments import real_type_name
from helpers.study.answers import InvalidAnswer, require_items, require_no_stub
from helpers.study.chapter_7.clinic_projects import read
from helpers.study.chapter_7.diagnosis import NONE, judge_seams
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.project import fresh_project
from helpers.study.sameness import is_same_result

SOURCES = read("forecast")
AS_WRONG = "out of the way and nothing else changed, the skill is just as wrong"
# A wrong seam -> the sentence on why the cause is not there.
ELSEWHERE = {
    "evaluator": f"with torch.compile {AS_WRONG}",
    "registry": f"with its own op {AS_WRONG}",
    "cache key": f"with the cache of scale {AS_WRONG}. The same is true of torch.compile",
    "name": "each name that a call looks up refers to the object that was meant",
    "frame": "each frame runs the code as it is written",
    "C call": "`from_numpy` is documented to share memory, and it does. Who kept a view "
    "and expected a copy?",
}
LENGTHS = (4, 6)  # of windows


@exercise(
    "Cut the program down. Which of the three numbers is wrong, and which lines compute it? Do "
    "these lines use the compiled step, the op or the cache at all?",
    "The losses and the error are the same, so the skill is wrong in its other half, the list "
    "unchanged. Print that list in evaluate after each window, with fast and without.",
    "torch.from_numpy copies nothing, and neither does an index such as window[-1]. What do the "
    "entries of that list share?",
    "evaluate(Forecaster(), Windows(1, 0, 48, reuse=True)) is enough for a test. A cure makes a "
    "copy: window[-1].clone() in evaluate, or the window in Windows.place.",
    seconds=120,
)
def three_suspects(seam, failing: Callable, cured):
    """It was none of the three. Keep the smallest test that shows it, for the next time."""
    reason = judge_seams(seam, right_seams=[NONE], advice_by_seam=ELSEWHERE, right_by_equal_seam={})
    if reason:
        return reason

    if not isinstance(cured, Mapping) or not cured:
        answer = short_repr(cured)
        raise InvalidAnswer(f"cured must be a dict, as in {{'weather.fit': new_fit}}, not {answer}")
    reason = _judge_test(failing, cured)
    if reason:
        return reason

    rows = [(f"sensor {sensor}", sensor) for sensor in (1, 2, 5)]
    cases = make_cases(_run_program, rows, advise_on_first_part())
    return find_difference(cured, {"readings.Windows.place": _place_copy}, cases)


def _place_copy(self, part):
    """Do what a right cure does: return a new tensor for each window.

    This replaces `Windows.place`, which writes each window into the same tensor, `self.laid`.
    """
    return self.laid.new_tensor(part)


def _judge_test(failing: Callable, cured: Mapping) -> str | None:
    """Return a sentence on how the learner's test is wrong, or None if it is right.

    The test must fail in the program as it is, and also without the suspects. It must pass with the
    learner's cure. `failing(*modules)` returns the actual and the expected value, and passes if
    both are the same. `cured` maps the dotted name of a function to the new function.
    """
    # (the program in words, changes by dotted name, whether the suspects are removed, must it pass)
    trials = (
        ("as it is", {}, False, False),
        ("without torch.compile, own op and cache", {}, True, False),
        ("with your cure", cured, False, True),
    )
    for program, changes, without_suspects, must_pass in trials:
        with _import_program(changes, without_suspects) as modules:
            result = require_no_stub(failing(*modules), "failing")
            pair = require_items(result, limit=2, what="the result of failing")
        if len(pair) != 2:
            raise InvalidAnswer("failing must return two values, the actual and the expected one")

        actual = _copy_numbers(pair[0])
        expected = _copy_numbers(pair[1])
        if is_same_result(actual, expected) is not must_pass:
            verb = "fails" if must_pass else "does not fail"
            values = f"it returns {short_repr(actual)} and expects {short_repr(expected)}"
            return f"{program}, your test {verb}: {values}"
    return None


def _copy_numbers(value):
    """Return a value with each tensor in it as a list, also inside lists and tuples.

    A copy is needed, because a later step of the program may overwrite a tensor.
    """
    if isinstance(value, (list, tuple)):
        return [_copy_numbers(item) for item in value]
    return value.tolist() if hasattr(value, "tolist") else value


@contextmanager
def _import_program(changes: Mapping, without_suspects: bool = False) -> Iterator[list]:
    """Import the program for the length of a block, and yield the list of its modules.

    `changes` maps the dotted name of a function, such as "readings.Windows.place", to the function
    that replaces it. `without_suspects` removes the three suspects: what torch.compile returns is
    the function itself, the own op is replaced by its plain function, and the cache by what it
    wraps.
    """
    with fresh_project(SOURCES) as modules, ExitStack() as patches:
        modules_by_name = dict(zip(SOURCES, modules, strict=True))
        for dotted_name, new in changes.items():
            owner, name = _find_owner(modules_by_name, dotted_name)
            if not callable(require_no_stub(new, dotted_name)):
                raise InvalidAnswer(f"{dotted_name} must be a function, not {real_type_name(new)}")
            patches.enter_context(patch.object(owner, name, new))

        if without_suspects:
            bent_loss = modules_by_name["bent_loss"]
            readings = modules_by_name["readings"]
            bent_loss.bent = bent_loss.plain  # the same loss without its own op
            readings.scale = readings.scale.__wrapped__  # the function in its functools.cache
            patches.enter_context(patch("torch.compile", lambda fn, **options: fn))
        yield modules


def _find_owner(modules_by_name: dict, dotted_name) -> tuple[object, str]:
    """Return (owner, name of the attribute) for a dotted name of the program.

    For "readings.Windows.place" it is the class Windows of the module, and "place". Raise
    InvalidAnswer if the program has no such name.
    """
    # If `dotted_name` is no text, `path` is empty, and the name is refused below.
    module, *path = dotted_name.split(".") if isinstance(dotted_name, str) else ("",)
    owner = modules_by_name.get(module)
    for name in path[:-1]:
        owner = getattr(owner, name, None)
    if not path or not hasattr(owner, path[-1]):
        raise InvalidAnswer(f"{short_repr(dotted_name)} is not a function of the program")
    return owner, path[-1]


def _run_program(sensor: int, cured: Mapping) -> dict:
    """Run the program with a learner's cure; return label -> observation.

    The observations are all numbers of the program, and how often its own op and its compiled step
    ran. A cure must not remove them from the program.
    """
    counts = {"step": 0, "own op": 0}

    def counting(name: str, fn: Callable) -> Callable:
        """Return `fn` with a count of its calls in `counts`."""

        def count_and_call(*args):
            counts[name] += 1
            return fn(*args)

        return count_and_call

    values = {}
    with _import_program(cured) as (bent_loss, readings, weather):
        bent_loss.bent = counting("own op", bent_loss.bent)
        # Nothing is compiled here. It only matters that the step is passed to torch.compile.
        with patch("torch.compile", lambda fn, **options: counting("step", fn)):
            values |= require_no_stub(weather.forecast(sensor, fast=True), "forecast")
        for length in LENGTHS:
            windows = readings.Windows(sensor, 0, 48, length, reuse=True)
            model = weather.Forecaster(length)
            errors = weather.evaluate(model, windows)
            values[f"the errors of a model of {length} zeros"] = errors
        values["without fast"] = weather.forecast(sensor)

    for name, count in counts.items():
        values[f"runs of the compiled {name}"] = count
    return values
