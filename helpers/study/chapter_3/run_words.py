"""A program and how its run ended -> words for it: a few to read, and all of them to compare."""

from helpers.capture.text.error import said
from helpers.capture.text.value import brief

DEEPEST = 6
LONGEST = 60


def called(program, args) -> str:
    """Return the call, with the program's one line where it has no more."""
    source = getattr(program, "source", "")
    call = f"{program.__name__}({', '.join(map(brief, args))})"
    return f"{call} of `{source}`" if 0 < len(source) <= LONGEST else call


def end_of(value, space: dict, raised=False) -> tuple[str, str]:
    """Return what a run gave or raised: in short, and to the last digit.

    `space`: the globals of the program.
    """
    if raised:
        return f"raises {said(value)}", f"raises {_chain(value, space)}"
    return f"gives {brief(value)}", f"gives {exact(value)}"


def exact(value, depth: int = DEEPEST) -> str:
    """Return words that differ where types, items or signs of zeros do; objects by their type."""
    kind = type(value)
    if not depth:
        return "…"
    if kind in (list, tuple):
        return f"{kind.__name__}({', '.join(exact(item, depth - 1) for item in value)})"
    if kind is dict:
        pairs = (f"{exact(k, depth - 1)}: {exact(v, depth - 1)}" for k, v in value.items())
        return f"dict({', '.join(pairs)})"
    return repr(value) if kind in (int, float, str, bytes, complex) else brief(value)


def _chain(error: BaseException, space: dict) -> str:
    """Return an exception with those that it came from, in the order in which it leads to them."""
    told, link = _said(error), error
    for _ in range(DEEPEST):
        cause, context = (_outside(e, space) for e in (link.__cause__, link.__context__))
        if cause is None and context is not None and link.__suppress_context__:
            return f"{told} from None"
        how = "while handling" if cause is None else "from"
        link = context if cause is None else cause
        if link is None:
            return told
        told += f" {how} {_said(link)}"
    return told


def _said(error: BaseException) -> str:
    """Return an exception in words that tell its type from another one of the same name."""
    home = type(error).__module__
    return said(error) if home == "builtins" else f"{said(error)} (a class of {home})"


def _outside(error: BaseException | None, space: dict) -> BaseException | None:
    """Return an exception of the program's; None for one that a handler has raised and caught."""
    trace = error.__traceback__ if error is not None else None
    own = trace is None or trace.tb_frame.f_globals is space
    return error if own else None
