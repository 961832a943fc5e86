"""The global functions that a Python function calls -> those of their names that were rebound.

A graph contains what a global function did at the trace. TensorFlow does not look the name up
again, so that a rebound name changes nothing.
"""

import dis
import weakref
from types import CodeType, FunctionType, MethodType


class GlobalFunctions:
    """The functions to which the global names in a Python function referred at first."""

    def __init__(self, python_function):
        """Note the functions that `python_function`, of which a tf.function was made, can call."""
        self._globals: dict[str, object] = {}
        self._refs_by_name: dict[str, weakref.ref] = {}

        inner = python_function
        if type(inner) is MethodType:
            inner = inner.__func__
        if type(inner) is not FunctionType:
            return
        self._globals = inner.__globals__
        for name in _find_global_names(inner.__code__):
            value = self._globals.get(name)
            if type(value) is FunctionType:
                # A strong reference would keep a function alive that the program has dropped.
                self._refs_by_name[name] = weakref.ref(value)

    def find_rebound_names(self) -> list[str]:
        """Return the names that refer to another object now."""
        return [
            name
            for name, function_ref in self._refs_by_name.items()
            if self._globals.get(name) is not function_ref()
        ]


def _find_global_names(code: CodeType) -> set[str]:
    """Return the names that a code object looks up in its module.

    `code.co_names` contains the names of attributes too.
    """
    instructions = dis.get_instructions(code)
    return {step.argval for step in instructions if step.opname == "LOAD_GLOBAL"}
