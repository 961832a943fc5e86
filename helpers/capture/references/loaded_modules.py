"""Give names to dicts that belong to something loaded: a module's dict is named "numpy", and the
registry of a function of `functools.singledispatch` is named "app.show.registry". Each result maps
the id of a dict to its name.

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
    """Return id of a module's dict -> name of the module, for all loaded modules.

    A module may be in `sys.modules` under several names. Then its own `__name__` is chosen, or else
    the first name by alphabet.
    """
    names_by_id: dict[int, str] = {}
    for name in sorted(key for key in list(sys.modules) if type(key) is str):
        module = sys.modules.get(name)
        # `sys.modules` may have None, which blocks an import, or a mock of a test.
        if not real_isinstance(module, ModuleType):
            continue
        module_dict = read_namespace(module)
        is_own_name = dict.get(module_dict, "__name__") == name
        if is_own_name or id(module_dict) not in names_by_id:
            names_by_id[id(module_dict)] = name
    return names_by_id


def find_singledispatch_names() -> dict[int, str]:
    """Return id -> name of the two dicts that each singledispatch function has.

    Its registry maps a class to an implementation, and its cache has the results of look-ups. No
    attribute of the function is one of these dicts, so a path to them could not be found.
    """
    names_by_id: dict[int, str] = {}
    for function in find_singledispatch_functions():
        module_name = format_module_name(function.__module__)
        path = f"{module_name}.{format_name(function.__qualname__)}"
        # `function.registry` is a read-only view, which refers to the dict itself.
        registry = get_referents(function.registry)[0]
        # `_clear_cache` is a method of the WeakKeyDictionary that is the cache.
        cache = function._clear_cache.__self__.data
        names_by_id[id(registry)] = f"{path}.registry"
        names_by_id[id(cache)] = f"{path}.dispatch_cache"
    return names_by_id


def find_singledispatch_functions() -> HiddenList:
    """Return all functions that `functools.singledispatch` has made.

    Their code is in functools, so each refers to the dict of functools as its globals. Of these
    functions, only those of singledispatch have the attribute `_clear_cache`.
    """
    referrers = get_referrers(vars(functools))
    functions = [referrer for referrer in referrers if type(referrer) is FunctionType]
    return HiddenList(function for function in functions if "_clear_cache" in vars(function))


def read_module_name(module_dict: dict) -> str:
    """Return the `__name__` in the dict of a module, short enough to be read; "?" for none."""
    return format_module_name(dict.get(module_dict, "__name__"))


def format_module_name(name: object) -> str:
    """Return the name of a module, short enough to be read; "?" for what is no text."""
    return format_name(name) if type(name) is str else "?"
