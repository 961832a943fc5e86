"""A compiled function -> code that it may run, and that Dynamo failed to compile earlier.

Dynamo gives such code up: plain Python runs every later call of it, and torch reports nothing. So
whether a call of a compiled function ran such code is not known. What a function may run is read
from its bytecode: the code objects inside it, and the names that it uses.
"""

from contextlib import suppress
from types import CodeType, FunctionType, MethodType

from ...internals import code_extras, compiled_functions, dynamo_codes, torch_private
from ...safety.arguments import real_isinstance
from ...safety.users_frames import is_library

MOST_FUNCTIONS = 300  # that are followed from one function


def find_given_up() -> list[CodeType]:
    """Return the users' code objects that Dynamo failed to compile, and skips since then.

    Torch marks other code to be skipped as well, for which it never failed. So a code object counts
    only if torch's metrics have a failure at its file and line. Torch keeps the metrics of its
    latest compiles only, so older failures are missing.
    """
    # The metrics of one compilation name a place, and have no code object.
    failed_places = {
        _read_place(metrics) for metrics in torch_private.compilations() if metrics.fail_type
    }
    if not failed_places:
        return []

    # pairs of a code object and what torch does with its frames, such as "SKIP"
    barred_codes = code_extras.list_barred_codes(dynamo_codes.list_met_codes())
    return [
        code
        for code, action in barred_codes
        if action == "SKIP"
        and _read_place(code) in failed_places
        and not is_library(code.co_filename)
    ]


def _read_place(code) -> tuple[str, int, str]:
    """Return the file, first line and name of a code object.

    `code` may also be torch's metrics of a compilation, which have attributes of the same names.
    """
    return code.co_filename, code.co_firstlineno, code.co_name


def find_given_up_codes_named_by(fn, given_up: list[CodeType]) -> list[CodeType]:
    """Return the code objects of `given_up` that a call of `fn` may run.

    A call may run a code object that is inside `fn` or inside a function that `fn` names. It may
    also run one of the same name as an attribute that `fn` uses, such as a method.
    """
    if not given_up:
        return []
    code_ids, names = _collect_reachable_codes(fn)
    return [
        code
        for code in given_up
        if id(dynamo_codes.find_original_code(code)) in code_ids or code.co_name in names
    ]


def _collect_reachable_codes(fn) -> tuple[set[int], set[str]]:
    """Return the ids of the code objects that a call of `fn` may run, and all names in them.

    This is a depth-first search. It begins with `fn`. From a function it goes on to the globals
    that the function names and to the values in its closure. From an nn.Module it goes on to the
    `forward` of each module inside.
    """
    import torch

    code_ids: set[int] = set()
    names: set[str] = set()
    waiting = [fn]
    # id -> function. The functions are kept alive, so that no other object gets the same id.
    visited: dict[int, FunctionType] = {}

    while waiting and len(visited) < MOST_FUNCTIONS:
        function = _find_plain_function(waiting.pop())
        # `real_isinstance` looks at `type(function)` only. `isinstance` also reads `__class__`,
        # which a lazy module or a mock may compute.
        if real_isinstance(function, torch.nn.Module):
            waiting += [type(module).forward for module in function.modules()]
        if type(function) is not FunctionType or id(function) in visited:
            continue
        visited[id(function)] = function

        # Functions of libraries are not followed, because they name very many others and only the
        # user's code is searched for. `fn` itself is followed: it may be torch's own wrapper.
        if is_library(function.__code__.co_filename) and function is not fn:
            continue
        codes = _list_codes(function.__code__)
        used_names = {name for code in codes for name in code.co_names}
        code_ids.update(map(id, codes))
        names |= used_names
        waiting += _list_values_used(function, used_names)

    return code_ids, names


def _list_values_used(function: FunctionType, names: set[str]) -> list:
    """Return the globals of a function that have one of `names`, and the values in its closure."""
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the cell is empty
            values.append(cell.cell_contents)
    return values


def _find_plain_function(value):
    """Return the plain function in a method or in what `torch.compile` made; else `value`."""
    if type(value) is MethodType:
        value = value.__func__
    return compiled_functions.find_original(value)


def _list_codes(code: CodeType) -> list[CodeType]:
    """Return a code object and the code objects of all functions defined in it, at any depth."""
    codes = []
    waiting = [code]
    while waiting:
        outer = waiting.pop()
        codes.append(outer)
        waiting += [constant for constant in outer.co_consts if type(constant) is CodeType]
    return codes
