"""Chapter 4: fail one of Dynamo's guards alone, and write guards that agree with Dynamo's."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from functools import partial

from helpers.capture.cpython.objects import list_global_names
from helpers.capture.text.value import short_repr
from helpers.capture.torch.compiler_guards import DynamoGuards
from helpers.capture.torch.guard_failures import list_failing_guards
from helpers.capture.torch.guard_leaves import evaluate_part, list_leaf_guards
from helpers.capture.torch.lookup import MISSING
from helpers.capture.torch.repeated_runs import copy_arguments
from helpers.capture.torch.tried_calls import TriedCall, list_neighbours, replacing_global
from helpers.study.answers import InvalidAnswer, require_attempt, require_named_values
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, find_difference, make_cases
from helpers.study.frameworks import np, torch
from helpers.study.observations import Raised

WANTED = (  # names of guards, as the notebook shows them; the learner must fail each one
    "L['n'] EQUALS_MATCH",
    "L['names'] LENGTH_CHECK",
    "L['names'] TYPE_MATCH",
    "L['options']['round'] FALSE_MATCH",
    "L['options'] TYPE_MATCH",
    "L['x'] TENSOR_MATCH",
    "(between values) NO_TENSOR_ALIASING",
    "G['RATE'] EQUALS_MATCH",
    "(the state of torch) GLOBAL_STATE",
)
ALONE = "the change must fail this guard and no other"


GUARD_BREAKER_HINTS = (
    "Read what the guard says in show_guards(game, as_table=True). What is the smallest change "
    "that makes it false, and keeps all other guards true?",
    "A list's length and a list's type are two guards. What has the same length but is not a "
    "list? What has the same keys as a dict but is another type?",
    "Two arguments may be the same object, and you can use first['x']. A context manager such as "
    "torch.no_grad() changes the state of torch.",
)


@exercise(*GUARD_BREAKER_HINTS)
def guard_breaker(breakers, fn, first):
    """Each of your nine changes fails its guard and no other."""
    changes = require_named_values(breakers, WANTED, "breakers")
    with torch.enable_grad():  # torch.set_grad_enabled(False) is in force once it is made
        real = DynamoGuards(fn, **first)
        rows = [(name, real, first, name) for name in WANTED]
        cases = make_cases(_find_failing, rows, ALONE)
        return find_difference(changes, None, cases, "a correct answer")


def _find_failing(real: DynamoGuards, first: dict, name: str, changes: dict | None) -> dict:
    """Return the names of the guards that fail after the learner's change for the guard `name`.

    Parameters
    ----------
    real
        The guards that Dynamo made of the first call.
    first
        The arguments of that call.
    name
        The guard that should fail alone.
    changes
        The learner's answer, guard -> change. None stands for a right answer.
    """
    if changes is None:
        return {"failing": [name]}

    arguments, context = _apply_change(name, changes[name], first, real.function.__globals__)
    with context:
        values = real.bind_locals(**arguments)
        failures = list_failing_guards(1, real.entry, real.function, values)
        failing = [failure.name for failure in failures]
        for other in _find_unchecked(real, values):
            if other not in failing:
                failing.append(f"{other}, which can no longer be checked")
    return {"failing": failing}


def _apply_change(guard: str, change, first: dict, module_globals: dict) -> tuple:
    """Return the arguments of the changed call, and a context manager in which to make it.

    Parameters
    ----------
    guard
        The guard that the change is for, as a message names it.
    change
        {name: value} with one argument or global, a context manager, or a function that makes one.
    first
        The arguments of the first call.
    module_globals
        The globals of the function.
    """
    if callable(change) and not hasattr(type(change), "__enter__"):
        change = change()
    if hasattr(type(change), "__enter__"):  # torch.no_grad() can be called, too
        return first, change

    if not isinstance(change, Mapping) or len(change) != 1:
        must = "a change must be a dict with one argument or global, or a context manager such as"
        raise InvalidAnswer(f"{guard}: {must} torch.no_grad(), not {short_repr(change)}")
    [(name, value)] = change.items()
    if name in first:
        return {**first, name: value}, nullcontext()
    if name in module_globals:
        return first, replacing_global(module_globals, name, value)
    raise InvalidAnswer(f"{guard}: {name!r} is neither an argument nor a global")


def _find_unchecked(real: DynamoGuards, values: dict) -> list[str]:
    """Return the names of the guards on arguments that cannot be checked for these values.

    Such a guard raises, because what it looks at does not exist, or has no length, and so on.
    """
    names = []
    for leaf in list_leaf_guards(real.entry):
        # This one guard remembers the tensors that it has met, so a check of its own would fail.
        has_state = leaf.kind == "NO_TENSOR_ALIASING"
        if has_state or not leaf.source.startswith("L["):
            continue
        value = evaluate_part(leaf.source, {"L": values, "G": real.function.__globals__})
        with suppress(Exception):
            leaf.check(value)  # whether it holds does not matter here, only whether it raises
            if value is not MISSING:
                continue
        names.append(leaf.to_record(1).name)
    return names


STRICT = "too strict: yours refuse, but Dynamo accepts; you would recompile for nothing"


@exercise(
    "Which of the values became part of the compiled code? Each of them needs a guard. The "
    "others need none, because a guard on them only causes recompiles.",
    "A tensor's numbers are not part of the code, but its type, dtype, shape, stride and "
    "requires_grad are. Of the list, the code uses only its length.",
    "Besides its arguments, the function reads the global SCALE, and torch records gradients if "
    "torch.is_grad_enabled(). 2.0 == 2, so check the type as well, of n and of SCALE.",
)
def guard_set(holds: Callable, fn: Callable, *first):
    """Your guards agree with Dynamo's on every call that the check tried."""
    with torch.enable_grad():
        real = DynamoGuards(fn, *copy_arguments(first))
        calls = [
            *list_neighbours(real.function, real.first_arguments),
            *_change_arguments(real.first_arguments),
            *_change_globals(real),
        ]
        cases = []
        for call in calls:
            shows = f"counter-example ({call.change})"
            advice = partial(_advise_on_call, real, call)
            cases.append(JudgedCase(shows, partial(_accept, call), advice))
        return find_difference(holds, real, cases, "Dynamo")


def _accept(call: TriedCall, guards: Callable) -> bool:
    """Return whether guards, the learner's or Dynamo's, accept a call."""
    with call.make_context():
        return bool(require_attempt(guards(*call.arguments.values())))


def _advise_on_call(real: DynamoGuards, call: TriedCall, mine, accepted: bool) -> str:
    """Return how the learner's guards are wrong about a call.

    `mine` is their verdict or Raised, `accepted` that of Dynamo's guards `real`.
    """
    if isinstance(mine, Raised):
        return f"yours {mine}; a guard must return False instead"
    if accepted:
        return STRICT
    with call.make_context():
        reason = real.find_failing_guard(**call.arguments)
    return f"too lax: yours accept, but Dynamo refuses ({reason})"


def _change_arguments(first: dict) -> Iterator[TriedCall]:
    """Yield calls with one unusual argument. Dynamo's guards do not lead to these by themselves.

    `first` has the arguments x, n and names of the first call.
    """
    x, n, names = first.values()
    derived_int = type("Derived", (int,), {})
    derived_list = type("Derived", (list,), {})
    values = {
        "x with nan": x * torch.nan,
        "x as a slice of a longer tensor": torch.cat([x, x])[len(x) :],
        "x as a Parameter without gradients": torch.nn.Parameter(x.detach(), requires_grad=False),
        "n of a class derived from int": derived_int(n),
        "names with numbers": list(range(len(names))),
        "names of a class derived from list": derived_list(names),
    }
    for words, value in values.items():
        name = words.split()[0]
        yield TriedCall(words, {**first, name: value})


def _change_globals(real: DynamoGuards) -> Iterator[TriedCall]:
    """Yield calls in which a global float is an equal number of another type, or another object."""
    module_globals = real.function.__globals__
    for name in sorted(list_global_names(real.function.__code__)):
        value = module_globals.get(name)
        if type(value) is not float:
            continue
        makers = {
            "as NumPy's float64": np.float64,
            "of a class derived from float": type("Derived", (float,), {}),
            "as a new object": _copy_number,
        }
        for words, make in makers.items():
            context = partial(replacing_global, module_globals, name, make(value))
            yield TriedCall(f"global {name} {words}", dict(real.first_arguments), context)


def _copy_number(value: float) -> float:
    """Return an equal number that is another object."""
    return float(repr(value))
