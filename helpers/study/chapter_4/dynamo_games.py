"""Exercises judged by Dynamo itself: fail one guard alone, write guards, cure graph breaks."""

import io
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from functools import partial
from types import FunctionType

from helpers.capture.text.value import short_repr
from helpers.capture.torch.dynamo_run import copied, watched
from helpers.capture.torch.guard_sets import Call, Real, names_used, neighbours, replacing
from helpers.capture.torch.guard_tree import MISSING, all_failures, leaves, resolve
from helpers.internals import torch_private
from helpers.internals.compiled_apart import compiled_apart
from helpers.safety.standard_output import redirected
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import (
    Case,
    Raised,
    advise_by_part,
    by_name,
    find_difference,
    make_cases,
    np,
    same_result,
    torch,
)

WANTED = (
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
ALONE, AIM = "the change must fail this guard and no other", "a correct answer"


@exercise(
    "Read what the guard says in show_guards(game, as_table=True). What is the smallest change "
    "that makes it false, and keeps all other guards true?",
    "A list's length and a list's type are two guards. What has the same length but is not a "
    "list? What has the same keys as a dict but is another type?",
    "Two arguments may be the same object, and you can use first['x']. A context manager such as "
    "torch.no_grad() changes the state of torch.",
)
def guard_breaker(breakers, fn, first):
    """Each of your nine changes fails its guard and no other."""
    breakers = by_name(breakers, WANTED, "breakers")
    with torch.enable_grad():  # torch.set_grad_enabled(False) is in force once it is made
        real = Real(fn, **first)
        cases = make_cases(_find_failing, ((name, real, first, name) for name in WANTED), ALONE)
        return find_difference(breakers, None, cases, AIM)


def _find_failing(real: Real, first: dict, name: str, breakers: dict | None) -> dict:
    if breakers is None:
        return {"failing": [name]}
    arguments, world = _apply(name, breakers[name], first, real.function.__globals__)
    with world:
        seen = real.seen(**arguments)
        failed = [found.name for found in all_failures(1, real.entry, real.function, seen)]
        unasked = [other for other in _find_unasked(real, seen) if other not in failed]
    return {"failing": failed + [f"{other}, which can no longer be checked" for other in unasked]}


def _apply(guard: str, change, first: dict, space: dict) -> tuple:
    """Return the arguments, and a context in which a global or a mode is changed."""
    if callable(change) and not hasattr(type(change), "__enter__"):
        change = change()
    if hasattr(type(change), "__enter__"):  # torch.no_grad() can be called, too
        return first, change
    if not isinstance(change, Mapping) or len(change) != 1:
        words = "a change must be a dict with one argument or global, or a context manager such as"
        raise InvalidAnswer(f"{guard}: {words} torch.no_grad(), not {short_repr(change)}")
    [(name, value)] = change.items()
    if name not in first and name not in space:
        raise InvalidAnswer(f"{guard}: {name!r} is neither an argument nor a global")
    if name in first:
        return {**first, name: value}, nullcontext()
    return first, replacing(space, name, value)


def _find_unasked(real: Real, seen: dict) -> list[str]:
    """Return the guards that raise: what they look at is gone, or has no length, …"""
    found = []
    for leaf in leaves(real.entry):
        if leaf.source.startswith("L[") and leaf.kind != "NO_TENSOR_ALIASING":  # has a state
            value = resolve(leaf.source, {"L": seen, "G": real.function.__globals__})
            with suppress(Exception):
                leaf.check(value)
                if value is not MISSING:
                    continue
            found.append(leaf.guard(1).name)
    return found


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
        real = Real(fn, *copied(first))
        calls = [*neighbours(real.function, real.first), *_change_further(real.first)]
        calls += _change_globals(real)
        cases = [
            Case(f"counter-example ({c.words})", partial(_accept, c), partial(_advise, real, c))
            for c in calls
        ]
        return find_difference(holds, real, cases, "Dynamo")


def _accept(call: Call, guards: Callable) -> bool:
    with call.world():
        return bool(tried(guards(*call.arguments.values())))


def _advise(real: Real, call: Call, mine, accepted: bool) -> str:
    if isinstance(mine, Raised):
        return f"yours {mine}; a guard must return False instead"
    if accepted:
        return STRICT
    with call.world():
        return f"too lax: yours accept, but Dynamo refuses ({real.why_not(**call.arguments)})"


def _change_further(first: dict) -> Iterator[Call]:
    x, n, names = first.values()
    others = {
        "x with nan": x * torch.nan,
        "x as a slice of a longer tensor": torch.cat([x, x])[len(x) :],
        "x as a Parameter without gradients": torch.nn.Parameter(x.detach(), requires_grad=False),
        "n of a class derived from int": type("Derived", (int,), {})(n),
        "names with numbers": list(range(len(names))),
        "names of a class derived from list": type("Derived", (list,), {})(names),
    }
    for words, other in others.items():
        yield Call(words, {**first, words.split()[0]: other})


def _change_globals(real: Real) -> Iterator[Call]:
    """Yield calls in which a float of the module is an equal number: a new one, another type."""
    space = real.function.__globals__
    for name in sorted(names_used(real.function.__code__)):
        value = space.get(name)
        if type(value) is float:
            derived = type("Derived", (float,), {})
            others = {
                "as NumPy's float64": np.float64,
                "of a class derived from float": derived,
                "as a new object": _copy_number,
            }
            for words, kind in others.items():
                world = partial(replacing, space, name, kind(value))
                yield Call(f"global {name} {words}", dict(real.first), world)


def _copy_number(value: float) -> float:
    """Return an equal number that is another object."""
    return float(repr(value))


COMPILED = ([1.0, -2.0, 4.0], True), ([-1.0, -2.0, 0.5], False)
INPUTS = [1.0, -2.0, 4.0], [-1.0, -2.0, 0.5], [[2.0, 0.0], [-1.0, 3.0]], -3.0, [-math.inf, 1.0]
CHANGED = "it changes the caller's tensor. Return a new one"
PRODUCT = (
    "it gives nan where patient gives none. Zero times infinity is nan, which torch.where avoids"
)
NO_SLOPE = "no gradient leads from the result to x"


def patient(x):
    """Break the graph, as in the notebook."""
    y = x * 2
    print("halfway", tuple(y.shape))
    if y.sum() > 0:
        y = y - y.mean().item()
    scale = 1 / (1 + y.abs().max().item())
    return y * scale + y[y > 0].sum()


@exercise(
    "watch_breaks(patient, x) shows the line and the cause of each break. Cure the first one, "
    "then look again.",
    "You can drop the print. A mean or a maximum can stay a tensor, so why call .item()?",
    "torch.where(condition, a, b) computes both sides and selects from them. It can replace the "
    "if, because both sides have the same shape.",
    "y[y > 0] has as many elements as there are positive values. For a sum, zeros in the "
    "other places work as well: torch.where(y > 0, y, 0).sum().",
)
def break_surgery(operated: Callable):
    """One graph, no break, and the right results and gradients for every input tried."""
    tensors = [torch.tensor(x, dtype=kind) for x in INPUTS for kind in (torch.float, torch.double)]
    cases = make_cases(_call, ((f"for {x.tolist()}", x) for x in tensors), _advise_result)
    cases.append(Case("the gradient for [0.5, 0, -1, -2]", _find_slope, _advise_slope))
    compiled = make_cases(_compile, ((f"compiled, for {x}", x, slope) for x, slope in COMPILED))
    near = partial(same_result, near=1e-3)
    with torch.enable_grad(), torch_private.same_settings():
        operated = torch_private.inner_function(operated)
        because = find_difference(operated, patient, cases, "patient", near)
        if because:
            return because
        with compiled_apart():
            return find_difference(operated, patient, compiled, AIM, near)


def _call(x, fn: Callable) -> dict:
    given = x.clone()
    with redirected(io.StringIO()):
        result = tried(fn(given))
    if not hasattr(result, "tolist"):
        return short_repr(result)
    kind = f"{result.dtype} of shape {tuple(result.shape)}"
    return {"kind": kind, "numbers": _round(result), "caller's tensor": given.tolist()}


def _advise_result(mine, real) -> str | None:
    """Return the two results with a cause that they show, or None if they show none."""
    if type(mine) is not dict or mine["kind"] != real["kind"]:
        return None
    words = ""
    if not same_result(mine["caller's tensor"], real["caller's tensor"]):
        words = CHANGED
    elif np.any(np.isnan(mine["numbers"]) & ~np.isnan(real["numbers"])):
        words = PRODUCT
    return advise_by_part(dict.fromkeys(mine, words), "patient")(mine, real)


def _advise_slope(mine, real) -> str | None:
    is_cut = type(mine) is dict and mine["gradient"] is None
    return advise_by_part({"gradient": NO_SLOPE * is_cut}, "patient")(mine, real)


def _round(tensor) -> list:
    return tensor.detach().double().round(decimals=4).tolist()


def _find_slope(fn: Callable) -> dict:
    """Return the gradient without its last item, the maximum's, which may differ."""
    x = torch.tensor([0.5, 0.0, -1.0, -2.0], requires_grad=True)
    with redirected(io.StringIO()):
        result = fn(x)
    slope = torch.autograd.grad(result.sum(), x)[0][:3] if result.requires_grad else None
    return {"gradient": None if slope is None else _round(slope)}


def _compile(values: list, slopes: bool, fn: Callable) -> dict:
    if fn is patient:
        return {"graphs": 1, "breaks": [], "gradient": slopes}
    traced = fn if type(fn) is FunctionType else lambda x: fn(x)
    x = torch.tensor(values, requires_grad=slopes)
    run, kept = watched(traced, (x,), None, "watch_breaks", steps=0)
    if kept.error is not None:
        raise kept.error
    return {
        "graphs": len(run.graphs),
        "breaks": [f"{found.code}: {found.cause}" for found in run.breaks],
        "gradient": kept.value.requires_grad,
    }
