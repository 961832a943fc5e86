"""The modules of libraries -> their names and functions that lead to code of the learner's own."""

import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

from helpers.capture.cpython.objects import called, namespace
from helpers.model.phrase import listed
from helpers.safety.arguments import printable, real_isinstance
from helpers.safety.restoring import HOUSE, LIBRARIES, STANDARD

_ELSEWHERE = (*STANDARD, *LIBRARIES)
_TYPED = ("<stdin>", "<ipython-input", "<answer>", "<cell")


def patched_names(most: int) -> str:
    """Return "numpy.dot: mine, …" of the names in libraries that lead to the learner's code."""
    modules = [(k, m) for k, m in list(sys.modules.items()) if real_isinstance(m, ModuleType)]
    found = [one for k, m in modules if _is_library(m) for one in _find_in(k, namespace(m), k)]
    return listed(sorted(f"{place}: {name}" for place, name in found), most)


def _find_in(place: str, names, home: str) -> Iterator[tuple[str, str]]:
    for key, value in list(names.items()):
        if type(key) is not str:
            continue
        if type(value) in (staticmethod, classmethod):
            value = value.__func__
        if type(value) is FunctionType:
            if is_own(value.__code__):
                yield f"{place}.{printable(key)}", called(value)
        elif type(value) is type and home and value.__module__ == home:
            yield from _find_in(f"{place}.{printable(key)}", vars(value), "")


def is_own(code: CodeType) -> bool:
    """Tell whether code comes from a cell, a prompt or a file outside of the libraries."""
    file = code.co_filename
    if file.startswith((*_ELSEWHERE, HOUSE)):
        return False
    return file.startswith(_TYPED) or ("<" not in file and os.sep in file)


def _is_library(module: ModuleType) -> bool:
    file = dict.get(namespace(module), "__file__")
    if type(file) is str:
        return file.startswith(_ELSEWHERE)
    return dict.get(namespace(module), "__name__") in sys.builtin_module_names
