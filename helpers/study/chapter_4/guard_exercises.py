"""Judge two exercises: make one of Dynamo's guards fail alone, and write guards like Dynamo's.

A guard is a condition on the arguments, globals and settings of a call. Dynamo uses the code that
it compiled for an earlier call only if all guards hold. A guard's name is its source and its kind,
such as `L['n'] EQUALS_MATCH`, where `L['n']` is the argument n.
"""

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
from helpers.study.answers import InvalidAnswer, require_named_values, require_no_stub
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
    changes = require_named_values(breakers, WANTED, "breakers")  # name of a guard -> change
    # A learner may have written torch.set_grad_enabled(False), which turns gradients off when it is
    # made, not in a `with` block.
    with torch.enable_grad():
        real = DynamoGuards(fn, **first)  # the guards that Dynamo makes for the first call
        # (text, arguments of `_find_failing`)
        rows = [(name, real, first, name) for name in WANTED]
        cases = make_cases(_find_failing, rows, ALONE)
        # None stands for a correct answer.
        return find_difference(changes, None, cases, "a correct answer")


def _find_failing(real: DynamoGuards, first: dict, name: str, changes: dict | None) -> dict:
    """Return {"failing": names of the guards that fail after the learner's change for `name`}.

    Parameters
    ----------
    real
        The guards that Dynamo made of the first call.
    first
        The arguments of that call.
    name
        The guard that should fail alone.
    changes
        The learner's answer, name of a guard -> change. None stands for a right answer, which the
        learner's answer is compared with.
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
    """Return (arguments of the changed call, context manager in which to make the call).

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
    # A torch.no_grad() is a context manager that can be called, too. It must not be called here.
    if callable(change) and not hasattr(type(change), "__enter__"):
        change = change()
    if hasattr(type(change), "__enter__"):
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
    """Return the names of the guards on arguments that raise an error for these values.

    Such a guard can be neither true nor false, because the part of an argument that the guard looks
    at does not exist, or has no length, and so on. `values` maps each argument to its value.
    """
    names = []
    for leaf in list_leaf_guards(real.entry):
        # A guard of this kind remembers the tensors that it has met. A check here would fail.
        has_state = leaf.kind == "NO_TENSOR_ALIASING"
        is_on_argument = leaf.source.startswith("L[")
        if has_state or not is_on_argument:
            continue
        value = evaluate_part(leaf.source, {"L": values, "G": real.function.__globals__})
        with suppress(Exception):
            leaf.check(value)  # the answer does not matter here, only whether the check raises
            if value is not MISSING:
                continue  # the guard could be checked
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
        # `real` has Dynamo's guards for the first call. Called with arguments, it says whether the
        # guards accept them.
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
    """Return whether guards accept a call, which may have to be made in a context.

    `guards` is the learner's function or Dynamo's guards. Both are called with the arguments.
    """
    with call.make_context():
        return bool(require_no_stub(guards(*call.arguments.values())))


def _advise_on_call(real: DynamoGuards, call: TriedCall, mine, accepted: bool) -> str:
    """Return how the learner's guards are wrong about a call.

    `mine` says whether the learner's guards accept the call, or is a Raised if they raised an
    error. `accepted` says whether Dynamo's guards, `real`, accept the call.
    """
    if isinstance(mine, Raised):
        return f"yours {mine}; a guard must return False instead"
    if accepted:  # and the learner's guards refuse the call, because the two differ
        return STRICT
    with call.make_context():
        reason = real.find_failing_guard(**call.arguments)
    return f"too lax: yours accept, but Dynamo refuses ({reason})"


def _change_arguments(first: dict) -> Iterator[TriedCall]:
    """Yield calls in which one argument of the first call is replaced by an unusual one.

    `first` maps x, n and names to the arguments of the first call. The other calls that the check
    tries are derived from Dynamo's guards, and these are not among them.
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
    for description, value in values.items():
        name = description.split()[0]  # each begins with the name of the argument
        yield TriedCall(description, {**first, name: value})


def _change_globals(real: DynamoGuards) -> Iterator[TriedCall]:
    """Yield calls in which a global float of the function is replaced by an equal number.

    The number is of another type, or is a new object of type float.
    """
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
        for description, make in makers.items():
            context = partial(replacing_global, module_globals, name, make(value))
            yield TriedCall(f"global {name} {description}", dict(real.first_arguments), context)


def _copy_number(value: float) -> float:
    """Return an equal number that is another object."""
    return float(repr(value))
