"""Chapter 4: change one thing so that exactly this guard fails; Dynamo's own guards are asked."""

from contextlib import contextmanager, nullcontext

from helpers.capture.torch.guards.compare import Real
from helpers.capture.torch.guards.failures import all_failures
from helpers.capture.torch.guards.tree import leaves
from helpers.study.check import Exercise, Untried

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
CONTEXT = "context manager such as torch.no_grad()"


def _judge_guard_breaker(breakers, fn, first):
    if type(breakers) is not dict:
        return "breakers must be a dict: the guard's name -> what to change"
    real = Real(fn, **first)
    guards = {guard.name: guard for guard in (leaf.guard(1) for leaf in leaves(real.entry))}
    for name in (*WANTED, *breakers):
        if name not in guards:
            return f"{name} is no guard of this entry; show_guards(..., as_table=True) lists them"
        if name not in breakers:
            return f"{name} is missing"
        if because := _broken(real, first, guards[name], breakers[name]):
            return f"{name}: {because}"
    return None


def _broken(real, first, guard, change) -> str | None:
    """Return why the change does not break this guard alone, if so."""
    if change is ... or (type(change) is dict and any(v is ... for v in change.values())):
        raise Untried
    if type(change) is not dict and not callable(change) and not _is_context(change):
        return f"a change is a dict of one argument or global, or a {CONTEXT}"
    if type(change) is dict and len(change) != 1:
        return f"this changes {len(change)} things; change one"
    space = real.function.__globals__
    for name in change if type(change) is dict else ():
        if name not in first and name not in space:
            return f"{name!r} is neither an argument nor a global"
    arguments, world = _changed(first, space, change)
    if world is None:
        return f"calling this gives no {CONTEXT}"
    with world:
        seen = real.seen(**arguments)
        failed = [found.name for found in all_failures(1, real.entry, real.function, seen)]
        first_failed = real.why_not(**arguments)
    return _verdict(guard, failed, first_failed)


def _is_context(change) -> bool:
    return hasattr(type(change), "__enter__")


def _verdict(guard, failed, first_failed) -> str | None:
    if first_failed is None:
        return f"every guard still holds with this change; this one holds if {guard.checks}"
    if not failed:
        return f"no guard could be asked: {first_failed}"
    if failed == [guard.name]:
        return None
    if guard.name in failed:
        return f"this change fails {len(failed)} guards: {', '.join(failed)}"
    return f"this change fails another guard: {', '.join(failed)}"


def _changed(first, space, change):
    """Return the arguments, and a context in which a global or a mode is changed."""
    if _is_context(change):  # asked first: an instance of torch.no_grad can be called, too
        return first, change
    if callable(change):
        made = change()
        return (first, made) if _is_context(made) else (first, None)
    [(name, value)] = change.items()
    if name in first:
        return {**first, name: value}, nullcontext()
    return first, _with_global(space, name, value)


@contextmanager
def _with_global(space, name, value):
    kept = space[name]
    space[name] = value
    try:
        yield
    finally:
        space[name] = kept


GUARD_BREAKER = Exercise(
    "guard_breaker",
    _judge_guard_breaker,
    "Nine guards, nine changes, and each fails that guard and no other.",
    (
        "Read the guard's words in show_guards(game, as_table=True) and ask: what is the least "
        "that makes them untrue, and leaves all the other words true?",
        "A list's length and a list's type are two guards. What has the same length and is no "
        "list? What holds the same keys as a dict, and is another type?",
        "An argument may be the very object that another argument is: first['x'] is at hand. The "
        "state of torch is changed by a context manager, such as torch.no_grad().",
    ),
)
