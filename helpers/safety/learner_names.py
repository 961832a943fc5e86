"""The global names of a learner's modules -> as they were before an answer ran."""

import dis
import re
from collections.abc import Iterable
from functools import partial
from types import CodeType, FunctionType, MethodType

from .users_frames import is_library

MADE_BY_DYNAMO = re.compile(r"^_|_c\d+$")  # names that its compiled code looks up


def find_namespaces(answers: Iterable) -> list[dict]:
    """Return the global names of the modules in which functions of these answers were written."""
    found, waiting, met = {}, list(answers), set()
    while waiting:
        answer = waiting.pop()
        if id(answer) in met:
            continue
        met.add(id(answer))
        if isinstance(answer, FunctionType):
            if not is_library(answer.__code__.co_filename):
                found[id(answer.__globals__)] = answer.__globals__
            waiting.append(getattr(answer, "__wrapped__", None))
        elif isinstance(answer, MethodType | staticmethod | classmethod):
            waiting.append(answer.__func__)
        elif isinstance(answer, partial):
            waiting.append(answer.func)
        elif "python_function" in dir(type(answer)):  # a tf.function
            waiting.append(answer.python_function)
        elif isinstance(answer, type):
            waiting += vars(answer).values()
        elif type(answer) is dict:
            waiting += answer.values()
        elif type(answer) in (list, tuple):
            waiting += answer
    return [*found.values()]


def read_globals(space: dict) -> tuple[dict, dict]:
    """Return a namespace and a copy of its names, as `restore_globals` takes them."""
    return space, dict(space)


def restore_globals(space: dict, before: dict) -> None:
    """Remove the names that an answer has added, and rebind those that it rebound.

    A framework's own names stay, because its compiled code looks them up.
    """
    written = _names_written(before.values(), space)
    for name in [name for name in space if name not in before]:
        if name in written or not MADE_BY_DYNAMO.search(name):
            del space[name]
    for name, value in before.items():
        if name not in space or space[name] is not value:
            space[name] = value


def _names_written(values: Iterable, space: dict) -> set[str]:
    """Return the names that functions of a module declare global and bind."""
    found, codes = set(), []
    for value in values:
        parts = vars(value).values() if isinstance(value, type) else [value]
        functions = [part for part in parts if isinstance(part, FunctionType)]
        codes += [each.__code__ for each in functions if each.__globals__ is space]
    for code in codes:  # which grows by those inside
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        steps = dis.get_instructions(code)
        found |= {step.argval for step in steps if step.opname == "STORE_GLOBAL"}
    return found
