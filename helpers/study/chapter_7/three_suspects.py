"""Chapter 7: a program with three suspects, none of them guilty. The proof is a failing test."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from helpers.capture.text.value import short_repr
from helpers.safety.arguments import real_type_name
from helpers.study.chapter_7.clinic_projects import read
from helpers.study.chapter_7.diagnosis import NONE, misnamed
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import find_difference, in_order, make_cases, same_result, say_first_part
from helpers.study.project import fresh

SOURCES = read("forecast")
AS_WRONG = "out of the way and nothing else changed, the skill is just as wrong"
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
    if because := misnamed(seam, [NONE], ELSEWHERE, {}):
        return because
    if not isinstance(cured, Mapping) or not cured:
        made = short_repr(cured)
        raise InvalidAnswer(f"cured must be a dict, as in {{'weather.fit': new_fit}}, not {made}")
    if because := _judge_test(failing, cured):
        return because
    rows = [(f"sensor {sensor}", sensor) for sensor in (1, 2, 5)]
    reference = {"readings.Windows.place": lambda self, part: self.laid.new_tensor(part)}
    return find_difference(cured, reference, make_cases(_run, rows, say_first_part()))


def _judge_test(failing, cured) -> str | None:
    trials = (
        ("as it is", {}, False, False),
        ("without torch.compile, own op and cache", {}, True, False),
        ("with your cure", cured, False, True),
    )
    for how, changes, cleared, passes in trials:
        with _project(changes, cleared) as modules:
            pair = in_order(tried(failing(*modules), "failing"), 2, "the result of failing")
        if len(pair) != 2:
            raise InvalidAnswer("failing must return two values, the actual and the expected one")
        came, wanted = (_plain(one) for one in pair)
        if same_result(came, wanted) is not passes:
            verb = "fails" if passes else "does not fail"
            said = f"it returns {short_repr(came)} and expects {short_repr(wanted)}"
            return f"{how}, your test {verb}: {said}"
    return None


def _plain(value):
    """Return tensors as lists, in lists too, because a later step may overwrite their memory."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value


@contextmanager
def _project(changes: Mapping, cleared: bool = False) -> Iterator[list]:
    """Import the program with changes by dotted name; `cleared` removes the three suspects."""
    with fresh(SOURCES) as modules, ExitStack() as changed:
        space = dict(zip(SOURCES, modules, strict=True))
        for place, new in changes.items():
            module, *path = place.split(".") if isinstance(place, str) else ("",)
            holder = space.get(module)
            for name in path[:-1]:
                holder = getattr(holder, name, None)
            if not path or not hasattr(holder, path[-1]):
                raise InvalidAnswer(f"{short_repr(place)} is not a function of the program")
            if not callable(tried(new, place)):
                raise InvalidAnswer(f"{place} must be a function, not {real_type_name(new)}")
            changed.enter_context(patch.object(holder, path[-1], new))
        if cleared:
            space["bent_loss"].bent = space["bent_loss"].plain
            space["readings"].scale = space["readings"].scale.__wrapped__
            changed.enter_context(patch("torch.compile", lambda fn, **how: fn))
        yield modules


def _run(sensor: int, cured) -> dict:
    counts, seen = {"step": 0, "own op": 0}, {}

    def counting(name, fn):
        def counted(*args):
            counts[name] += 1
            return fn(*args)

        return counted

    with _project(cured) as (bent_loss, readings, weather):
        bent_loss.bent = counting("own op", bent_loss.bent)
        with patch("torch.compile", lambda fn, **how: counting("step", fn)):
            seen |= tried(weather.forecast(sensor, fast=True), "forecast")
        for length in LENGTHS:
            windows = readings.Windows(sensor, 0, 48, length, reuse=True)
            model = weather.Forecaster(length)
            seen[f"the errors of a model of {length} zeros"] = weather.evaluate(model, windows)
        seen["without fast"] = weather.forecast(sensor)
    return seen | {f"runs of the compiled {n}": many for n, many in counts.items()}
