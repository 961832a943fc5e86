"""The global functions that a Python function calls -> which of their names were rebound since.

A graph contains the ops that a global function ran during the trace. TensorFlow does not look the
name up again. So a program that rebinds the name gets the result of the old function, and the
ledger warns of it.
"""

import dis
import weakref
from types import CodeType, FunctionType, MethodType


class GlobalFunctions:
    """The functions to which global names in a Python function refer at the time of creation."""

    def __init__(self, python_function):
        """Note which global functions `python_function` can call.

        It is the Python function, or the method, of which a tf.function was made. For any other
        callable nothing is noted.
        """
        self._globals: dict[str, object] = {}
        self._refs_by_name: dict[str, weakref.ref] = {}

        plain_function = python_function
        if type(python_function) is MethodType:
            plain_function = python_function.__func__
        if type(plain_function) is not FunctionType:
            return
        self._globals = plain_function.__globals__
        for name in _find_global_names(plain_function.__code__):
            value = self._globals.get(name)
            if type(value) is FunctionType:
                # A strong reference would keep a function alive that the program has dropped.
                self._refs_by_name[name] = weakref.ref(value)

    def find_rebound_names(self) -> list[str]:
        """Return the global names that refer to another object now than at the time of creation."""
        # A reference to a function that was freed returns None.
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
    return {
        instruction.argval for instruction in instructions if instruction.opname == "LOAD_GLOBAL"
    }
