"""A compiled function -> which code that it may call Dynamo has given up, and runs no more.

Torch's evaluator runs such code in plain Python without a report. So whether a later call ran it is
not known. What a function may call is read from its code: the code inside it, and names.
"""

from contextlib import suppress
from types import CodeType, FunctionType, MethodType

from ...internals import code_extras, compiled_functions, dynamo_codes, torch_private
from ...safety.arguments import real_isinstance
from ...safety.users_frames import is_library

MOST_FUNCTIONS = 300  # that are followed from one function


def find_given_up() -> list[CodeType]:
    """Return the users' codes that Dynamo failed to compile, and skips since then.

    Torch keeps the metrics of its latest compiles only, so earlier failures are missing.
    """
    failed_places = {
        _read_place(metrics) for metrics in torch_private.compilations() if metrics.fail_type
    }
    if not failed_places:
        return []

    barred = code_extras.list_barred_codes(dynamo_codes.list_met_codes())
    return [
        code
        for code, action in barred
        if action == "SKIP"
        and _read_place(code) in failed_places
        and not is_library(code.co_filename)
    ]


def _read_place(code) -> tuple[str, int, str]:
    """Return file, line and name of a code object, or of torch's metrics of one."""
    return code.co_filename, code.co_firstlineno, code.co_name


def find_reached(fn, given_up: list[CodeType]) -> list[CodeType]:
    """Return those of the given-up codes that a call of `fn` may run, by what its code names."""
    if not given_up:
        return []
    code_ids, names = _collect_reachable_codes(fn)
    return [
        code
        for code in given_up
        if id(dynamo_codes.find_original_code(code)) in code_ids or code.co_name in names
    ]


def _collect_reachable_codes(fn) -> tuple[set[int], set[str]]:
    """Return the ids of the codes that a function leads to, and all names in them.

    A depth-first search from `fn` over what a function names among its globals, what its closure
    contains, and the `forward` of each module.
    """
    import torch

    code_ids: set[int] = set()
    names: set[str] = set()
    waiting = [fn]
    # the functions are kept alive, so that no other object gets the id of one
    visited: dict[int, FunctionType] = {}

    while waiting and len(visited) < MOST_FUNCTIONS:
        function = _find_plain_function(waiting.pop())
        # `real_isinstance`, as a lazy module or a mock may answer for its `__class__`
        if real_isinstance(function, torch.nn.Module):
            waiting += [type(module).forward for module in function.modules()]
        if type(function) is not FunctionType or id(function) in visited:
            continue
        visited[id(function)] = function

        # a library's own functions are not followed, except the one to begin with
        if is_library(function.__code__.co_filename) and function is not fn:
            continue
        codes = _list_codes(function.__code__)
        used_names = {name for code in codes for name in code.co_names}
        code_ids.update(map(id, codes))
        names |= used_names
        waiting += _list_values_used(function, used_names)

    return code_ids, names


def _list_values_used(function: FunctionType, names: set[str]) -> list:
    """Return those of a function's globals that have these names, and what its closure contains."""
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # the cell is empty
            values.append(cell.cell_contents)
    return values


def _find_plain_function(value):
    """Return the function of a method, and the one inside what `torch.compile` made."""
    if type(value) is MethodType:
        value = value.__func__
    return compiled_functions.find_original(value)


def _list_codes(code: CodeType) -> list[CodeType]:
    """Return a code object, and all that are inside it at any depth."""
    codes = []
    waiting = [code]
    while waiting:
        outer = waiting.pop()
        codes.append(outer)
        waiting += [constant for constant in outer.co_consts if type(constant) is CodeType]
    return codes
