"""The guards of a cache entry -> one Python function that answers as torch's guard tree does.

The text of the function has the form `def holds(x, n): return type(n) is int and n == 2 and …`.
"""

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType

from ...safety.arguments import require_int
from ..cpython.objects import read_function_name
from .cache_entries import read_cache_entries
from .compiled_function import find_compiled_function
from .guard_leaves import list_leaf_guards
from .guard_writer import GuardWriter, WrittenLine

# The names that the written function uses itself; no argument may have one of them.
OWN_NAMES = {"G", "ids", "in_cpp", "keys", "marks", "seen", "torch", "type", "len", "id"}
OWN_NAMES |= {"any", "hasattr", "locals", "Exception"}


class WrittenGuards:
    """The guards of a cache entry of `fn`, written as one Python function.

    Attributes
    ----------
    compiled_function : function
        The function that Dynamo starts with.
    sentences : tuple of str
        What was unwrapped to find that function, such as a partial.
    entry, root : torch's objects
        The cache entry, and its guard tree.
    lines : tuple of WrittenLine
        The conditions, in the order in which torch checks them.
    source : str
        The text of the written function.
    function : function
        The written function. It takes the arguments of a call and returns True or False.
    function_globals : dict
        The globals of the written function, by name.
    """

    def __init__(self, fn: Callable, entry: int = 1):
        """Write the guards of cache entry number `entry`, from 1."""
        self.compiled_function, self.sentences = find_compiled_function(fn, compiled=True)
        name = read_function_name(self.compiled_function)
        entries = read_cache_entries(self.compiled_function.__code__)
        if not entries:
            raise LookupError(f"Dynamo keeps no compiled code for {name}()")
        self.entry = entries[require_int(entry, "entry", len(entries)) - 1]
        self.root = self.entry.guard_manager.root

        signature = inspect.signature(self.compiled_function, follow_wrapped=False)
        parameters = signature.parameters
        taken_names = OWN_NAMES & parameters.keys()
        if taken_names:
            raise ValueError(
                f"the guards of {name}() are not shown as Python: {min(taken_names)} is "
                "a name that they use; rename the argument"
            )

        writer = GuardWriter(self.compiled_function, self.root, parameters)
        lines = writer.write_lines(list_leaf_guards(self.entry))
        # Two guards may have the same condition, which is written once.
        self.lines: tuple[WrittenLine, ...] = tuple(dict.fromkeys(lines))
        self.function_globals: dict = writer.function_globals
        self.source: str = _write_source(self.lines, parameters)
        self.function: FunctionType = self._compile()

    def _compile(self) -> FunctionType:
        """Return the written function, with the defaults of the compiled function."""
        function_globals = dict(self.function_globals)
        exec(compile(self.source, "<guards>", "exec"), function_globals)
        function = function_globals["holds"]  # the text defines a function of this name
        function.__defaults__ = self.compiled_function.__defaults__
        function.__kwdefaults__ = self.compiled_function.__kwdefaults__
        return function


def _write_source(
    lines: tuple[WrittenLine, ...], parameters: Mapping[str, inspect.Parameter]
) -> str:
    """Return the text of a function `holds` that has these parameters and checks all conditions.

    Each condition is on a line of its own, with the kind of the guard as a comment.
    """
    checks = []
    for line in lines:
        place = "" if line.is_python else ", checked in C++"
        checks.append(f"{line.condition}  # {line.kind}{place}")
    body = "\n            and ".join(checks) or "True"
    signature = inspect.Signature(
        [_simplify_parameter(parameter) for parameter in parameters.values()]
    )
    return (
        f"def holds{signature}:\n    try:\n        return (\n"
        f"            {body}\n        )\n    except Exception:\n"
        "        return False  # a missing value fails\n"
    )


def _simplify_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter without its annotation, and with `...` instead of its default.

    The repr of a default may be long or have an address. `WrittenGuards` sets the real defaults.
    """
    empty = inspect.Parameter.empty
    default = empty if parameter.default is empty else ...
    return parameter.replace(annotation=empty, default=default)
