"""The global names of a learner's modules -> as they were before an answer ran."""

import dis
import re
from collections.abc import Iterable
from functools import partial
from types import CodeType, FunctionType, MethodType

from .users_frames import is_library

MADE_BY_DYNAMO = re.compile(r"^_|_c\d+$")  # names that its compiled code looks up


def find_namespaces(answers: Iterable) -> list[dict]:
    """Return the globals of each module in which a function of these answers was written.

    An answer may be a function, or a class, a list or something else that contains functions.
    """
    namespaces_by_id = {}
    visited_ids = set()
    waiting = list(answers)
    while waiting:
        answer = waiting.pop()
        if id(answer) in visited_ids:
            continue
        visited_ids.add(id(answer))
        if isinstance(answer, FunctionType) and not is_library(answer.__code__.co_filename):
            namespaces_by_id[id(answer.__globals__)] = answer.__globals__
        waiting += _list_parts(answer)
    return list(namespaces_by_id.values())


def _list_parts(answer) -> list:
    """Return what an answer wraps or contains."""
    if isinstance(answer, FunctionType):
        return [getattr(answer, "__wrapped__", None)]
    if isinstance(answer, MethodType | staticmethod | classmethod):
        return [answer.__func__]
    if isinstance(answer, partial):
        return [answer.func]
    if "python_function" in dir(type(answer)):  # a tf.function
        return [answer.python_function]
    if isinstance(answer, type):
        return list(vars(answer).values())
    if type(answer) is dict:
        return list(answer.values())
    if type(answer) in (list, tuple):
        return list(answer)
    return []


def read_globals(space: dict) -> tuple[dict, dict]:
    """Return a namespace and a copy of its names, as `restore_globals` takes them."""
    return space, dict(space)


def restore_globals(space: dict, before: dict) -> None:
    """Remove the names that an answer has added, and rebind those that it rebound.

    A framework's own names stay, because its compiled code looks them up.
    """
    # A learner's own `global` name may look like one of Dynamo's, and is removed all the same.
    written = _find_written_names(before.values(), space)
    new_names = [name for name in space if name not in before]
    for name in new_names:
        if name in written or not MADE_BY_DYNAMO.search(name):
            del space[name]

    for name, value in before.items():
        if name not in space or space[name] is not value:
            space[name] = value


def _find_written_names(values: Iterable, space: dict) -> set[str]:
    """Return the names that functions of a module declare global and bind."""
    names = set()
    for value in values:
        parts = vars(value).values() if isinstance(value, type) else [value]
        for part in parts:
            if isinstance(part, FunctionType) and part.__globals__ is space:
                names |= _find_stored_globals(part.__code__)
    return names


def _find_stored_globals(code: CodeType) -> set[str]:
    """Return the global names that a code object, or one inside it, stores."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _find_stored_globals(constant)
    return names
