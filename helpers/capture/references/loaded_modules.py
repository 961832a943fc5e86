"""What is loaded in this process: the modules by their dicts, and functools' singledispatch.

A lazy module is not loaded by looking at it, because only its dict is read.
"""

import functools
import sys
from gc import get_referents, get_referrers
from types import FunctionType, ModuleType

from ...safety.arguments import real_isinstance
from ..cpython.objects import read_namespace
from ..text.value import format_name
from .places import HiddenList


def find_module_names() -> dict[int, str]:
    """Return the name of each loaded module by the id of its dict: once each, its own if possible.

    A module may be in `sys.modules` under several names.
    """
    names_by_id: dict[int, str] = {}
    for name in sorted(key for key in list(sys.modules) if type(key) is str):
        module = sys.modules.get(name)
        # None is there to block an import, and a test may have put a mock there.
        if not real_isinstance(module, ModuleType):
            continue
        module_dict = read_namespace(module)
        is_own_name = dict.get(module_dict, "__name__") == name
        if is_own_name or id(module_dict) not in names_by_id:
            names_by_id[id(module_dict)] = name
    return names_by_id


def find_singledispatch_names() -> dict[int, str]:
    """Return the name of each dict that a singledispatch function keeps in C, by its id.

    The collector sees the registry only behind a read-only view, and the cache behind a method.
    """
    names_by_id: dict[int, str] = {}
    for function in find_singledispatch_functions():
        module_name = format_module_name(function.__module__)
        path = f"{module_name}.{format_name(function.__qualname__)}"
        registry = get_referents(function.registry)[0]
        cache = function._clear_cache.__self__.data
        names_by_id[id(registry)] = f"{path}.registry"
        names_by_id[id(cache)] = f"{path}.dispatch_cache"
    return names_by_id


def find_singledispatch_functions() -> HiddenList:
    """Return all functions that `functools.singledispatch` has made.

    They are written in functools, so they refer to its dict as their globals.
    """
    users = get_referrers(vars(functools))
    functions = [user for user in users if type(user) is FunctionType]
    return HiddenList(function for function in functions if "_clear_cache" in vars(function))


def read_module_name(module_dict: dict) -> str:
    """Return the `__name__` in the dict of a module, short enough to be read; "?" for none."""
    return format_module_name(dict.get(module_dict, "__name__"))


def format_module_name(name: object) -> str:
    """Return the name of a module, short enough to be read; "?" for what is no text."""
    return format_name(name) if type(name) is str else "?"
