"""A learner's function or class -> the same, known to take what its exercise gives it; or words.

Nothing of it is called here but its signature, so that a wrong form is told as such and not as an
error of the judge's first call.
"""

import inspect
from collections.abc import Callable

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.model.phrase import counted
from helpers.study.check import Unfit, Untried


def function(answer, name: str, takes: str, or_class: bool = False) -> Callable:
    """Return the answer if it can be called with arguments such as `takes`, "code, values".

    Unfit says that it is no function, is a class (unless one will do), an async function, or takes
    something else.
    """
    if answer is ...:
        raise Untried
    if (isinstance(answer, type) and not or_class) or not callable(answer):
        raise Unfit(f"give the function itself, {name}, not {brief(answer)}")
    if inspect.iscoroutinefunction(answer) or inspect.isasyncgenfunction(answer):
        raise Unfit(
            f"{name} is an async function: a call of it runs nothing yet. Write a plain def"
        )
    if inspect.isgeneratorfunction(answer):
        raise Unfit(f"{name} has a yield: a call of it runs nothing yet. Write a return")
    _takes(answer, name, takes)
    return answer


def method_of(kind: type, name: str, takes: str) -> None:
    """Raise Unfit unless objects of a class have this method, with such arguments."""
    method = getattr(kind, name, None)
    if not callable(method):
        raise Unfit(f"{kind.__name__} needs a method {name}({takes})")
    if inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
        raise Unfit(f"{name} gives nothing when it is called: write a plain def, with a return")
    if not isinstance(inspect.getattr_static(kind, name), (staticmethod, classmethod)):
        _takes(method, name, f"self, {takes}")


def _takes(answer, name: str, takes: str) -> None:
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):  # of some functions written in C nobody knows it
        return
    wanted = takes.split(", ")
    try:
        signature.bind(*wanted)
    except TypeError:
        own = str(signature.replace(return_annotation=signature.empty))[1:-1] or "nothing"
        count = counted(len(wanted), "argument")
        raise Unfit(f"{name} is called with {count} ({takes}), and yours takes {own}") from None


def called(fn: Callable, words: str, *args):
    """Return what a learner's function gives; Unfit if it raises, and for which call in words."""
    try:
        return fn(*args)
    except (Untried, Unfit):
        raise
    except Exception as error:
        raise Unfit(f"{words}: yours raised {said(error)}") from None
