"""Find the names in libraries that lead to the learner's own code, such as `numpy.dot` after
`numpy.dot = mine`. A library is an installed or built-in module. A file or a notebook of the
learner's is not one.
"""

import os
import sys
import types
from collections.abc import Mapping, Set
from dataclasses import dataclass

from ...model.phrase import format_names
from ...safety.arguments import is_exactly, printable, real_isinstance
from ...safety.users_frames import is_library
from ..cpython.objects import read_callable_name, read_namespace
from ..text.source import format_place
from .loaded_modules import find_module_names

_TYPED_FILES = ("<stdin>", "<ipython-input", "<answer>", "<cell")  # code that somebody has typed


def describe_patched_names(most: int) -> str:
    """Return "numpy.dot: mine, …" for the first names, up to `most`, and how many more there are.

    The text is "" if no name of a library leads to the learner's code.
    """
    dicts_by_name = {}  # name of a module -> its dict
    files_by_name = {}  # name of a module -> its file, "" if it has none
    for name in find_module_names().values():
        module_dict = read_namespace(sys.modules[name])
        dicts_by_name[name] = module_dict
        files_by_name[name] = str(dict.get(module_dict, "__file__") or "")

    libraries = {
        name
        for name, file in files_by_name.items()
        if name in sys.builtin_module_names or is_library(file)
    }
    # `__main__` is the notebook or script. Of any other module without a file, nobody knows who
    # has written it, so it is neither a library nor the learner's.
    own_modules = {
        name
        for name, file in files_by_name.items()
        if name not in libraries and (file or name == "__main__")
    }

    patched = []
    for name in libraries:
        module = _Namespace(path=name, module_name=name, is_class=False)
        patched += _list_own_values(module, dicts_by_name[name], own_modules)
    return format_names(sorted(patched), most)


@dataclass(frozen=True)
class _Namespace:
    """A module or a class of a library, whose names are looked at."""

    #: How the names in it begin: `numpy`, or `numpy.matrix`.
    path: str
    #: The module that it is, or in which the class was made.
    module_name: str
    #: Whether it is a class.
    is_class: bool


def _list_own_values(space: _Namespace, names: Mapping, own_modules: Set[str]) -> list[str]:
    """Return a text for each name in a library's module or class whose value the learner has made.

    `names` is the dict of the module or class. A class that a module defines is searched, too.
    `own_modules` are the names of the learner's modules.
    """
    texts: list[str] = []
    for key, value in list(names.items()):
        if type(key) is not str:
            continue
        path = f"{space.path}.{printable(key)}"
        if is_exactly(value, staticmethod, classmethod):
            value = value.__func__  # the function in it

        if type(value) is types.FunctionType:
            if _is_own_code(value.__code__):
                texts.append(_describe_function(path, value))
        elif space.is_class:
            # An object in a class may be called as a method, so it counts. An object in a module
            # may be mere data, such as a setting, and does not count.
            if _is_own_instance(value, own_modules):
                class_name = printable(type(value).__name__)
                texts.append(f"{path}: an instance of {class_name}")
        elif real_isinstance(value, type) and vars(value).get("__module__") == space.module_name:
            # A class that this module defines. One that it imports is searched in its own module.
            inner = _Namespace(path, space.module_name, is_class=True)
            texts += _list_own_values(inner, vars(value), own_modules)
    return texts


def _is_own_code(code: types.CodeType) -> bool:
    """Return whether the learner has written this code, in a file or a cell.

    Code that a program made, as with `exec`, has a file name in angle brackets, and is nobody's.
    """
    file = code.co_filename
    is_typed = file.startswith(_TYPED_FILES)
    is_in_file = "<" not in file and os.sep in file
    return (is_typed or is_in_file) and not is_library(file)


def _is_own_instance(value: object, own_modules: Set[str]) -> bool:
    """Return whether a value is an instance of a class that the learner has made."""
    # A class with a metaclass may answer for `__module__` by running code.
    return type(type(value)) is type and type(value).__module__ in own_modules


def _describe_function(path: str, function: types.FunctionType) -> str:
    """Return `numpy.dot: mine() (made at a.py:3, in wrap)`.

    `in wrap` names the function that has defined this one, if there is such a function.
    """
    text = f"{path}: {read_callable_name(function)}"
    place = format_place(function.__code__)
    if not place:
        return text
    maker = printable(function.__code__.co_qualname.rpartition(".<locals>.")[0])
    if maker:
        place += f", in {maker}"
    return f"{text} (made at {place})"
