"""Restore the global names of a learner's modules after a check has run the learner's answer.
An *answer* is what a learner passes to a check of an exercise: a function, a class, or a list or
dict of them.
"""

import dis
import re
from collections.abc import Iterable
from functools import partial
from types import CodeType, FunctionType, MethodType

from .users_frames import is_library

# Globals that torch's Dynamo adds to a module, because its compiled code looks them up by name.
MADE_BY_DYNAMO = re.compile(r"^_|_c\d+$")


def find_namespaces(answers: Iterable) -> list[dict]:
    """Return the globals of each module in which a function of these answers is defined.

    Functions of libraries are left out. An answer may be a function, or something that contains
    functions, such as a class or a list.
    """
    namespaces_by_id = {}  # id of a dict of globals -> that dict, because a dict has no hash
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
    """Return the objects that an answer wraps or contains, such as the methods of a class."""
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
    """Return a dict of globals and a copy of it: the two arguments of `restore_globals`."""
    return space, dict(space)


def restore_globals(space: dict, before: dict) -> None:
    """Give a module the global names and values that it had before an answer ran.

    `space` is the dict of the module's globals, and `before` the earlier copy of it. Names that the
    answer has added are removed. Names that Dynamo has added stay, because its compiled code looks
    them up.
    """
    # A learner's function may declare a name global that looks like one of Dynamo's, such as `_x`.
    # Such a name is removed.
    learner_names = _find_written_names(before.values(), space)
    new_names = [name for name in space if name not in before]
    for name in new_names:
        if name in learner_names or not MADE_BY_DYNAMO.search(name):
            del space[name]

    for name, value in before.items():
        if name not in space or space[name] is not value:
            space[name] = value


def _find_written_names(values: Iterable, space: dict) -> set[str]:
    """Return the names to which functions assign by a `global` statement.

    Only functions and methods among `values` count whose globals are the dict `space`.
    """
    names = set()
    for value in values:
        members = vars(value).values() if isinstance(value, type) else [value]
        for member in members:
            if isinstance(member, FunctionType) and member.__globals__ is space:
                names |= _find_stored_globals(member.__code__)
    return names


def _find_stored_globals(code: CodeType) -> set[str]:
    """Return the global names to which a code object, or a function defined in it, assigns."""
    names = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "STORE_GLOBAL":
            names.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _find_stored_globals(constant)
    return names
