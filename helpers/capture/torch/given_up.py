"""A compiled function -> which code that it may call Dynamo has given up, and runs no more.

Torch's evaluator runs such code in plain Python and tells nobody. So whether a later call ran it is
not known. What a function may call is read from its code: the code inside it, and names.
"""

from contextlib import suppress
from types import CodeType, FunctionType, MethodType

from ...internals import code_extras, torch_private
from ...safety.arguments import real_isinstance
from ...safety.users_frames import is_library

MOST_FUNCTIONS = 300


def find_given_up() -> list[CodeType]:
    """Return the users' codes that Dynamo failed to compile, and skips since then.

    Torch tells of its latest compiles only.
    """
    failed = {_place(metrics) for metrics in torch_private.compilations() if metrics.fail_type}
    if not failed:
        return []
    barred = code_extras.barred(torch_private.codes_met())
    return [
        code
        for code, action in barred
        if action == "SKIP" and _place(code) in failed and not is_library(code.co_filename)
    ]


def _place(code) -> tuple:
    return code.co_filename, code.co_firstlineno, code.co_name


def find_reached(fn, given_up: list[CodeType]) -> list[CodeType]:
    """Return those of the codes that a call of `fn` may run, by what its code names."""
    codes, names = _follow(fn) if given_up else (set(), set())
    return [
        code
        for code in given_up
        if id(torch_private.resumed_from(code)) in codes or code.co_name in names
    ]


def _follow(fn) -> tuple[set[int], set[str]]:
    """Return the ids of the codes that a function leads to, and all names in them."""
    codes, names, waiting, met = set(), set(), [fn], {}
    while waiting and len(met) < MOST_FUNCTIONS:
        function = _open(waiting.pop())
        if real_isinstance(function, _module_type()):
            waiting += [type(module).forward for module in function.modules()]
        if type(function) is not FunctionType or id(function) in met:
            continue
        met[id(function)] = function
        if is_library(function.__code__.co_filename) and function is not fn:
            continue
        inside = _codes_inside(function.__code__)
        used = {name for code in inside for name in code.co_names}
        codes.update(map(id, inside))
        names |= used
        waiting += [function.__globals__[name] for name in used if name in function.__globals__]
        for cell in function.__closure__ or ():
            with suppress(ValueError):  # it is empty
                waiting.append(cell.cell_contents)
    return codes, names


def _open(value):
    """Return the function of a method, and the one inside what `torch.compile` made."""
    value = value.__func__ if type(value) is MethodType else value
    return torch_private.inner_function(value)


def _module_type() -> type:
    import torch

    return torch.nn.Module


def _codes_inside(code: CodeType) -> list[CodeType]:
    """Return a code object, and all inside it."""
    found, waiting = [], [code]
    while waiting:
        found.append(waiting.pop())
        waiting += [one for one in found[-1].co_consts if type(one) is CodeType]
    return found
